"""Programs: the expressions and commands that front end, checker, kernel and interpreter read.

What each operation means: `bayesdp.programs.ir`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Constant = bool | Fraction | str | None | tuple[Any, ...]
"""A constant of an operation. Numbers are fractions."""


@dataclass(frozen=True, slots=True)
class Where:
    """A place in the source: 1-based line and column, end column exclusive."""

    line: int
    column: int
    end: int


@dataclass(frozen=True, slots=True)
class Expr:
    """An operation on expressions. `data` holds its constants.

    `where` is a label for messages: no rule reads it, and no certificate holds it.
    """

    op: str
    args: tuple[Expr, ...] = ()
    data: tuple[Constant, ...] = ()
    where: Where | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Turn whole numbers among the constants into fractions."""
        if any(type(value) is int for value in self.data):
            exact = (Fraction(value) if type(value) is int else value for value in self.data)
            object.__setattr__(self, "data", tuple(exact))

    def walk(self) -> Iterator[Expr]:
        """This expression and everything in it, from the outside and the left."""
        left = [self]
        while left:
            expr = left.pop()
            yield expr
            left.extend(reversed(expr.args))


def const(value: Fraction | bool, where: Where | None = None) -> Expr:
    """A literal."""
    return Expr("const", (), (value,), where)


TRUE = const(True)
ONE = const(Fraction(1))
SIZE = Expr("public", (), ("db.size",))
"""The number of records."""


def names_of(expr: Expr) -> frozenset[str]:
    """The public names that an expression reads."""
    return frozenset(str(part.data[0]) for part in expr.walk() if part.op == "public")


def pieces(data: Expr) -> tuple[tuple[str, str], ...]:
    """The (column, label) pairs of the partitions that a `data` expression lies in."""
    named = data.data[0]
    assert isinstance(named, tuple)
    return tuple((str(piece[0]), str(piece[1])) for piece in named)


def columns_of(expr: Expr) -> frozenset[str]:
    """The columns that an expression reads, those of the partitions that it lies in among them."""
    columns: set[str] = set()
    for part in expr.walk():
        if part.op == "field":
            columns.add(str(part.data[0]))
        elif part.op == "data":
            columns |= {column for column, _ in pieces(part)}
    return frozenset(columns)


# -- records of several rows -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowFold:
    """A column of a record that is several rows: what `op` makes of its rows that pass `filter`.

    op: sum, count, mean, min, max, any or all of `value`; first or last, the value of the row with
    the least or largest `extra`; same, the value that all rows share. `extra` of min and max is
    what stands for no rows.
    """

    op: str
    filter: Expr
    value: Expr
    extra: Expr | None = None

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions over one row."""
        parts = (self.filter, self.value)
        return parts if self.extra is None else (*parts, self.extra)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the rows that it reads."""
        return frozenset().union(*map(columns_of, self.parts))


# -- commands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Release:
    """`name = op(...)`: the only commands that touch data, and the only ones that cost.

    op: laplace (value), gaussian (value), exponential (score, candidates), per-record-exponential
    (data, score, candidates), randomized-response (data), posterior-sample (model, grid),
    above-threshold (queries, threshold).
    `options`: epsilon, delta, sensitivity, sigma, low, high, power: public expressions.
    """

    name: str
    op: str
    args: tuple[Expr, ...]
    options: tuple[tuple[str, Expr], ...]
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Derive:
    """`name = expression of public, released and derived values`: free."""

    name: str
    value: Expr
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """`if test: ... else: ...` on a public or released value. Costs what the dearer side costs."""

    test: Expr
    then: tuple[Command, ...]
    otherwise: tuple[Command, ...]
    where: Where | None = field(default=None, compare=False)

    @property
    def sides(self) -> tuple[tuple[Command, ...], tuple[Command, ...]]:
        """The commands where the test holds, and where it doesn't."""
        return self.then, self.otherwise


@dataclass(frozen=True, slots=True)
class Parts:
    """A static `for` over partition(db, by=column): one list of commands for each label."""

    column: str
    public: bool
    parts: tuple[tuple[str, tuple[Command, ...]], ...]
    where: Where | None = field(default=None, compare=False)


Command = Release | Derive | Branch | Parts


def flat(commands: Iterable[Command]) -> Iterator[Command]:
    """All commands, those in branches and parts after the command that holds them."""
    for command in commands:
        yield command
        if isinstance(command, Branch):
            yield from flat((*command.then, *command.otherwise))
        elif isinstance(command, Parts):
            for _, part in command.parts:
                yield from flat(part)
