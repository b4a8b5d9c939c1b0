"""Reads a program's intermediate representation: untrusted JSON into nodes that have one meaning.

An expression is `[op, arguments, constants]`; a number is `{"number": "p/q"}`, so that no label
looks like one. Everything is bounded in size before anything is computed with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from bayesdp.kernel.arithmetic import UnknownError, require
from bayesdp.statements.base import is_shown
from bayesdp.statements.program import (
    ONE,
    SIZE,
    TRUE,
    Branch,
    Command,
    Constant,
    Derive,
    Parts,
    Release,
    columns_of,
    const,
    pieces,
)
from bayesdp.statements.program import Expr as Node

MOST_NODES = 200_000
MOST_DEPTH = 200
MOST_ENTRIES = 4096
MOST_COLUMNS = 1024
_NUMBER = re.compile(r"-?[0-9]{1,120}(/[0-9]{1,120})?")


_SHAPES: dict[str, tuple[int | None, int]] = {
    "const": (0, 1), "field": (0, 1), "public": (0, 1), "acc": (0, 0),
    "add": (2, 0), "sub": (2, 0), "mul": (2, 0), "div": (2, 0), "neg": (1, 0), "abs": (1, 0),
    "min": (None, 0), "max": (None, 0), "clip": (3, 0), "lt": (2, 0), "le": (2, 0), "gt": (2, 0),
    "ge": (2, 0), "eq": (2, 0), "ne": (2, 0), "and": (None, 0), "or": (None, 0), "not": (1, 0),
    "if": (3, 0), "onehot": (1, 1), "cross": (None, 0), "tuple": (None, 0), "item": (1, 1),
    "moments": (1, 0), "data": (2, 1), "sum": (1, 0), "count": (1, 0), "fold": (2, 1),
    "observe": (3, 0), "nothing": (0, 0), "likelihood": (None, 1), "prior": (None, 1),
    "posterior": (1, 0), "hellinger": (1, 0), "score": (1, 1), "row-score": (1, 1),
    "posteriors-of": (2, 0), "grid-of": (2, 1), "linspace": (3, 0), "range": (3, 0),
    "values": (None, 0), "plug-in": (None, 0), "noise-aware": (None, 0), "nuts": (None, 1),
}  # fmt: skip
"""How many arguments (None: any) and constants an operation has."""


def number(raw: object, what: str = "a number") -> Fraction:
    """A text "p" or "p/q" in lowest terms. No exponents: a short text would be a huge number."""
    require(isinstance(raw, str) and bool(_NUMBER.fullmatch(raw)), f"{what}: no fraction")
    top, _, under = str(raw).partition("/")
    require(under == "" or int(under) > 0, f"{what}: divided by 0")
    found = Fraction(int(top), int(under or 1))
    require(str(found) == raw, f"{what}: {raw} is not in lowest terms")
    return found


def text(raw: object, what: str) -> str:
    """A text."""
    require(isinstance(raw, str) and len(str(raw)) <= 10_000, f"{what} is no text")
    return str(raw)


def line(raw: object, what: str) -> str:
    """A text of one line, in letters that are shown as they stand."""
    told = text(raw, what)
    require(is_shown(told), f"{what}: a letter that isn't shown as it stands")
    return told


def keys(raw: object, names: frozenset[str], what: str) -> Mapping[str, Any]:
    """An object with exactly these keys."""
    require(isinstance(raw, Mapping) and set(raw) == names, f"{what}: other keys than known")
    assert isinstance(raw, Mapping)
    return raw


def items(raw: object, what: str) -> list[Any]:
    """A list."""
    require(isinstance(raw, list), f"{what} is no list")
    assert isinstance(raw, list)
    return raw


class Reader:
    """Reads expressions, counting how many nodes a document has."""

    def __init__(self) -> None:
        self.left = MOST_NODES

    def node(self, raw: object, depth: int = 0) -> Node:
        """An expression."""
        self.left -= 1
        if self.left < 0 or depth > MOST_DEPTH:
            raise UnknownError("the program is too large or nested too deeply", "program")
        parts = items(raw, "an expression")
        require(len(parts) == 3, "an expression has an operation, arguments and constants")
        op = text(parts[0], "an operation")
        if op not in _SHAPES:
            raise UnknownError(f"no rule for the operation {op!r}", "program")
        args, data = items(parts[1], op), items(parts[2], op)
        many, constants = _SHAPES[op]
        fits = len(args) == many if many is not None else True
        require(fits and len(data) == constants, f"'{op}' has other arguments")
        require(many is not None or bool(args) or op in ("likelihood", "prior"), f"'{op}' of none")
        found = Node(
            op,
            tuple(self.node(one, depth + 1) for one in args),
            tuple(_constant(one, 0) for one in data),
        )
        _check_constants(found)
        return found


def _constant(raw: object, depth: int) -> Constant:
    require(depth < 4, "constants are nested")
    if isinstance(raw, Mapping):
        return number(keys(raw, frozenset({"number"}), "a constant")["number"])
    if isinstance(raw, list):
        return tuple(_constant(one, depth + 1) for one in raw)
    require(raw is None or isinstance(raw, bool | str), "no constant")
    assert raw is None or isinstance(raw, bool | str)
    return raw


def _check_constants(node: Node) -> None:
    if not node.data:
        return
    op, value = node.op, node.data[0]
    if op == "const":
        require(isinstance(value, bool | Fraction | str), "a literal of no kind")
    elif op in ("onehot", "item", "nuts"):
        whole_number = isinstance(value, Fraction) and value.denominator == 1
        require(whole_number and not isinstance(value, bool), f"'{op}' needs a whole number")
        assert isinstance(value, Fraction)
        top = 10**6 if op == "nuts" else MOST_ENTRIES
        if value > top:
            raise UnknownError(f"'{op}' of {value} entries", "program")
        require(value >= (0 if op == "item" else 1), f"'{op}' of {value}")
    elif op == "data":
        require(isinstance(value, tuple) and all(_is_piece(one) for one in value), "pieces")
    elif op == "fold":
        require(isinstance(value, Fraction), "a fold starts from a number")
    else:
        require(isinstance(value, str), f"'{op}' names nothing")


def _is_piece(value: Constant) -> bool:
    return (
        isinstance(value, tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)
    )


# -- programs ------------------------------------------------------------------------------


class Values(Protocol):
    """What a column may hold; a front end's own types will do."""

    @property
    def kind(self) -> str:
        """bool, int, real or category."""
        raise NotImplementedError

    @property
    def low(self) -> Fraction | None:
        """The lower end."""
        raise NotImplementedError

    @property
    def high(self) -> Fraction | None:
        """The upper end."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a category."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the record. Labels of a Bool are False and True."""

    kind: str
    low: Fraction
    high: Fraction
    labels: tuple[str, ...]
    public: bool


