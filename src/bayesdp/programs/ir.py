"""The intermediate representation: what checker, kernel, interpreter and falsifier read.

A program is a list of commands over one private database. Every expression is an `Expr`: an
operation, its arguments, and constants. Literals are exact fractions. Private values have no names
here: the front end substitutes them, so that a cost can belong to commands only. Names are of
public parameters and of released or derived values.

Levels of expressions (each has the operations listed in its table and no others):

* row: the value of one record, e.g. `clip(field("height"), 140, 200)`;
* data: a sequence of row values, `data(pieces, filter, map)`;
* private: numbers made of sums over data;
* public: numbers made of literals, parameters, the public size and released values;
* model: `observe(data, likelihood, prior)`;
* after: post-processing of released values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from bayesdp.statements.program import (
    Branch,
    Command,
    Constant,
    Derive,
    Expr,
    Parts,
    Release,
    RowFold,
    Where,
    flat,
    names_of,
)
from bayesdp.statements.program import columns_of as columns

Adjacency = Literal["replace-one", "add-remove"]
Dependence = Literal["ignored", "missing", "partly", "declared", "chain"]


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a value: `kind` is bool, int, real, category, vector or text.

    int and real carry `low` and `high` (inclusive; None: unbounded, for public values only),
    category its `labels`, vector its `items`. `public`: adjacency doesn't change the column.
    """

    kind: str
    low: Fraction | None = None
    high: Fraction | None = None
    labels: tuple[str, ...] = ()
    items: tuple[Type, ...] = ()
    public: bool = False


# op: (number of arguments or None, names of the constants, meaning)
ROW = {
    "const": (0, ("value",), "a literal: bool, Fraction or label"),
    "field": (0, ("name",), "a column of the record; '' where a record is one scalar"),
    "public": (0, ("name",), "a public scalar: parameter, 'db.size', released or derived value"),
    "add": (2, (), ""),
    "sub": (2, (), ""),
    "mul": (2, (), ""),
    "neg": (1, (), ""),
    "abs": (1, (), ""),
    "floor": (1, (), "the largest whole number that is not above"),
    "sqrt": (1, (), "of a number that is proved to be at least 0; to 64 bits, as the next three"),
    "log": (1, (), "of a number that is proved to be above 0"),
    "exp": (1, (), "of a number that is proved to lie in -700 to 700"),
    "lgamma": (1, (), "the logarithm of the gamma function, of a number above 0; not of a row"),
    "div": (2, (), "the divisor is public, or a value of the same row, and proved not to be 0"),
    "min": (None, (), ""),
    "max": (None, (), ""),
    "clip": (3, (), "value, low, high; low <= high, both public"),
    "lt": (2, (), ""),
    "le": (2, (), ""),
    "gt": (2, (), ""),
    "ge": (2, (), ""),
    "eq": (2, (), "numbers, bools or labels"),
    "ne": (2, (), ""),
    "and": (None, (), ""),
    "or": (None, (), ""),
    "not": (1, (), ""),
    "if": (3, (), "test, then, else"),
    "onehot": (1, ("k",), "a category or int 0..k-1 as k zeros and ones"),
    "cross": (None, (), "categories as one category, the last running fastest"),
    "tuple": (None, (), "a vector"),
    "item": (1, ("index",), "an entry of a vector"),
    "moments": (1, (), "of a tuple of D entries: the products of the upper triangle, row by row"),
    "acc": (0, (), "the value so far, in the step of a fold"),
}
DATA = {
    # pieces: ((column, label), ...) of the partitions that it lies in, outermost first.
    "data": (2, ("pieces",), "args = (filter: truth value of a row, map: value of a row)"),
}
PRIVATE = {
    "sum": (1, (), "of a data expression; a vector where its rows are"),
    "count": (1, (), "of a data expression; also its private size"),
    "fold": (2, ("start",), "args = (data, step over 'acc' and the row)"),
    # rows of one unit whose steps are one apart follow each other: how often which value follows
    # which, the value before running slowest; rows that share a place with others are left out
    "transitions": (None, (), "args = (data of one-hot rows, field: step[, field: unit])"),
    # and ROW's arithmetic, clip, tuple and item over private and public values
}
MODEL = {
    # likelihood: bernoulli, categorical, normal (sd), poisson (exposure), linear_model (noise_sd);
    # prior: beta (a, b), dirichlet (a...), normal (mean, sd), gamma (shape, rate), all public
    # statistics(model) and parameters(posterior) are written out as sums by the front end.
    "observe": (3, (), "args = (data, 'public' noisy data, or 'nothing', likelihood, prior)"),
    "nothing": (0, (), "a model without its data, for what is derived from noisy statistics"),
    "likelihood": (None, ("family",), "public parameters"),
    "prior": (None, ("family",), "public parameters"),
    "posterior": (1, (), "infer(model)"),
}
SCORE = {
    "hellinger": (1, (), "args = (posterior,): minus the Hellinger distance of a candidate to it"),
    "score": (
        1,
        ("variable",),
        "args = (body,): private; the candidate is 'public' variable in it",
    ),
    "row-score": (1, ("variable",), "the same as a row expression, for per_record_exponential"),
}
CANDIDATES = {
    "posteriors-of": (2, (), "args = (prior, n: public)"),
    "grid-of": (
        2,
        ("family",),
        "args = (points of the first parameter, of the second): two linspace/range",
    ),
    "linspace": (3, (), "low, high, k: public"),
    "range": (3, (), "start, stop, step: public integers"),
    "values": (None, (), "a literal list"),
}
AFTER = {
    "plug-in": (1, (), ""),
    "noise-aware": (1, (), ""),
    # Of a public level: "summary" of a released posterior, with what it is (mean, sd, quantile,
    # probability) and two numbers (the quantile's p; the ends of the probability).
    # args = a public name, an observe over noisy data, or both where a statistic belongs to a model
    "nuts": (1, ("draws",), ""),
    "law": (
        1,
        (),
        "args = (observe of nothing,): its prior, of public or released numbers",
    ),
    "draws": (1, ("draws",), "args = (public name of a posterior,): independent draws of it"),
    "predictive": (1, ("draws",), "of an observe of nothing, a posterior its prior: new records"),
}


