"""What a program's text means in Python is what its representation says, on small tables.

Two readings: the program's own text, run as Python with functions that note what they are given
(`as_python.py`), and the front end's representation, evaluated here in exact fractions. Releases
answer with the same numbers, so branches go the same way.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import count as numbers
from typing import Any

import pytest

from bayesdp.programs.ir import (
    AFTER,
    Branch,
    Derive,
    Expr,
    Parts,
    Program,
    Release,
    RowFold,
    Type,
)
from bayesdp.programs.source import core_of, read_text
from tests.effort import runs
from tests.golden.corpus import ACCEPTED, Example
from tests.programs.as_python import run
from tests.programs.as_python_functions import FUNCTIONS
from tests.programs.as_python_models import SUMMARIES
from tests.programs.as_python_values import Label, Row, Rows, Vec

SLOW = ("several_steps_unrolled",)


class Meaning:
    """The representation, evaluated on rows: dictionaries of plain values."""

    def __init__(self, program: Program, rows: list[dict[str, Any]]) -> None:
        self.program, self.rows = program, rows
        self.kinds = dict(program.record)
        self.env: dict[str, Any] = {"db.size": len(rows)}
        self.given: list[Any] = []
        self.order = numbers()

    def commands(self, body: Any) -> None:
        for statement in body:
            if isinstance(statement, Release):
                self.env[statement.name] = self.release(statement)
            elif isinstance(statement, Derive):
                after = statement.value.op in AFTER
                self.env[statement.name] = ("released",) if after else self.value(statement.value)
            elif isinstance(statement, Branch):
                self.commands(statement.then if self.value(statement.test) else statement.otherwise)
            else:
                assert isinstance(statement, Parts)
                for _, part in statement.parts:
                    self.commands(part)

    def release(self, item: Release) -> Any:
        at = next(self.order)
        if item.op in ("laplace", "gaussian"):
            value = self.value(item.args[0])
            self.given.append(value)
            shift = 1 + at % 3
            return Vec(x + shift for x in value) if isinstance(value, Vec) else value + shift
        if item.op == "above-threshold":
            queries = self.value(item.args[0])
            self.given.append(Vec((*queries, self.value(item.args[1]))))
            return at % (len(queries) + 1)
        if item.op == "exponential" and item.args[0].op == "hellinger":
            self.given.append(("model", item.args[0].args[0].args[0]))
            return ("released",)
        if item.op == "posterior-sample":
            self.given.append(("model", item.args[0]))
            grid = self.candidates(item.args[1])
            return grid[at % len(grid)]
        if item.op == "exponential":
            listed = self.candidates(item.args[1])
            body, variable = item.args[0].args[0], str(item.args[0].data[0])
            self.given.append(Vec(self.with_name(body, variable, c) for c in listed))
            return listed[at % len(listed)]
        if item.op == "randomized-response":
            kept, value = item.args[0].args
            self.given.append(
                Vec(self.place(value, row) for row in self.rows if self.value(kept, row))
            )
            return ("noisy",)
        assert item.op == "per-record-exponential"
        data, score, candidates = item.args
        self.given.append(
            Vec(
                self.with_name(score.args[0], str(score.data[0]), c, row)
                for row in self.rows
                if self.value(data.args[0], row)
                for c in self.candidates(candidates)
            )
        )
        return ("noisy",)

    def with_name(self, body: Expr, name: str, value: Any, row: Any = None) -> Any:
        self.env[name] = value
        return self.value(body, row)

    def candidates(self, expr: Expr) -> list[Any]:
        parts = [self.value(argument) for argument in expr.args]
        if expr.op == "range":
            return list(range(*(int(part) for part in parts)))
        if expr.op == "linspace":
            low, high, k = parts
            return [low + (high - low) * Fraction(i, int(k) - 1) for i in range(int(k))]
        assert expr.op == "values"
        return parts

    def kept(self, data: Expr) -> list[dict[str, Any]]:
        pieces: Any = data.data[0]
        return [
            row
            for row in self.rows
            if all(str(row[column]) == label for column, label in pieces)
            and self.value(data.args[0], row)
        ]

    def value(self, e: Expr, row: Any = None, acc: Any = None) -> Any:
        op = e.op
        if op == "const":
            return e.data[0]
        if op == "public":
            return self.env[str(e.data[0])]
        if op == "field":
            return row[str(e.data[0])]
        if op == "acc":
            return acc
        if op == "count":
            return len(self.kept(e.args[0]))
        if op == "sum":
            return self.sum_of(e.args[0])
        if op == "fold":
            start = e.data[0]
            for item in self.kept(e.args[0]):
                start = self.value(e.args[1], item, start)
            return start
        if op == "transitions":
            return self.transitions(*e.args)
        if op == "if":
            return self.value(e.args[1 if self.value(e.args[0], row, acc) else 2], row, acc)
        if op == "onehot":
            at = self.place(e.args[0], row)
            return Vec(int(i == at) for i in range(int(e.data[0])))  # type: ignore[arg-type]
        if op == "cross":
            return "|".join(str(self.value(argument, row, acc)) for argument in e.args)
        return self.computed(op, [self.value(argument, row, acc) for argument in e.args], e)

    def sum_of(self, data: Expr) -> Any:
        total: Any = 0
        rows = self.kept(data)
        for row in rows:
            total = self.value(data.args[1], row) + total
        if not rows and data.args[1].op in ("tuple", "onehot", "moments"):
            raise LookupError("an empty sum of vectors")
        return total

    def transitions(self, data: Expr, *keys: Expr) -> Vec:
        rows = [
            ([self.value(key, row) for key in keys], self.value(data.args[1], row))
            for row in self.kept(data)
        ]
        total: Any = Vec((0,) * len(rows[0][1]) ** 2)
        for (step, *unit), hot in rows:
            alone = sum(key == [step, *unit] for key, _ in rows) == 1
            behind = [other for key, other in rows if key == [step + 1, *unit]]
            if alone and len(behind) == 1:
                total = total + Vec(a * b for a in hot for b in behind[0])
        return total

    def place(self, e: Expr, row: Any) -> int:
        value = self.value(e, row)
        if isinstance(value, str):
            return self.labels(e).index(value)
        return int(value)

    def labels(self, e: Expr) -> list[str]:
        if e.op == "field":
            return list(self.kinds[str(e.data[0])].labels) or ["False", "True"]
        if e.op == "cross":
            actual = [""]
            for argument in e.args:
                actual = [f"{a}|{b}" if a else b for a in actual for b in self.labels(argument)]
            return actual
        return ["False", "True"]

    def computed(self, op: str, args: list[Any], e: Expr) -> Any:
        if op == "tuple":
            return Vec(args)
        if op == "item":
            return args[0][int(e.data[0])]  # type: ignore[arg-type]
        if op == "moments":
            x = args[0]
            return Vec(x[i] * x[j] for i in range(len(x)) for j in range(i, len(x)))
        if op in ("and", "or"):
            return all(args) if op == "and" else any(args)
        if op in ("min", "max"):
            return min(args) if op == "min" else max(args)
        if op == "clip":
            return min(max(args[0], args[1]), args[2])
        if op == "summary":
            return SUMMARIES[str(e.data[0])](*e.data[1:])
        if op in FUNCTIONS:
            return FUNCTIONS[op](args[0])
        if op in ("not", "neg", "abs"):
            return {"not": lambda x: not x, "neg": lambda x: -x, "abs": abs}[op](args[0])
        a, b = args
        if isinstance(b, Vec) and not isinstance(a, Vec):
            a = Vec((a,) * len(b))
        return {
            "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b,
            "div": lambda: a / b if isinstance(a, Vec) else Fraction(a) / b,
            "lt": lambda: a < b, "le": lambda: a <= b, "gt": lambda: a > b, "ge": lambda: a >= b,
            "eq": lambda: a == b, "ne": lambda: a != b,
        }[op]()  # fmt: skip


def random_value(kind: Type, rng: random.Random) -> Any:
    if kind.kind == "bool":
        return rng.random() < 0.5
    if kind.kind == "category":
        return rng.choice(kind.labels)
    assert kind.low is not None
    assert kind.high is not None
    if kind.kind == "int":
        return rng.choice(
            [int(kind.low), int(kind.high), rng.randint(int(kind.low), int(kind.high))]
        )
    return kind.low + (kind.high - kind.low) * Fraction(rng.randint(0, 8), 8)


def random_table(
    program: Program, rng: random.Random, size: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """So many random records as the representation sees them, and the rows of the table.

    Those are the same, unless a record is a person with some rows: as many as count at most. `rng`
    chooses, and the `program` says what a record is.
    """
    if program.persons is None:
        records = [
            {name: random_value(kind, rng) for name, kind in program.record} for _ in range(size)
        ]
        return records, records
    records, raw = [], []
    for number in range(size):
        kinds = program.persons.rows
        shared = {name: random_value(kind, rng) for name, kind in kinds if kind.public}
        rows = [
            {name: random_value(kind, rng) for name, kind in kinds} | shared
            for _ in range(rng.randint(1, program.persons.most))
        ]
        records.append({name: folded(program, fold, rows) for name, fold in program.persons.folds})
        raw += [{**row, program.persons.by: number} for row in rows]
    return records, raw


def folded(program: Program, fold: RowFold, rows: list[dict[str, Any]]) -> Any:
    """What the representation of a `program` makes of one person's `rows`, in their order.

    `fold` is of the program's persons.
    """
    meaning = Meaning(program, [])

    def values(expr: Any) -> list[Any]:
        return [meaning.value(expr, row) for row in rows if meaning.value(fold.filter, row)]

    if fold.op in ("first", "last", "same"):
        if fold.extra is None:
            return meaning.value(fold.value, rows[0])
        choose = min if fold.op == "first" else max
        return meaning.value(
            fold.value, choose(rows, key=lambda row: meaning.value(fold.extra, row))
        )
    kept = values(fold.value)
    if fold.op in ("min", "max") and not kept:
        return meaning.value(fold.extra)
    return {
        "sum": sum,
        "mean": lambda kept: Fraction(sum(kept)) / len(kept),
        "count": len,
        "min": min,
        "max": max,
        "any": any,
        "all": all,
    }[fold.op](kept)


def as_rows(program: Program, table: list[dict[str, Any]]) -> Rows:
    """The table as the program's own text sees it."""
    persons = program.persons
    kinds = dict(program.record if persons is None else persons.rows)

    def cell(name: str, value: Any) -> Any:
        is_label = name in kinds and kinds[name].kind == "category"
        return Label(value, kinds[name].labels) if is_label else value

    if program.scalar:
        rows = Rows(cell("", item[""]) for item in table)
    else:
        rows = Rows(Row(**{k: cell(k, v) for k, v in item.items()}) for item in table)
    rows.labels = {k: v.labels or ("False", "True") for k, v in kinds.items()}  # type: ignore[attr-defined]
    return rows


