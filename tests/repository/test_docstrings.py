"""Public functions, classes and methods say what they do and which errors they raise.

Functions with three or more arguments name them, or say at length what they are about; numbers that
engines, theorems, the kernel and the calibration depend on say what they are.

Public is what can be reached from the index of the package or from the `__all__` of a room, and
every name without an underscore in the rooms that people import from. A function raises what its
own text raises, and what the private helpers of its module raise, or the checks of arguments in
`errors`: not what it calls in other rooms, which have docstrings themselves.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bayesdp

BEHIND_THEIR_DOORS = frozenset({"cli", "kernel", "programs"})
"""Rooms of which only `__all__` is public: the rest are steps of a checker or a command."""

MADE = ("__init__", "__post_init__")
"""How an instance is made: what these raise may be said in the docstring of the class."""


def public_names() -> dict[str, Any]:
    """What the index and the rooms offer, by where it is defined."""
    offered = [getattr(bayesdp, name) for name in dir(bayesdp) if not name.startswith("__")]
    for _, name, is_room in pkgutil.walk_packages(bayesdp.__path__, "bayesdp."):
        inside = name.split(".")[1] in BEHIND_THEIR_DOORS
        if name.rpartition(".")[2].startswith("_") or (inside and not is_room):
            continue
        module = importlib.import_module(name)
        if is_room:
            names = [*getattr(module, "__all__", ()), *getattr(module, "SURFACE", ())]
            offered += [getattr(module, offer) for offer in names]
        if not inside:
            offered += [item for key, item in vars(module).items() if not key.startswith("_")]
    named = {f"{item.__module__}.{item.__qualname__}": item for item in offered if own(item)}
    return {name: named[name] for name in sorted(named)}


def own(item: object) -> bool:
    """Whether it is a function or a class of the package."""
    module = getattr(item, "__module__", None) or ""
    return (inspect.isclass(item) or inspect.isfunction(item)) and module.startswith("bayesdp")


def functions_of(item: Any) -> Iterator[tuple[Any, str]]:
    """A function itself, or the methods of a class that are public or make an instance.

    Each with its docstring; to that of a method that makes an instance the class's is added.
    """
    if not inspect.isclass(item):
        yield item, item.__doc__ or ""
        return
    for base in filter(own, item.__mro__):
        for name, member in list(vars(base).items()):
            method = getattr(member, "fget", None) or getattr(member, "__func__", member)
            public = name in MADE or not name.startswith("_")
            if public and inspect.isfunction(method) and written_for(method, base, name):
                text = (base.__doc__ or "") if name in MADE else ""
                yield method, (method.__doc__ or "") + text


def written_for(method: Any, owner: type, name: str) -> bool:
    """Whether it stands in the text of the class: `dataclass` writes an `__init__` elsewhere."""
    own_name = method.__qualname__ == f"{owner.__qualname__}.{name}"
    return own_name and not method.__code__.co_filename.startswith("<")


@cache
def definitions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a module and the methods of its classes, by qualified name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    listed = [(node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    for row in classes:
        listed += [
            (f"{row.name}.{node.name}", node)
            for node in row.body
            if isinstance(node, ast.FunctionDef)
        ]
    return dict(listed)


def raised(module: str, name: str, seen: frozenset[str] = frozenset()) -> set[type]:
    """The errors of a function of a module, as far as the module and `errors` show them."""
    if name in seen or name not in definitions(module):
        return set()
    return within(definitions(module)[name].body, module, name, seen | {name})


def within(nodes: list[Any], module: str, name: str, seen: frozenset[str]) -> set[type]:
    """The errors of these statements and expressions; what a handler catches is none of them."""
    errors: set[type] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Try):
            caught = [kind for handler in node.handlers for kind in kinds(handler.type, module)]
            inside = within(node.body, module, name, seen)
            errors |= {error for error in inside if not issubclass(error, tuple(caught))}
            rest = [*node.handlers, *node.orelse, *node.finalbody]
            errors |= within(rest, module, name, seen)
            continue
        if isinstance(node, ast.Raise):
            errors |= set(kinds(node.exc, module))
        if isinstance(node, ast.Call):
            errors |= called(node.func, module, name, seen)
        errors |= within(list(ast.iter_child_nodes(node)), module, name, seen)
    return errors


def called(function: ast.expr, module: str, name: str, seen: frozenset[str]) -> set[type]:
    """The errors of a private helper of the module, or of a check in `errors`."""
    match function:
        case ast.Name(id=helper) if helper.startswith("_"):
            return raised(module, helper, seen)
        case ast.Name(id=helper):
            check = vars(sys.modules[module]).get(helper)
            if inspect.isfunction(check) and check.__module__ == "bayesdp.errors":
                return raised("bayesdp.errors", helper, seen)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=helper):
            if helper.startswith("_"):
                return raised(module, f"{name.partition('.')[0]}.{helper}", seen)
    return set()


def kinds(node: ast.expr | None, module: str) -> list[type]:
    """The classes of errors that an expression after `raise` or `except` names."""
    match node:
        case None:
            return []
        case ast.Tuple(elts=parts):
            return [kind for part in parts for kind in kinds(part, module)]
        case ast.Call(func=function):
            return kinds(function, module)
        case ast.Name(id=name):
            value = vars(sys.modules[module]).get(name, getattr(builtins, name, None))
            if inspect.isfunction(value):
                value = inspect.signature(value, eval_str=True).return_annotation
            if isinstance(value, tuple):  # a constant that several handlers share
                return [kind for kind in value if inspect.isclass(kind)]
            return [value] if inspect.isclass(value) and issubclass(value, BaseException) else []
    return []


def unsaid(module: str, qualified: str, text: str) -> list[str]:
    """The errors that a function raises and its docstring doesn't name."""
    errors = raised(module, qualified) - {AssertionError}
    return sorted(error.__name__ for error in errors if not said(error, text))