def nodes(expr: Expr) -> Iterator[Expr]:
    """An expression and everything in it, from the outside and the left."""
    return expr.walk()


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program, as the front end lowers it."""

    name: str
    adjacency: Adjacency
    database: str
    record: tuple[tuple[str, Type], ...]  # ('' , type) where a record is one scalar
    scalar: bool
    parameters: tuple[
        tuple[str, Type, Constant], ...
    ]  # public scalars with the values they were fixed to
    requires: tuple[Expr, ...]
    body: tuple[Command, ...]
    returns: tuple[Expr, ...]
    return_types: tuple[str, ...]  # as annotated: Beta, Normal, Int, ...
    declared_epsilon: Fraction | None
    declared_delta: Fraction | None
    source_hash: str
    dependence: Dependence = "ignored"
    """Whether models count on what a study's population declares: with its factor written out
    ("declared", "partly"), or without a study ("missing", which isn't run), or that it is a chain
    ("chain", run in such a study only). It is not part of the plain data: a factor is a constant
    there."""
    persons: Persons | None = None
    """How a record is made of several rows; None where it is one."""


@dataclass(frozen=True, slots=True)
class Persons:
    """How a record is made of several rows of the table: of those that share `by`.

    At most `most` of them count, in an order that is a function of the record's own rows. `rows`
    are the columns of a row; `folds` says, for each column of the program's record, what is made of
    them. All rules are about the record: no command reads a row.
    """

    by: str
    most: int
    rows: tuple[tuple[str, Type], ...]
    folds: tuple[tuple[str, RowFold], ...]

    def reads(self, columns: Iterable[str]) -> frozenset[str]:
        """The columns of the rows that these columns of the record are made of."""
        made = dict(self.folds)
        return frozenset().union(*(made[name].reads for name in columns))


# -- plain data --------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """The representation as plain JSON data: numbers as {"number": "p/q"}, places left out."""
    if isinstance(value, Expr):
        return [
            value.op,
            [plain(arg) for arg in value.args],
            [_constant(constant) for constant in value.data],
        ]
    if isinstance(value, Type):
        return {
            "kind": value.kind,
            "low": _constant(value.low),
            "high": _constant(value.high),
            "labels": list(value.labels),
            "public": value.public,
        }
    if isinstance(value, Release):
        return {
            "release": value.name,
            "op": value.op,
            "args": [plain(arg) for arg in value.args],
            "options": {name: plain(option) for name, option in value.options},
        }
    if isinstance(value, Derive):
        return {"derive": value.name, "value": plain(value.value)}
    if isinstance(value, Branch):
        sides = [[plain(command) for command in side] for side in (value.then, value.otherwise)]
        return {"if": plain(value.test), "then": sides[0], "else": sides[1]}
    if isinstance(value, Parts):
        parts = [[label, [plain(command) for command in part]] for label, part in value.parts]
        return {"parts": value.column, "public": value.public, "of": parts}
    if isinstance(value, Persons):
        return {
            "by": value.by,
            "most": value.most,
            "rows": [[name, plain(kind)] for name, kind in value.rows],
            "folds": [[name, *_folded(fold)] for name, fold in value.folds],
        }
    assert isinstance(value, Program)
    persons = {} if value.persons is None else {"persons": plain(value.persons)}
    return persons | {
        "name": value.name,
        "adjacency": value.adjacency,
        "record": [[name, plain(kind)] for name, kind in value.record],
        "scalar": value.scalar,
        "parameters": [[n, plain(t), _constant(v)] for n, t, v in value.parameters],
        "requires": [plain(condition) for condition in value.requires],
        "body": [plain(command) for command in value.body],
        "returns": [plain(returned) for returned in value.returns],
        "return_types": list(value.return_types),
        "declared": [_constant(value.declared_epsilon), _constant(value.declared_delta)],
        "source": value.source_hash,
    }


def _folded(fold: RowFold) -> list[Any]:
    extra = None if fold.extra is None else plain(fold.extra)
    return [fold.op, plain(fold.filter), plain(fold.value), extra]


def _constant(value: Constant) -> Any:
    """A number is `{"number": "p/q"}`, so that no label looks like one."""
    if isinstance(value, tuple):
        return [_constant(entry) for entry in value]
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        return {"number": str(Fraction(value))}
    return value


def columns_read(commands: Sequence[Command], others: Iterable[Expr]) -> frozenset[str]:
    """The columns of the record that `commands` read, and that `others` do: results, conditions."""
    read, split_by = list(others), set[str]()
    for command in flat(commands):
        if isinstance(command, Release):
            read += [*command.args, *(option for _, option in command.options)]
        elif isinstance(command, Derive):
            read.append(command.value)
        elif isinstance(command, Branch):
            read.append(command.test)
        else:
            split_by.add(command.column)
    return frozenset(split_by).union(*(columns(expr) for expr in read))


def expression(data: Any) -> Expr:
    """The inverse of `plain` for an expression."""
    op, args, constants = data
    arguments = tuple(expression(arg) for arg in args)
    return Expr(op, arguments, tuple(_read(constant) for constant in constants))


def _read(data: Any) -> Constant:
    if isinstance(data, dict):
        return Fraction(data["number"])
    if isinstance(data, list):
        return tuple(_read(entry) for entry in data)
    assert data is None or isinstance(data, bool | str)
    return data


__all__ = [
    "AFTER",
    "CANDIDATES",
    "DATA",
    "MODEL",
    "PRIVATE",
    "ROW",
    "SCORE",
    "Adjacency",
    "Branch",
    "Command",
    "Constant",
    "Dependence",
    "Derive",
    "Expr",
    "Parts",
    "Persons",
    "Program",
    "Release",
    "RowFold",
    "Type",
    "Where",
    "columns",
    "columns_read",
    "expression",
    "flat",
    "names_of",
    "nodes",
    "plain",
]