def same(meaning: Meaning, x: Any, y: Any) -> bool:
    """Whether the text's value x is the representation's value y."""
    if isinstance(y, tuple) and y[:1] == ("model",):
        return _same_model(meaning, x[1], y[1])
    if isinstance(y, tuple) and isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(same(meaning, a, b) for a, b in zip(x, y, strict=True))
    if isinstance(x, tuple) or isinstance(y, tuple):
        return False
    return x == y or _nearly(x, y)


def _nearly(x: Any, y: Any) -> bool:
    """Whether two numbers with a function in them agree but for rounding."""
    inexact = isinstance(x, Fraction) and isinstance(y, Fraction) and x.denominator > 2**30
    return inexact and abs(x - y) <= Fraction(1, 10**13) * (1 + abs(y))


def _same_model(meaning: Meaning, x: Any, model: Expr) -> bool:
    data, likelihood, _ = model.args
    rows = [row for row in meaning.kept(data)]
    family = likelihood.data[0]
    if family == "categorical":
        size = len(meaning.labels(data.args[1]))
        hot = [meaning.place(data.args[1], row) for row in rows]
        return list(x) == [hot.count(i) for i in range(size)]
    total = sum(meaning.value(data.args[1], row) for row in rows)
    if not isinstance(x, tuple):
        return bool(x == total)
    return list(x) == ([total, len(rows) - total] if family == "bernoulli" else [len(rows), total])