def flat(commands: Sequence[Command]) -> Iterator[Release | Derive]:
    """All releases and derived values, inside branches and parts too."""
    for one in commands:
        if isinstance(one, Branch):
            for side in one.sides:
                yield from flat(side)
        elif isinstance(one, Parts):
            for _, part in one.parts:
                yield from flat(part)
        else:
            yield one


@dataclass(frozen=True, slots=True)
class Program:
    """What costs are derived from."""

    adjacency: str
    columns: Mapping[str, Column]
    requires: tuple[Node, ...]
    body: tuple[Command, ...]
    returns: tuple[Node, ...]
    epsilon: Fraction | None
    delta: Fraction | None
    source: str
    name: str
    parameters: Mapping[str, Constant]
    return_types: tuple[str, ...]

    @property
    def public(self) -> frozenset[str]:
        """The columns that a neighbouring database shares."""
        if self.adjacency != "replace-one":
            return frozenset()
        return frozenset(name for name, one in self.columns.items() if one.public)


RETURNED = frozenset(
    {"Beta", "Dirichlet", "Normal", "Gamma", "Samples", "Bool", "Int", "Real", "Category"}
    | {"Vector", "Matrix"}
)
"""What a program may say that it returns."""

_PROGRAM = frozenset(
    {"name", "adjacency", "record", "scalar", "parameters", "requires", "body", "returns"}
    | {"return_types", "declared", "source"}
)


def read_program(raw: object) -> Program:
    """The program; `InvalidError` or `UnknownError` where it is none."""
    found, reader = keys(raw, _PROGRAM, "program"), Reader()
    require(found["adjacency"] in ("replace-one", "add-remove"), "no adjacency")
    columns: dict[str, Column] = {}
    for name, kind in (_pair(one) for one in items(found["record"], "record")):
        require(name not in columns and len(columns) < MOST_COLUMNS, f"column {name!r}")
        columns[name] = _column(kind)
    single = found["scalar"] is True and list(columns) == [""]
    several = found["scalar"] is False and bool(columns) and "" not in columns
    require(single or several, "record")
    fixed = [_parameter(one) for one in items(found["parameters"], "parameters")]
    require(len(dict(fixed)) == len(fixed), "a parameter twice", "parameters")
    declared = items(found["declared"], "declared")
    require(len(declared) == 2, "declared: epsilon and delta")
    epsilon, delta = (_budget(one) for one in declared)
    types = items(found["return_types"], "return_types")
    returns = [reader.node(one) for one in items(found["returns"], "returns")]
    require(len(types) == len(returns) and set(types) <= RETURNED, "return_types")
    return Program(
        found["adjacency"],
        columns,
        tuple(reader.node(one) for one in items(found["requires"], "requires")),
        _commands(found["body"], reader, 0),
        tuple(returns),
        epsilon,
        delta,
        text(found["source"], "source"),
        line(found["name"], "name"),
        dict(fixed),
        tuple(types),
    )