def said(error: type, text: str) -> bool:
    """Whether a docstring names an error, or a base of it that isn't Python's own."""
    names = [base.__name__ for base in error.__mro__ if base not in vars(builtins).values()]
    return any(f"`{name}`" in text for name in [*names, error.__name__])


RAISING = """
from __future__ import annotations

from bayesdp.errors import InputError, Refusal, UnsupportedError, finite_number


def itself(level):
    if level < 0:
        raise InputError("level", level, expected="0 or more")

def by_a_helper(level):
    return [_checked(part) for part in level]

def by_an_argument_check(level):
    return finite_number("level", level, expected="a number above 0")

def by_a_maker_of_errors(level):
    raise _refused(level)

def from_another_error(level):
    try:
        return _checked(level)
    except UnsupportedError as error:
        raise Refusal(str(error)) from None

def caught(level):
    try:
        return _checked(level)
    except (InputError, OSError):
        return None

def caught_too_narrowly(level):
    try:
        return _checked(level)
    except OSError:
        return None

def later(level):
    def inner():
        raise InputError("level", level, expected="never")
    return inner

class Level:
    def by_a_method(self):
        return self._by_itself()

    def _by_itself(self):
        self.by_a_method()
        raise UnsupportedError("level", 1, expected="none")

def _checked(level):
    raise UnsupportedError("level", level, expected="none")

def _refused(level) -> Refusal:
    return Refusal(str(level))
"""
ERRORS = {
    "itself": ["InputError"],
    "by_a_helper": ["UnsupportedError"],
    "by_an_argument_check": ["InputError"],
    "by_a_maker_of_errors": ["Refusal"],
    "from_another_error": ["Refusal"],
    "caught": [],
    "caught_too_narrowly": ["UnsupportedError"],
    "later": [],
    "Level.by_a_method": ["UnsupportedError"],
}


