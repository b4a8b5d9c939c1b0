"""Mutants of the kernel's rules: every place where a check, a bound or a sum can be made wrong.

They are changes of the syntax tree, found anew in whatever modules the kernel has, so that moving
code changes none of them. `kernel/programs` has mutants of its own, in `tests/programs/mutants.py`;
checks there that are lost are asked for by `test_construct_mutants`.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

PACKAGE = "bayesdp.kernel"
OF_PROGRAMS = f"{PACKAGE}.programs"
HARMLESS_CALLS = frozenset(
    {"watched", "append", "add", "update", "extend", "remove", "setdefault", "reset", "__init__"}
)
"""Calls that only take note of something: losing one is not losing a check."""
CHECKS = frozenset({"require", "agree", "at_least", "follows"})
"""Calls that refuse or do nothing, beside those whose names begin with `check`."""
TURNED = {"min": "max", "max": "min", "any": "all", "all": "any", "upper": "lower"}
ORDERED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
SUMS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: `number` tells apart those of the same words in the same function."""

    module: str
    function: str
    kind: str
    change: str
    number: int

    @property
    def name(self) -> str:
        """Function and change, which stay when code moves to another file.

        A rule is named too: all rules call their bounds alike.
        """
        again = f" ({self.number + 1})" if self.number else ""
        _, inside, rule = self.module.rpartition(".rules.")
        return f"{rule if inside else ''} {self.function}: {self.change}{again}".lstrip()

    @property
    def of_module(self) -> bool:
        """Whether it is run when its module is loaded: a constant, a table or a class."""
        last = self.function.rpartition(".")[2].lstrip("_")
        return not last or last[0].isupper()


class Lines(NamedTuple):
    """Where in a file the change is."""

    file: str
    first: int
    last: int


def modules() -> list[str]:
    """Every module of the kernel, whether it has mutants here or not."""
    package = importlib.import_module(PACKAGE)
    inside = pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")
    return [PACKAGE, *(module.name for module in inside)]