def _budget(raw: object) -> Fraction | None:
    if raw is None:
        return None
    return number(keys(raw, frozenset({"number"}), "declared")["number"], "declared")


def _pair(raw: object) -> tuple[str, Any]:
    require(isinstance(raw, list) and len(raw) == 2, "no pair")
    assert isinstance(raw, list)
    return line(raw[0], "a name"), raw[1]


def _column(raw: object) -> Column:
    found = keys(raw, frozenset({"kind", "low", "high", "labels", "public"}), "a type")
    kind, public = found["kind"], found["public"]
    require(isinstance(public, bool), "public or not")
    labels = tuple(line(one, "a label") for one in items(found["labels"], "labels"))
    low, high = (_constant(found[end], 0) for end in ("low", "high"))
    if kind == "bool":
        require(not labels, "a Bool has no labels")
        require(_exactly(low, 0) and _exactly(high, 1), "the bounds of a Bool are 0 and 1")
        return Column("bool", Fraction(0), Fraction(1), ("False", "True"), public)
    if kind == "category":
        fits = 1 <= len(labels) <= MOST_ENTRIES and len(set(labels)) == len(labels)
        require(fits and "" not in labels, "labels are not different texts")
        counted = _exactly(low, 0) and _exactly(high, len(labels) - 1)
        require(counted, "the bounds of a Category count its labels")
        return Column("category", Fraction(0), Fraction(len(labels) - 1), labels, public)
    require(kind in ("int", "real") and not labels, "no type of a column")
    require(isinstance(low, Fraction) and isinstance(high, Fraction), "a column without bounds")
    assert isinstance(low, Fraction)
    assert isinstance(high, Fraction)
    require(low <= high, "bounds in the wrong order")
    require(kind == "real" or low.denominator == high.denominator == 1, "bounds of an Int")
    return Column(str(kind), low, high, (), public)


def _exactly(value: Constant, due: int) -> bool:
    return isinstance(value, Fraction) and value == due


def _parameter(raw: object) -> tuple[str, Constant]:
    """A public parameter: its name, its type and the value that it was fixed to."""
    require(isinstance(raw, list) and len(raw) == 3, "a parameter")
    assert isinstance(raw, list)
    name, kind, value = text(raw[0], "a parameter"), _column(raw[1]), _constant(raw[2], 0)
    require(name.isidentifier(), f"{name!r} is no name of a parameter", "parameters")
    require(kind.public, f"{name} is not public", "parameters")
    require(_of_type(value, kind), f"the value of {name} is not of its type", "parameters")
    return name, value


def _of_type(value: Constant, kind: Column) -> bool:
    if kind.kind == "bool":
        return isinstance(value, bool)
    if kind.kind == "category":
        return value in kind.labels
    inside = isinstance(value, Fraction) and kind.low <= value <= kind.high
    return inside and (kind.kind == "real" or getattr(value, "denominator", 0) == 1)


def _commands(raw: object, reader: Reader, depth: int) -> tuple[Command, ...]:
    if depth > MOST_DEPTH // 4:
        raise UnknownError("the program is nested too deeply", "program")
    return tuple(_command(one, reader, depth + 1) for one in items(raw, "commands"))


def _command(raw: object, reader: Reader, depth: int) -> Command:
    require(isinstance(raw, Mapping), "a command")
    assert isinstance(raw, Mapping)
    if "release" in raw:
        found = keys(raw, frozenset({"release", "op", "args", "options"}), "a release")
        options = found["options"]
        require(isinstance(options, Mapping), "options")
        return Release(
            line(found["release"], "a name"),
            text(found["op"], "a release"),
            tuple(reader.node(one) for one in items(found["args"], "args")),
            tuple((text(name, "option"), reader.node(one)) for name, one in options.items()),
        )
    if "derive" in raw:
        found = keys(raw, frozenset({"derive", "value"}), "a derived value")
        return Derive(line(found["derive"], "a name"), reader.node(found["value"]))
    if "if" in raw:
        found = keys(raw, frozenset({"if", "then", "else"}), "a branch")
        then, otherwise = (_commands(found[side], reader, depth) for side in ("then", "else"))
        return Branch(reader.node(found["if"]), then, otherwise)
    found = keys(raw, frozenset({"parts", "public", "of"}), "a partition")
    require(isinstance(found["public"], bool), "public or not")
    parts = [_pair(one) for one in items(found["of"], "parts")]
    return Parts(
        line(found["parts"], "a column"),
        found["public"],
        tuple((label, _commands(part, reader, depth)) for label, part in parts),
    )


__all__ = [
    "ONE",
    "RETURNED",
    "SIZE",
    "TRUE",
    "Branch",
    "Column",
    "Command",
    "Constant",
    "Derive",
    "Node",
    "Parts",
    "Program",
    "Reader",
    "Release",
    "Values",
    "columns_of",
    "const",
    "flat",
    "items",
    "keys",
    "line",
    "number",
    "pieces",
    "read_program",
    "text",
]