@pytest.fixture
def raising(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The module with the text `RAISING`."""
    (tmp_path / "raising_errors.py").write_text(RAISING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("raising_errors").__name__
    del sys.modules["raising_errors"]
    definitions.cache_clear()


def test_the_errors_of_a_function_are_found(raising: str) -> None:
    assert {name: unsaid(raising, name, "") for name in ERRORS} == ERRORS


def test_an_error_is_said_by_its_name_or_that_of_a_wider_error_of_the_package(raising: str) -> None:
    for text in ("Raises `UnsupportedError`.", "Raises `InputError` for others."):
        assert unsaid(raising, "by_a_helper", text) == []
    for text in ("Raises UnsupportedError.", "Raises `ValueError`.", "Raises `Refusal`."):
        assert unsaid(raising, "by_a_helper", text) == ["UnsupportedError"]


def test_what_is_public_says_what_it_does_and_which_errors_it_raises() -> None:
    missing = []
    for name, item in public_names().items():
        whole = item.__doc__ or ""
        if not whole or whole.startswith(f"{item.__name__}("):  # as `dataclass` writes it
            missing.append(f"{name} has no docstring")
        for function, text in functions_of(item):
            called = f"{function.__module__}.{function.__qualname__}"
            if not text:
                missing.append(f"{called} has no docstring")
            unnamed = unsaid(function.__module__, function.__qualname__, text)
            missing += [f"{called} raises {error} and doesn't say so" for error in unnamed]
    assert sorted(set(missing)) == []


def test_public_names_are_those_of_the_index_of_rooms_and_of_their_modules() -> None:
    public = public_names()
    for name in (
        "bayesdp.theorems.leakage",
        "bayesdp.theorems.best_bound",
        "bayesdp.leakage.profile.model.LawAndChannel",
        "bayesdp.programs.language_objects.program",
        "bayesdp.kernel.certificates.check",
    ):
        assert name in public, name
    assert not any("._" in name for name in public)


NAMED_FROM = 3
"""A function with so many arguments names some of them, or has a docstring of 200 letters."""
ROOMS_OF_NUMBERS = ("leakage", "theorems", "kernel", "calibration.py")
"""Rooms whose module constants say what they are, and which way they err."""


def unnamed(tree: ast.Module) -> list[str]:
    """The public functions of a module with many arguments and a short text that names none."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if not node.name.startswith("_") and vague(node)]


def vague(function: ast.FunctionDef) -> bool:
    """Whether its docstring is short and names none of its three or more arguments."""
    text = ast.get_docstring(function) or ""
    names = [item.arg for item in (*function.args.args, *function.args.kwonlyargs)]
    named = any(f"`{name}`" in text or f"`{name} " in text for name in names)
    return len(names) >= NAMED_FROM and not named and len(text) < 200


def silent_numbers(tree: ast.Module) -> list[str]:
    """The module constants that are numbers and have no docstring after them."""
    following: list[ast.stmt | None] = [*tree.body[1:], None]
    return [
        ast.unparse(node)
        for node, after in zip(tree.body, following, strict=True)
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_number(node.value)
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
    ]


def is_number(value: ast.expr | None) -> bool:
    """Whether an expression is a number that is written out, or a tuple of such numbers."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(elts=parts):
            return bool(parts) and all(map(is_number, parts))
        case ast.Name(id=name):
            return name == "UNIT"
        case ast.Call(func=ast.Name(id="Fraction"), args=parts):
            return all(map(is_number, parts))
    return False


def modules(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules of these rooms, or of all, by their paths inside of the package."""
    package = Path(inspect.getfile(bayesdp)).parent
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package)
        if not rooms or path.parts[0] in rooms:
            yield path.as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def test_functions_of_many_arguments_name_them() -> None:
    rooms = {path: tree for path, tree in modules() if path.split("/")[0] not in BEHIND_THEIR_DOORS}
    assert {path: unnamed(tree) for path, tree in rooms.items() if unnamed(tree)} == {}


def test_numbers_say_what_they_are() -> None:
    silent = {path: silent_numbers(tree) for path, tree in modules(*ROOMS_OF_NUMBERS)}
    assert {path: numbers for path, numbers in silent.items() if numbers} == {}


def test_the_last_two_tests_can_fail() -> None:
    text = 'def f(a, b, c):\n    """Short."""\n\ndef g(a, b):\n    """Short."""\n'
    assert unnamed(ast.parse(text)) == ["f"]
    assert unnamed(ast.parse(text.replace("Short", "Of `b`"))) == []
    numbers = 'A = 1\nB = -2.0**3\n"""Said."""\nC = Fraction(1, 2), 3\nD = True\nE = f(1)\n'
    assert silent_numbers(ast.parse(numbers)) == ["A = 1", "C = (Fraction(1, 2), 3)"]