def compare(text: str, rng: random.Random, size: int) -> None:
    source = read_text(text)
    program = core_of(source, None, {})
    table, raw = random_table(program, rng, size)
    public = frozenset(name for name, kind in program.record if kind.public)
    if program.adjacency == "add-remove":
        public = frozenset({"nothing is public"})
    meaning = Meaning(program, table)
    try:
        meaning.commands(program.body)
        returned = [meaning.value(item) for item in program.returns]
    except (LookupError, ZeroDivisionError):
        return
    rows = as_rows(program, raw)
    if program.adjacency == "add-remove":
        rows.read = frozenset({"?"})
    actual, given = run(text, program.name, rows, public)
    assert len(given) == len(meaning.given)
    for x, y in zip(given, meaning.given, strict=True):
        assert same(meaning, x, y), (x, y, table)
    results = list(actual) if isinstance(actual, (tuple, list)) and len(returned) > 1 else [actual]
    if actual == ("released",):
        results = [actual]
    if program.return_types == ("Matrix",):
        results = [[entry for row in actual for entry in row]]
    if len(results) < len(returned):  # tuples in tuples, whose entries stand one after the other
        results = [entry for pair in results for entry in pair]
    assert len(results) == len(returned)
    for x, y in zip(results, returned, strict=True):
        if isinstance(x, tuple) and x and isinstance(x[0], str):
            continue  # a distribution
        assert same(meaning, x, y), (x, y, table)


@pytest.mark.parametrize("example", ACCEPTED, ids=lambda example: example.name)
def test_text_and_representation_mean_the_same(example: Example) -> None:
    rng = random.Random(example.name)
    more = [] if example.name in SLOW else [rng.randint(1, 6) for _ in range(runs(40))]
    for size in (3, *more):
        compare(example.text, rng, size)
