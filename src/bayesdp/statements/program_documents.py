"""Programs as certificates state them: the record, the parameters and every command.

An expression is `[op, arguments, constants]`; a number in it is `{"number": "p/q"}`, so that no
label looks like one. Everything is bounded in size before anything is computed with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainValidator,
    StrictBool,
    StrictInt,
    Tag,
    model_validator,
)

from bayesdp.statements.base import (
    Line,
    NotKnownError,
    Reader,
    Sequence,
    Statement,
    distinct,
    one_form,
    visible,
)
from bayesdp.statements.program import (
    Branch,
    Command,
    Constant,
    Derive,
    Expr,
    Parts,
    Release,
    RowFold,
    flat,
)

MOST_NODES = 200_000
MOST_DEPTH = 200
MOST_NESTED = 50
MOST_ENTRIES = 4096
MOST_COLUMNS = 1024
MOST_ROWS = 1_000_000
"""The most rows of a record that count."""
_NUMBER = re.compile(r"-?[0-9]{1,120}(/[0-9]{1,120})?")

_SHAPES: dict[str, tuple[int | None, int]] = {
    "const": (0, 1), "field": (0, 1), "public": (0, 1), "acc": (0, 0),
    "add": (2, 0), "sub": (2, 0), "mul": (2, 0), "div": (2, 0), "neg": (1, 0), "abs": (1, 0),
    "floor": (1, 0), "sqrt": (1, 0), "log": (1, 0), "exp": (1, 0), "lgamma": (1, 0),
    "summary": (1, 3),
    "min": (None, 0), "max": (None, 0), "clip": (3, 0), "lt": (2, 0), "le": (2, 0), "gt": (2, 0),
    "ge": (2, 0), "eq": (2, 0), "ne": (2, 0), "and": (None, 0), "or": (None, 0), "not": (1, 0),
    "if": (3, 0), "onehot": (1, 1), "cross": (None, 0), "tuple": (None, 0), "item": (1, 1),
    "moments": (1, 0), "data": (2, 1), "sum": (1, 0), "count": (1, 0), "fold": (2, 1),
    "transitions": (None, 0),
    "observe": (3, 0), "nothing": (0, 0), "likelihood": (None, 1), "prior": (None, 1),
    "posterior": (1, 0), "hellinger": (1, 0), "score": (1, 1), "row-score": (1, 1),
    "posteriors-of": (2, 0), "grid-of": (2, 1), "linspace": (3, 0), "range": (3, 0),
    "values": (None, 0), "plug-in": (None, 0), "noise-aware": (None, 0), "nuts": (None, 1),
    "law": (1, 0), "draws": (1, 1), "predictive": (1, 1),
}  # fmt: skip
"""How many arguments (None: any) and constants an operation has."""
_DRAWN = ("nuts", "draws", "predictive")


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


# -- numbers and expressions ---------------------------------------------------------------------


def exact_number(plain: object) -> Fraction:
    """The number of a text "p" or "p/q" in lowest terms. Raises `ValueError` for any other text.

    Exponents are refused: a short text would be a huge number.
    """
    if not (isinstance(plain, str) and _NUMBER.fullmatch(plain)):
        raise ValueError("not a fraction: 'p' or 'p/q' in lowest terms")
    top, _, under = plain.partition("/")
    _require(under == "" or int(under) > 0, "divided by 0")
    number = Fraction(int(top), int(under or 1))
    _require(str(number) == plain, f"{plain} is not in lowest terms")
    return number


def _numbered(plain: object) -> Fraction:
    _require(isinstance(plain, Mapping) and set(plain) == {"number"}, "no constant")
    assert isinstance(plain, Mapping)
    return exact_number(plain["number"])


def _constant(plain: object, depth: int = 0) -> Constant:
    _require(depth < 4, "constants are nested")
    if isinstance(plain, Mapping):
        return _numbered(plain)
    if isinstance(plain, list):
        return tuple(_constant(part, depth + 1) for part in plain)
    if isinstance(plain, str):
        return visible(plain)
    if plain is None or isinstance(plain, bool):
        return plain
    raise ValueError("not a constant: a number, a text, a truth value, null or a list of these")


class _Nodes:
    """Reads one expression, and counts its nodes."""

    def __init__(self) -> None:
        self.left = MOST_NODES

    def node(self, plain: object, depth: int = 0) -> Expr:
        self.left -= 1
        if self.left < 0 or depth > MOST_DEPTH:
            raise NotKnownError("program", "the program is too large or nested too deeply")
        if not (isinstance(plain, list) and len(plain) == 3):
            raise ValueError("an expression has an operation, arguments and constants")
        op, args, data = plain
        _require(isinstance(op, str), "an operation is a text")
        if op not in _SHAPES:
            raise NotKnownError("program", f"no rule for the operation {visible(op)!r}")
        many, constants = _SHAPES[op]
        listed = isinstance(args, list) and isinstance(data, list)
        fits = listed and many in (None, len(args)) and len(data) == constants
        _require(fits, f"'{op}' has other arguments")
        _require(many is not None or bool(args) or op in ("likelihood", "prior"), f"'{op}' of none")
        node = Expr(
            op,
            tuple(self.node(part, depth + 1) for part in args),
            tuple(_constant(part) for part in data),
        )
        _check_constants(node)
        return node


def _check_constants(node: Expr) -> None:
    if not node.data:
        return
    op, value = node.op, node.data[0]
    if op == "const":
        _require(isinstance(value, bool | Fraction | str), "a literal of no kind")
    elif op in ("onehot", "item", *_DRAWN):
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise ValueError(f"'{op}' needs a whole number")
        if value > (10**6 if op in _DRAWN else MOST_ENTRIES):
            raise NotKnownError("program", f"'{op}' of {value} entries")
        _require(value >= (0 if op == "item" else 1), f"'{op}' of {value}")
    elif op == "data":
        _require(isinstance(value, tuple) and all(_is_piece(piece) for piece in value), "pieces")
    elif op == "fold":
        _require(isinstance(value, Fraction), "a fold starts from a number")
    else:
        _require(isinstance(value, str), f"'{op}' names nothing")


def _is_piece(value: Constant) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(part, str) for part in value)
    )


def read_expression(plain: object) -> Expr:
    """The expression that plain data states. Raises `ValueError` for any other data."""
    return _Nodes().node(plain)


ExactNumber = Annotated[Fraction, PlainValidator(exact_number)]
"""An exact number as a text."""

Numbered = Annotated[Fraction, PlainValidator(_numbered)]
"""An exact number among constants."""

Expression = Annotated[Expr, PlainValidator(read_expression)]
Expressions = Annotated[tuple[Expression, ...], Sequence]
MaybeExpression = Expression | None

Text = Annotated[Line, Field(max_length=10_000)]


# -- columns and parameters ------------------------------------------------------------------------


class ColumnType(Statement):
    """The type of a column or parameter: the values that it may hold."""

    kind: Literal["bool", "int", "real", "category"]
    low: Numbered
    high: Numbered
    labels: Annotated[tuple[Text, ...], Sequence, Field(max_length=MOST_ENTRIES)]
    public: StrictBool

    @model_validator(mode="after")
    def _goes_together(self) -> ColumnType:
        if self.kind == "category":
            _require(bool(self.labels) and "" not in self.labels, "labels are different texts")
            distinct(self.labels)
            counted = self.low == 0 and self.high == len(self.labels) - 1
            _require(counted, "the bounds of a Category count its labels")
            return self
        _require(not self.labels, "labels of no Category")
        truths = self.low == 0 and self.high == 1
        _require(self.kind != "bool" or truths, "the bounds of a Bool are 0 and 1")
        _require(self.low <= self.high, "bounds in the wrong order")
        whole = self.low.denominator == self.high.denominator == 1
        _require(self.kind != "int" or whole, "bounds of an Int")
        return self

    @property
    def parts(self) -> tuple[str, ...]:
        """The labels of its pieces in a partition."""
        return ("False", "True") if self.kind == "bool" else self.labels

    def holds(self, value: Constant) -> bool:
        """Whether a value is of this type, and within its bounds."""
        if self.kind == "bool":
            return isinstance(value, bool)
        if self.kind == "category":
            return value in self.labels
        if not isinstance(value, Fraction) or not self.low <= value <= self.high:
            return False
        return self.kind == "real" or value.denominator == 1


Parameter = tuple[Text, ColumnType, Annotated[Constant, PlainValidator(_constant)]]
"""A public parameter: its name, its type and the value that it was fixed to."""


def _fixed(parameter: Parameter) -> Parameter:
    name, kind, value = parameter
    _require(name.isidentifier(), f"{name!r} is not a name of a parameter")
    _require(kind.public, f"{name} is not public")
    _require(kind.holds(value), f"the value of {name} is not of its type")
    return parameter


# -- commands ------------------------------------------------------------------------------------


class ReleaseCommand(Statement):
    """`name = op(...)`."""

    release: Text
    op: Text
    args: Expressions
    options: dict[Text, Expression]

    def command(self) -> Release:
        """The command in the form that rules read."""
        return Release(self.release, self.op, self.args, tuple(self.options.items()))


class DeriveCommand(Statement):
    """`name = expression`."""

    derive: Text
    value: Expression

    def command(self) -> Derive:
        """The command in the form that rules read."""
        return Derive(self.derive, self.value)


class BranchCommand(Statement):
    """`if test: ... else: ...`."""

    test: Annotated[Expression, Field(alias="if")]
    then: Commands
    otherwise: Annotated[Commands, Field(alias="else")]

    def command(self) -> Branch:
        """The command in the form that rules read."""
        return Branch(self.test, commands_of(self.then), commands_of(self.otherwise))


class PartsCommand(Statement):
    """One list of commands for each label of a column."""

    parts: Text
    public: StrictBool
    of: Annotated[tuple[Annotated[tuple[Text, Commands], Sequence], ...], Sequence]

    def command(self) -> Parts:
        """The command in the form that rules read."""
        parts = tuple((label, commands_of(part)) for label, part in self.of)
        return Parts(self.parts, self.public, parts)


_FORMS = (("release", "a release"), ("derive", "a derived value"), ("if", "a branch"))
Commands = Annotated[
    tuple[
        Annotated[
            Annotated[ReleaseCommand, Tag("a release")]
            | Annotated[DeriveCommand, Tag("a derived value")]
            | Annotated[BranchCommand, Tag("a branch")]
            | Annotated[PartsCommand, Tag("a partition")],
            Discriminator(lambda plain: one_form(plain, _FORMS, "a partition")),
        ],
        ...,
    ],
    Sequence,
]


def commands_of(stated: Iterable[Any]) -> tuple[Command, ...]:
    """The commands in the form that rules read."""
    return tuple(command.command() for command in stated)


# -- programs ------------------------------------------------------------------------------------

Fold = Literal["sum", "count", "mean", "min", "max", "any", "all", "first", "last", "same"]
"""What a column of a record of several rows may be."""

Returned = Literal[
    "Beta", "Dirichlet", "Normal", "Gamma", "Samples", "Bool", "Int", "Real", "Category", "Vector",
    "Matrix",
]  # fmt: skip
"""The names of the types that a program may announce for what it returns."""


class PersonsDocument(Statement):
    """How a record is made of the rows that share a column: what each of its columns is."""

    by: Text
    most: Annotated[StrictInt, Field(ge=1, le=MOST_ROWS)]
    rows: Annotated[
        tuple[Annotated[tuple[Text, ColumnType], Sequence], ...],
        Sequence,
        Field(min_length=1, max_length=MOST_COLUMNS),
    ]
    folds: Annotated[
        tuple[Annotated[tuple[Text, Fold, Expression, Expression, MaybeExpression], Sequence], ...],
        Sequence,
    ]

    @model_validator(mode="after")
    def _goes_together(self) -> PersonsDocument:
        distinct(tuple(name for name, _ in self.rows))
        return self

    @property
    def made(self) -> dict[str, RowFold]:
        """What each column of the record is made of."""
        return {
            name: RowFold(op, kept, value, extra) for name, op, kept, value, extra in self.folds
        }


class ProgramDocument(Statement):
    """A whole program, as its text was read."""

    name: Text
    adjacency: Literal["replace-one", "add-remove"]
    record: Annotated[
        tuple[Annotated[tuple[Text, ColumnType], Sequence], ...],
        Sequence,
        Field(min_length=1, max_length=MOST_COLUMNS),
    ]
    scalar: StrictBool
    parameters: Annotated[
        tuple[Annotated[Parameter, Sequence, AfterValidator(_fixed)], ...], Sequence
    ]
    requires: Expressions
    body: Commands
    returns: Expressions
    return_types: Annotated[tuple[Returned, ...], Sequence]
    declared: Annotated[tuple[Numbered | None, Numbered | None], Sequence]
    source: Text
    persons: PersonsDocument | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> ProgramDocument:
        names = [name for name, _ in self.record]
        distinct(tuple(names))
        distinct(tuple(name for name, _, _ in self.parameters))
        _require(names == [""] if self.scalar else "" not in names, "a record of another form")
        if self.persons is not None:
            made = [name for name, *_ in self.persons.folds]
            _require(names == made and not self.scalar, "a record of other columns than its folds")
        _require(len(self.returns) == len(self.return_types), "not one type for each result")
        commands = commands_of(self.body)
        read = [*self.requires, *self.returns, *_expressions(commands)]
        many = sum(1 for expression in read for _ in expression.walk())
        if many > MOST_NODES or _depth(commands) > MOST_NESTED:
            raise NotKnownError("program", "the program is too large or nested too deeply")
        return self


def _expressions(commands: Iterable[Command]) -> Iterator[Expr]:
    for command in flat(commands):
        if isinstance(command, Release):
            yield from (*command.args, *dict(command.options).values())
        elif isinstance(command, Derive):
            yield command.value
        elif isinstance(command, Branch):
            yield command.test


def _depth(commands: Iterable[Command]) -> int:
    """How deep lists of commands are nested."""
    inside: list[int] = []
    for command in commands:
        if isinstance(command, Branch):
            inside += map(_depth, command.sides)
        elif isinstance(command, Parts):
            inside += (_depth(part) for _, part in command.parts)
    return 1 + max(inside, default=0)


_PROGRAM: Reader[ProgramDocument] = Reader(ProgramDocument)


def read_document(plain: object, place: str = "program") -> ProgramDocument:
    """The program that plain data states.

    Raises `StatementError` for other data, and `NotKnownError` for a program that is too large, or
    has an operation that no rule knows.
    """
    return _PROGRAM.read(plain, place)
