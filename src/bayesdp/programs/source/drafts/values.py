"""What names stand for while a program is lowered. None of these holds data."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal as OneOf

from bayesdp.programs.ir import Constant, Expr, Type, Where
from bayesdp.programs.source.syntax.diagnostics import place, refuse
from bayesdp.programs.source.syntax.literals import Literal, LiteralDictionary

DataLevel = OneOf["static", "public", "row", "private"]
ORDER: tuple[DataLevel, ...] = ("static", "public", "row", "private")

BOOL = Type("bool", Fraction(0), Fraction(1))
INT = Type("int")
REAL = Type("real")
TEXT = Type("text")


@dataclass(frozen=True)
class Scalar:
    """A number, truth value, label or vector: of a row, private, public or static.

    `released` says that a public value depends on data through a release. `statistics` is the model
    whose statistics this is, with the expression that they are: what is computed from the value
    later is another expression, and so no longer the statistics.
    """

    level: DataLevel
    expr: Expr
    type: Type
    released: bool = False
    statistics: tuple[Expr, ModelObject] | None = None

    @property
    def of_records(self) -> bool:
        """Whether it depends on private records: on one record (a row), or on all of them."""
        return self.level in ("row", "private")

    @property
    def model(self) -> ModelObject | None:
        """The model whose statistics this is, or None."""
        if self.statistics is None or self.statistics[0] is not self.expr:
            return None
        return self.statistics[1]


@dataclass(frozen=True)
class Items:
    """A Python tuple or list of static length. Python's lists change under all their names."""

    items: tuple[LoweredValue, ...]
    changes: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Dictionary:
    """A table of public values: `keys` are literals, each once, and `values` stand in order."""

    keys: tuple[Literal, ...]
    values: tuple[LoweredValue, ...]


@dataclass(frozen=True)
class RecordVariable:
    """A record, as the variable of a generator."""

    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class PersonVariable(RecordVariable):
    """A person with several rows, as the variable of a generator.

    `fields` are the public columns, which all rows of a person share; `rows` those of a row.
    """

    rows: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class PersonRows:
    """Rows of one person: all that pass `filter`, or the first or last by a column (`chosen`).

    `row` is the value of one row.
    """

    filter: Expr
    row: RecordVariable | Scalar | Items
    chosen: tuple[str, Expr] | None = None


@dataclass(frozen=True)
class Data:
    """A sequence of rows: the database, a piece of it, or a generator over one.

    `row` is the value of one row: a `RecordVariable` before any mapping of records, else a
    row-level scalar.
    """

    pieces: tuple[tuple[str, str], ...]
    filter: Expr
    row: RecordVariable | Scalar | Items


@dataclass(frozen=True)
class Parted:
    """The pieces of `partition(db, by=column)`."""

    data: Data
    column: str
    labels: tuple[str, ...]
    public: bool
    beside: tuple[tuple[LoweredValue, ...] | None, ...] = ()
    """What `zip` puts beside each piece, in the order of its arguments; None is the piece."""


@dataclass(frozen=True)
class ModelObject:
    """A likelihood, prior, model, posterior, set of candidates, score or released distribution.

    `about` is what else the front end knows: a model's family, a noisy value's model.
    """

    kind: str
    expr: Expr
    family: str = ""
    about: tuple[LoweredValue, ...] = ()
    released: bool = False


@dataclass(frozen=True)
class Named:
    """A function: of the language, of Python, or a helper."""

    kind: OneOf["surface", "builtin", "helper"]
    name: str


LoweredValue = (
    Scalar | Items | Dictionary | RecordVariable | PersonRows | Data | Parted | ModelObject | Named
)

TRUE = Expr("const", (), (True,))


def constant(value: Constant, node: ast.AST | None = None) -> Expr:
    """A literal as an expression."""
    return Expr("const", (), (value,), None if node is None else place(node))


def static(value: Literal, node: ast.AST | None = None) -> LoweredValue:
    """A literal as a value."""
    if isinstance(value, LiteralDictionary):
        entries = tuple(static(entry, node) for _, entry in value.pairs)
        return Dictionary(tuple(key for key, _ in value.pairs), entries)
    if isinstance(value, tuple):
        return Items(tuple(static(entry, node) for entry in value))
    if isinstance(value, bool):
        return Scalar("static", constant(value, node), BOOL)
    if isinstance(value, str):
        return Scalar("static", constant(value, node), TEXT)
    return static_number(value, node)


def static_number(value: Fraction, node: ast.AST | None = None) -> Scalar:
    """A literal number as a value."""
    kind = INT if value.denominator == 1 else REAL
    return Scalar("static", constant(value, node), kind)


