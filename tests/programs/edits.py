"""The package with one line of a rule changed: in place, so that whatever was imported is changed.

The functions of a module keep their names and places and get the changed code; constants that come
out otherwise are replaced wherever they were imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

PACKAGE = "bayesdp"
MOST_NESTED = 3
"""How deep functions are looked for: a method's in a class, behind its decorator."""
_SKIPPED = (FunctionType, ModuleType, type)


class Edit(NamedTuple):
    """`old` stands once in all files of a room, and is wrong as `new`.

    `room` is its name below the package; so a rule may move to another file. `probe` is a test
    that passes, and fails by an assertion with the change.
    """

    room: str
    old: str
    new: str
    probe: Callable[[], object]

    @property
    def places(self) -> list[str]:
        """The modules that have it, once for each time."""
        texts = _texts(f"{PACKAGE}.{self.room}")
        return [name for name, text in texts.items() for _ in range(text.count(self.old))]


@cache
def _texts(room: str) -> dict[str, str]:
    """The texts of all modules of a room, or of one module."""
    names = [room]
    package = importlib.import_module(room)
    if hasattr(package, "__path__"):
        names += [each.name for each in pkgutil.walk_packages(package.__path__, f"{room}.")]
    return {name: Path(_file(name)).read_text(encoding="utf-8") for name in names}


def _file(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


@contextmanager
def edited(edit: Edit) -> Iterator[None]:
    """Inside, the package has this change."""
    (name,) = edit.places
    module, text = importlib.import_module(name), _texts(f"{PACKAGE}.{edit.room}")[name]
    old, new = (
        compile(part, _file(name), "exec", dont_inherit=True)
        for part in (text, text.replace(edit.old, edit.new))
    )
    functions, constants = _functions(old, new, name), _constants(old, new, module)
    assert functions or constants, edit
    try:
        for function, (_, changed) in functions.items():
            function.__code__ = changed
        for holder, name, _, changed_value in constants:
            setattr(holder, name, changed_value)
        _forget()
        yield
    finally:
        for function, (kept, _) in functions.items():
            function.__code__ = kept
        for holder, name, kept_value, _ in constants:
            setattr(holder, name, kept_value)
        _forget()


def _functions(
    old: CodeType, new: CodeType, name: str
) -> dict[FunctionType, tuple[CodeType, CodeType]]:
    """The functions of the module whose code is another one, with both."""
    pairs = [(before, after) for before, after in _pairs(old, new) if before != after]
    changed = {}
    for item in _inside(vars(sys.modules[name]).values()):
        for before, after in pairs:
            if item.__module__ == name and item.__code__ == before:
                changed[item] = item.__code__, after
    return changed


def _inside(values: Iterable[Any], depth: int = 0) -> Iterator[FunctionType]:
    """Functions: those of tables and classes too, and what a decorator has wrapped."""
    for value in values:
        if isinstance(value, FunctionType):
            yield value
        if depth == MOST_NESTED:
            continue
        parts = [getattr(value, name, None) for name in ("__wrapped__", "__func__", "func", "fget")]
        if isinstance(value, type) and value.__module__.partition(".")[0] == PACKAGE:
            parts += vars(value).values()
        if isinstance(value, Mapping):
            parts += value.values()
        yield from _inside([part for part in parts if part is not None], depth + 1)


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of each function in both, the inner ones too."""
    inside = (
        [part for part in code.co_consts if isinstance(part, CodeType)] for code in (old, new)
    )
    for before, after in zip(*inside, strict=True):
        assert before.co_qualname == after.co_qualname
        yield before, after
        yield from _pairs(before, after)


def _constants(
    old: CodeType, new: CodeType, module: ModuleType
) -> list[tuple[ModuleType, str, Any, Any]]:
    """Where constants that come out otherwise stand: module and name, both values."""
    before, after = (_run(code, module) for code in (old, new))
    changed: list[tuple[ModuleType, str, Any, Any]] = []
    for name, value in after.items():
        plain = not name.startswith("__") and not isinstance(value, _SKIPPED)
        if not plain or repr(value) == repr(before.get(name)):
            continue
        held = module.__dict__[name]
        for other in list(sys.modules.values()):
            if getattr(other, "__name__", "").partition(".")[0] == PACKAGE:
                places = [known for known, it in vars(other).items() if it is held]
                changed += [(other, known, held, value) for known in places]
    return changed


def _run(code: CodeType, module: ModuleType) -> dict[str, Any]:
    names = {key: vars(module)[key] for key in ("__name__", "__package__", "__file__")}
    exec(code, names)
    return names


def _forget() -> None:
    """Nothing that was computed before is looked up."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            for item in list(vars(module).values()):
                clear = getattr(item, "cache_clear", None)
                if callable(clear):
                    clear()
    sys.modules[f"{PACKAGE}.kernel.reading"]._READ.clear()