def _file(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


@cache
def _files() -> dict[str, str]:
    return {name: _file(name) for name in modules()}


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(Path(_files()[name]).read_text(encoding="utf-8"))


@cache
def _code(name: str) -> CodeType:
    return compile(_tree(name), _files()[name], "exec", dont_inherit=True)


# -- what can be changed -----------------------------------------------------------------------


class _Place(NamedTuple):
    """A node, what takes its place, and the words for it."""

    node: ast.AST
    new: ast.AST
    kind: str
    change: str


def _words(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 120 else f"{text[:117]}..."


def _unworded(node: ast.AST) -> str:
    """A check without its messages: other words in them make no other mutant."""
    if isinstance(node, ast.Raise):
        return f"raise {_unworded(node.exc)}" if node.exc is not None else "raise"
    if not isinstance(node, ast.Call):
        return _words(node)
    conditions = [part for part in node.args if not _is_message(part)]
    return _words(ast.Call(node.func, conditions, node.keywords))


def _is_message(node: ast.AST) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, ast.JoinedStr)


def _changes(node: ast.AST) -> Iterator[_Place]:
    """The changes of this node alone."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name not in HARMLESS_CALLS:
            kind = "dropped" if _is_check(name) else "lost"
            yield _Place(node, ast.Pass(), kind, f"without {_unworded(node.value)}")
    elif isinstance(node, ast.Raise):
        yield _Place(node, ast.Pass(), "dropped", f"without {_unworded(node)}")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        shifted = ORDERED.get(type(node.ops[0]))
        if shifted is not None:
            new = ast.Compare(node.left, [shifted()], node.comparators)
            yield _Place(node, new, "shifted", f"{_words(new)} for {_words(node)}")
    elif isinstance(node, ast.Compare):
        for place, comparison in enumerate(node.ops):
            if type(comparison) in ORDERED:
                ops = [*node.ops[:place], ORDERED[type(comparison)](), *node.ops[place + 1 :]]
                new = ast.Compare(node.left, ops, node.comparators)
                yield _Place(node, new, "shifted", f"{_words(new)} for {_words(node)}")
    elif isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            rest = [value for number, value in enumerate(node.values) if number != place]
            new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            yield _Place(node, new, "part", f"{_words(new)} for {_words(node)}")
    elif isinstance(node, ast.Name) and node.id in TURNED and isinstance(node.ctx, ast.Load):
        yield _Place(node, ast.Name(TURNED[node.id], ast.Load()), "turned", "")
    elif isinstance(node, ast.Attribute) and node.attr in ("min", "max", "upper"):
        new_attribute = ast.Attribute(node.value, TURNED[node.attr], ast.Load())
        yield _Place(node, new_attribute, "turned", f"{_words(new_attribute)}")
    elif isinstance(node, ast.BinOp) and type(node.op) in SUMS and not _is_text(node):
        new_sum = ast.BinOp(node.left, SUMS[type(node.op)](), node.right)
        yield _Place(node, new_sum, "sum", f"{_words(new_sum)} for {_words(node)}")
    elif isinstance(node, ast.If | ast.IfExp):
        for value in (True, False):
            parts = {field: part for field, part in ast.iter_fields(node)}
            new_if = type(node)(**parts | {"test": ast.Constant(value)})
            yield _Place(node, new_if, "branch", f"{value} for {_words(node.test)}")
    elif isinstance(node, ast.For | ast.comprehension):
        parts = {field: part for field, part in ast.iter_fields(node)}
        shorter = ast.parse(f"list({ast.unparse(node.iter)})[:-1]", mode="eval").body
        new_loop = type(node)(**parts | {"iter": shorter})
        yield _Place(node, new_loop, "loop", f"without the last of {_words(node.iter)}")
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield _Place(node, ast.Constant(node.value + 1), "constant", f"{node.value + 1}")
        yield _Place(node, ast.Constant(node.value - 1), "less", f"{node.value - 1}")
        if node.value > 1:
            yield _Place(node, ast.Constant(node.value * 2), "doubled", f"{node.value * 2}")


def _is_check(name: str) -> bool:
    return name in CHECKS or name.lstrip("_").startswith("check")


def _is_text(node: ast.BinOp) -> bool:
    ends = (node.left, node.right)
    return any(
        isinstance(end, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)
        or (isinstance(end, ast.Constant) and isinstance(end.value, str))
        for end in ends
    )


def _places(tree: ast.Module) -> Iterator[tuple[str, _Place]]:
    """Each change with the function that it is in; annotations have none."""

    def inside(node: ast.AST, function: str, around: str) -> Iterator[tuple[str, _Place]]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "bases", "keywords_"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if not isinstance(part, ast.AST):
                    continue
                for place in _changes(part):
                    words = place.change
                    if place.kind in ("turned", "constant"):
                        words = f"{_words(place.new)} in {around}"
                    elif place.kind in ("less", "doubled"):
                        words = f"{_words(place.new)} for {_words(part)} in {around}"
                    yield function, place._replace(change=words)
                here = around
                if isinstance(part, ast.Call | ast.BinOp | ast.Compare | ast.Subscript):
                    here = _words(part)
                name = function
                if isinstance(part, ast.FunctionDef | ast.ClassDef):
                    name = f"{function}.{part.name}".lstrip(".")
                yield from inside(part, name, here)

    return inside(tree, "", "")


@cache
def _of_module(name: str) -> dict[Mutant, _Place]:
    count: dict[tuple[str, str], int] = {}
    actual: dict[Mutant, _Place] = {}
    for function, place in _places(_tree(name)):
        key = function, place.change
        number = count[key] = count.get(key, -1) + 1
        actual[Mutant(name, function, place.kind, place.change, number)] = place
    return actual


def place_of(mutant: Mutant) -> Lines:
    """The file, as its code names it, and the lines of what is changed."""
    node: Any = _of_module(mutant.module)[mutant].node
    node = getattr(node, "iter", node)  # a loop is changed where it begins
    node = getattr(node, "test", node)  # and a branch where it is decided
    return Lines(_files()[mutant.module], node.lineno, node.end_lineno)


def mutants() -> list[Mutant]:
    """All of them, module by module."""
    names = [name for name in modules() if not name.startswith(OF_PROGRAMS)]
    return [mutant for name in names for mutant in _of_module(name)]


def mutants_of_programs() -> list[Mutant]:
    """Those of `kernel/programs`, module by module."""
    names = [name for name in modules() if name.startswith(OF_PROGRAMS)]
    return [mutant for name in names for mutant in _of_module(name)]


# -- the kernel with one of them ---------------------------------------------------------------


class _Replaced(ast.NodeTransformer):
    """The tree with one node replaced, copied only where it differs."""

    def __init__(self, place: _Place) -> None:
        self.place = place

    def visit(self, node: ast.AST) -> Any:
        if node is self.place.node:
            return ast.copy_location(self.place.new, node)
        changed = {}
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                new: Any = self.visit(value)
            elif isinstance(value, list):
                new = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
                new = value if all(map(_is, new, value)) else new
            else:
                continue
            if new is not value:
                changed[field] = new
        if not changed:
            return node
        copied = type(node)(**dict(ast.iter_fields(node)) | changed)
        return ast.copy_location(copied, node)


def _is(item: object, other: object) -> bool:
    return item is other


def _mutated_code(mutant: Mutant) -> CodeType:
    tree = _Replaced(_of_module(mutant.module)[mutant]).visit(_tree(mutant.module))
    fixed = ast.fix_missing_locations(tree)
    return compile(fixed, _files()[mutant.module], "exec", dont_inherit=True)


Function = tuple[str, str]
"""A file of the kernel, and a function in it, or a method with its class."""
ENTERED: set[Function] = set()
"""What a kernel that takes note has entered."""


def _noting_code(name: str) -> CodeType:
    """The module, each function of which says that it is entered."""
    tree = ast.parse(Path(_files()[name]).read_text(encoding="utf-8"))

    def note(node: ast.AST, function: str) -> None:
        for part in ast.iter_child_nodes(node):
            inside = function
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                inside = f"{function}.{part.name}".lstrip(".")
            note(part, inside)
            if isinstance(part, ast.FunctionDef):
                entered = f"__import__({__name__!r}, fromlist=['']).ENTERED"
                (said,) = ast.parse(f"{entered}.add(({_files()[name]!r}, {inside!r}))").body
                part.body.insert(0, ast.copy_location(said, part.body[0]))

    note(tree, "")
    return compile(ast.fix_missing_locations(tree), _files()[name], "exec", dont_inherit=True)


class _Loader(SourceFileLoader):
    """Modules from code that is compiled already, and one of them from its mutant."""

    mutant: Mutant | None = None
    noting = False

    def get_code(self, fullname: str) -> CodeType:
        if self.mutant is not None and fullname == self.mutant.module:
            return _mutated_code(self.mutant)
        return _noting_code(fullname) if self.noting else _code(fullname)


class _Finder:
    """Finds the kernel's modules, before anything else does."""

    def __init__(self, mutant: Mutant | None, noting: bool) -> None:
        self.mutant, self.noting = mutant, noting

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _files():
            return None
        loader = _Loader(name, _files()[name])
        loader.mutant, loader.noting = self.mutant, self.noting
        inside = [str(Path(loader.path).parent)] if loader.is_package(name) else None
        return spec_from_file_location(
            name, loader.path, loader=loader, submodule_search_locations=inside
        )


@contextmanager
def mutated(mutant: Mutant | None, *, noting: bool = False) -> Iterator[Any]:
    """A kernel of its own, with this mutant in it (or none): every import within finds it.

    One that is `noting` puts the functions that it enters into `ENTERED`.
    """
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name in _files()}
    finder: Any = _Finder(mutant, noting)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module(PACKAGE)
    finally:
        sys.meta_path.remove(finder)
        for name in _files():
            sys.modules.pop(name, None)
        sys.modules.update(kept)
        package, _, last = PACKAGE.rpartition(".")
        if PACKAGE in kept:
            setattr(sys.modules[package], last, kept[PACKAGE])