def static_of(value: LoweredValue) -> Literal | None:
    """The literal behind a static value; None for other values."""
    if isinstance(value, Items):
        parts = [static_of(part) for part in value.items]
        return (
            None
            if any(part is None for part in parts)
            else tuple(p for p in parts if p is not None)
        )
    if isinstance(value, Scalar) and value.level == "static" and value.expr.op == "const":
        literal_value = value.expr.data[0]
        assert isinstance(literal_value, bool | str | Fraction)
        return literal_value
    return None


def highest(*levels: DataLevel) -> DataLevel:
    """The level of a value that is computed from values of these levels."""
    return max(levels, key=ORDER.index)


def scalar(value: LoweredValue, node: ast.AST, wanted: str = "a number") -> Scalar:
    """The value as a scalar; a tuple of scalars becomes a vector."""
    if isinstance(value, Scalar):
        return value
    if isinstance(value, Items) and value.items:
        parts = [scalar(item, node, wanted) for item in value.items]
        if any(part.type.kind == "vector" for part in parts):
            raise refuse("type", node, "A vector of vectors is not part of the language.", "")
        level = highest("public", *(part.level for part in parts))  # a static scalar is a literal
        unmixed([part.level for part in parts], node)
        expr = Expr("tuple", tuple(part.expr for part in parts), (), place(node))
        kind = Type("vector", items=tuple(part.type for part in parts))
        return Scalar(level, expr, kind, any(part.released for part in parts))
    raise refuse("type", node, f"Here stands {described(value)}, and {wanted} is wanted.", "")


def entries_of(vector: Scalar, where: Where) -> tuple[Scalar, ...]:
    """The entries of a vector; none for any other scalar."""
    return tuple(
        replace(vector, expr=Expr("item", (vector.expr,), (Fraction(i),), where), type=kind)
        if vector.expr.op != "tuple"
        else replace(vector, expr=vector.expr.args[i], type=kind)
        for i, kind in enumerate(vector.type.items)
    )


def unmixed(levels: list[DataLevel], node: ast.AST) -> None:
    """Refuse one record's value beside a private value of all records."""
    if "row" in levels and "private" in levels:
        raise refuse(
            "nonlinear",
            node,
            "This mixes the value of one record with a private value of all of them.",
            "Release the private value first, then use the released one.",
        )


def combined(op: str, a: Type, b: Type) -> Type:
    """The type of `a op b`."""
    if "vector" in (a.kind, b.kind):
        items = a.items if a.kind == "vector" else b.items
        other = b if a.kind == "vector" else a
        others = other.items if other.kind == "vector" else (other,) * len(items)
        return Type(
            "vector", items=tuple(combined(op, x, y) for x, y in zip(items, others, strict=True))
        )
    return REAL if op == "div" else whole_or_real(a, b)


def whole_or_real(*kinds: Type) -> Type:
    """Int where all types are of whole numbers or truth values, else Real."""
    return INT if all(kind.kind in ("int", "bool") for kind in kinds) else REAL


def indicators(count: int) -> Type:
    """The type of a vector of zeros and ones."""
    return Type("vector", items=(Type("int", Fraction(0), Fraction(1)),) * count)


def described(value: LoweredValue) -> str:
    """A value in words, for messages."""
    if isinstance(value, Scalar):
        by_level = {
            "static": "a literal",
            "public": "a public value",
            "row": "a value of one record",
        }
        return by_level.get(value.level, "a private value")
    if isinstance(value, Items):
        return "a tuple"
    if isinstance(value, Dictionary):
        return "a dictionary"
    if isinstance(value, PersonVariable):
        return "a person with several rows"
    if isinstance(value, PersonRows):
        return "rows of a person"
    if isinstance(value, RecordVariable):
        return "a record"
    if isinstance(value, Data):
        return "private data"
    if isinstance(value, Parted):
        return "a partition"
    if isinstance(value, Named):
        return f"the function {value.name}"
    if value.kind == "noisy-data":
        return "a list of noisy answers"
    return f"a {value.kind.replace('-', ' ')}"


def operation(op: str, node: ast.AST, *args: Scalar, data: tuple[Constant, ...] = ()) -> Expr:
    """An operation on scalars, at the place of a node."""
    return Expr(op, tuple(arg.expr for arg in args), data, place(node))


def number_of(value: Scalar) -> Fraction:
    """The number behind a static scalar."""
    number = value.expr.data[0]
    assert isinstance(number, bool | Fraction)
    return Fraction(number)


def check_numeric(value: Scalar, node: ast.AST) -> None:
    """Refuse labels and texts where numbers are wanted."""
    kinds = [value.type, *value.type.items]
    if any(kind.kind in ("category", "text", "choice") for kind in kinds):
        raise refuse(
            "type",
            node,
            "A label is not a number.",
            'Compare it (row.sex == "f"), or count it (onehot, categorical).',
        )
