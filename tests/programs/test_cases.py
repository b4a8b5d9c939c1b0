"""The rule `cases` against brute force and an oracle, and what the interpreter sums against it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from bayesdp.kernel.programs.cases import MOST_BRANCHES, branches, cases
from bayesdp.kernel.programs.ranges import AdjacencyContext, admitted
from bayesdp.kernel.programs.reading import read_program
from bayesdp.kernel.programs.rows import Entry, linear
from bayesdp.kernel.programs.sensitivities import interval_width
from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import Expr, Program, Type, plain
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.values.private import PrivateValues
from bayesdp.programs.run.values.public import PublicValues
from tests.effort import runs
from tests.kernel.programs import True_, number, pick
from tests.oracles.program_checker import cases as oracle
from tests.oracles.program_checker.intervals import Context
from tests.oracles.program_checker.sensitivity import AdjacencyContext as OracleWorld
from tests.oracles.program_checker.sensitivity import entries as oracle_entries
from tests.programs.probes import core
from tests.programs.run.helpers import accepted, seen

Rng = np.random.Generator
THIRD = Fraction(1, 3)
COLUMNS = {
    "p": Type("category", Fraction(0), Fraction(1), ("s", "t"), public=True),
    "c": Type("category", Fraction(0), Fraction(2), ("u", "v", "w")),
    "b": Type("bool", Fraction(0), Fraction(1)),
    "z": Type("int", Fraction(0), Fraction(3)),
    "x": Type("real", Fraction(-2), Fraction(3)),
    "q": Type("real", Fraction(1), Fraction(2), public=True),
}
TRIED: dict[str, list[Any]] = {
    "p": ["s", "t"], "c": ["u", "v", "w"], "b": [False, True], "z": [Fraction(i) for i in range(4)],
    "x": [Fraction(i, 2) for i in (-4, -1, 0, 2, 3, 6)], "q": [Fraction(i, 2) for i in (2, 3, 4)],
}  # fmt: skip


class Maker:
    """A random private value with many conditions, over a few of the columns."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        names = [str(item) for item in rng.permutation(sorted(COLUMNS))[: int(rng.integers(2, 5))]]
        self.names = sorted({*names, "x"})

    def field(self, *names: str) -> Expr | None:
        known = [name for name in names if name in self.names]
        return Expr("field", (), (pick(self.rng, known),)) if known else None

    def number(self, depth: int = 2) -> Expr:
        chance = self.rng.random()
        if depth and chance < 0.35:
            return Expr("if", (self.truth(), self.number(depth - 1), self.number(depth - 1)))
        if depth and chance < 0.6:
            op = pick(self.rng, ("add", "sub", "mul", "neg", "abs", "max", "mul"))
            parts = [self.number(depth - 1) for _ in range(1 if op in ("neg", "abs") else 2)]
            if op == "mul" and self.rng.random() < 0.5:
                parts[0] = self.truth()
            return Expr(op, tuple(parts))
        if chance < 0.75:
            return number(pick(self.rng, (0, 1, -1, 2, THIRD)))
        actual = self.field("x", "x", "q", "z", "b")
        assert actual is not None
        return actual

    def truth(self, depth: int = 1) -> Expr:
        chance = self.rng.random()
        if depth and chance < 0.3:
            op = pick(self.rng, ("and", "or", "not"))
            return Expr(op, tuple(self.truth(0) for _ in range(1 if op == "not" else 2)))
        label = self.field("p", "c")
        if label is not None and chance < 0.7:
            labels = COLUMNS[str(label.data[0])].labels
            text = Expr("const", (), (pick(self.rng, labels),))
            return Expr(pick(self.rng, ("eq", "ne")), (label, text))
        if "b" in self.names and chance < 0.8:
            return Expr("field", (), ("b",))
        held = self.field("x", "x", "z", "q")
        assert held is not None
        limit = pick(self.rng, (1, Fraction(3, 2)))
        sides = (held, number(limit))
        if self.rng.random() < 0.2:
            sides = sides[::-1]
        return Expr(pick(self.rng, ("le", "gt", "lt", "ge")), sides)

    def summed(self) -> Expr:
        kept = self.truth() if self.rng.random() < 0.6 else Expr("const", (), (True,))
        inside = ()
        if "p" in self.names and self.rng.random() < 0.2:
            inside = (("p", "t"),)
        op, value = ("count", number(1)) if self.rng.random() < 0.3 else ("sum", self.number())
        whole = Expr(op, (Expr("data", (kept, value), (inside,)),))
        if "c" in self.names and self.rng.random() < 0.1:
            cells = Expr("onehot", (Expr("field", (), ("c",)),), (Fraction(3),))
            vector = Expr("sum", (Expr("data", (kept, cells), (inside,)),))
            whole = Expr("item", (vector,), (Fraction(int(self.rng.integers(3))),))
        return whole

    def value(self) -> Expr:
        parts = []
        for _ in range(int(self.rng.integers(1, 4))):
            item = self.summed()
            for _ in range(int(self.rng.integers(0, 3))):
                other = self.summed() if self.rng.random() < 0.6 else item
                if self.rng.random() < 0.3:
                    other = Expr("mul", (number(THIRD), other))
                item = Expr(pick(self.rng, ("add", "sub")), (item, other))
            parts.append(item)
        return Expr("tuple", tuple(parts))


def program(value: Expr, adjacency: str, names: Any = COLUMNS) -> Program:
    made = core("laplace(sum(r.x for r in db), epsilon=1)")
    record = tuple((name, COLUMNS[name]) for name in names)
    return Program(
        "random", adjacency, "db", record, False, (), (), (), (value,), ("Vector",),  # type: ignore[arg-type]
        None, None, made.source_hash,
    )  # fmt: skip


def context(adjacency: str) -> AdjacencyContext:
    nothing = Expr("const", (), (Fraction(0),))
    return AdjacencyContext(
        read_program(plain(program(nothing, adjacency))), admitted(()), adjacency
    )


def entries(value: Expr, at: AdjacencyContext) -> list[Entry]:
    actual = linear(value, at)
    assert actual is not None
    return actual


def by_oracle(value: Expr, norm: str, adjacency: str) -> Fraction | None:
    at = OracleWorld(adjacency, Context(COLUMNS, {}), lambda *_: Fraction(0))  # type: ignore[arg-type]
    return oracle.cases(oracle_entries(value, at) or [], norm, at)  # type: ignore[arg-type]


class Exact(True_):
    """With entries of vectors."""

    def value(self, expr: Expr, candidate: Fraction | None = None) -> Any:
        if expr.op == "item":
            return self.value(expr.args[0])[int(expr.data[0])]  # type: ignore[arg-type]
        return super().value(expr, candidate)


def brute(value: Expr, names: list[str], adjacency: str, norm: str) -> float:
    """The largest move over all pairs of the rows that are tried."""
    groups: dict[tuple[Any, ...], set[tuple[float, ...]]] = {}
    made = program(value, adjacency)
    rest = {name: TRIED[name][0] for name in COLUMNS}
    for values in product(*(TRIED[name] for name in names)):
        row = rest | dict(zip(names, values, strict=True))
        actual = tuple(float(case) for case in Exact(made, [row]).value(value))
        groups.setdefault((row["p"], row["q"]), set()).add(actual)
    worst = 0.0
    for item in groups.values():
        rows = np.array(sorted(item))
        others = rows if adjacency == "replace-one" else np.zeros((1, rows.shape[1]))
        moves = np.abs(rows[:, None, :] - others[None, :, :])
        worst = max(worst, float((moves if norm == "l1" else moves**2).sum(-1).max()))
    return worst


@pytest.mark.prove
def test_no_pair_of_rows_moves_further() -> None:
    """Rule and oracle; often the bound is reached, and often it is below the box."""
    rng = np.random.default_rng(8)
    applied = reached = sharper = 0
    for _ in range(runs(1500)):
        maker = Maker(rng)
        value = maker.value()
        adjacency = pick(rng, ("replace-one", "replace-one", "add-remove"))
        norm = pick(rng, ("l1", "l2"))
        row = entries(value, context(adjacency))
        claimed = cases(row, norm, context(adjacency))
        if claimed is None:
            continue
        applied += 1
        again = by_oracle(value, norm, adjacency)
        assert again is None or claimed <= again
        true = brute(value, maker.names, adjacency, norm)
        assert true <= float(claimed) + 1e-9, (value, adjacency, norm)
        reached += true >= float(claimed) - 1e-9
        sharper += claimed < interval_width(row, norm, context(adjacency))
    assert applied > runs(1500) * 0.6
    assert reached > applied / 2
    assert sharper > applied / 3


# -- what is summed -------------------------------------------------------------------------------

ODD = (
    Fraction(1, 10), THIRD, Fraction(10**20), Fraction(-(10**20)), Fraction(1, 10**9), Fraction(3),
)  # fmt: skip


class Odd(Maker):
    """With numbers that doubles round, cancel and lose."""

    def number(self, depth: int = 2) -> Expr:
        actual = super().number(depth)
        if depth and self.rng.random() < 0.3:
            op = pick(self.rng, ("add", "mul", "sub"))
            actual = Expr(op, (actual, number(pick(self.rng, ODD))))
        return actual

    def truth(self, depth: int = 1) -> Expr:
        actual = super().truth(depth)
        if actual.op in ("le", "gt", "lt", "ge") and self.rng.random() < 0.5:
            left = Expr("mul", (actual.args[0], number(Fraction(1, 10))))
            right = Expr("mul", (actual.args[1], number(Fraction(1, 10))))
            return Expr(actual.op, (left, right))
        return actual


def tables(rng: Rng, count: int = 12) -> Iterator[dict[str, Any]]:
    """Single rows as the interpreter holds them, reals anywhere between their ends."""
    for _ in range(count):
        yield {
            "p": int(rng.integers(2)), "c": int(rng.integers(3)), "b": bool(rng.integers(2)),
            "z": int(rng.integers(4)), "q": float(pick(rng, (1.0, 1.5, 2.0, rng.uniform(1, 2)))),
            "x": float(pick(rng, (-2.0, 3.0, 1.0, 1.5, rng.uniform(-2, 3)))),
        }  # fmt: skip


def summed(made: Program, rows: list[dict[str, Any]]) -> tuple[tuple[Fraction, ...], Fraction]:
    held = {name: np.array([row[name] for row in rows]) for name in COLUMNS}
    values = PublicValues(made, Rows(held, len(rows)))
    actual = PrivateValues(values).amount(values.filled(made.returns[0]))
    return actual.values, actual.slack


@pytest.mark.prove
def test_what_is_summed_moves_no_further() -> None:
    """The interpreter's own sums, in exact fractions: a bound that is by `cases` holds of them."""
    rng = np.random.default_rng(9)
    compared = 0
    for _ in range(runs(1000)):
        value = Odd(rng).value()
        row = entries(value, context("replace-one"))
        claimed = cases(row, "l1", context("replace-one"))
        if claimed is None:
            continue
        made = program(value, "replace-one")
        some = list(tables(rng))
        other = some[0]
        for item in some[1:]:
            two = {**some[int(rng.integers(len(some)))], "p": item["p"], "q": item["q"]}
            (a, slack), (b, _) = (summed(made, [row, other]) for row in (item, two))
            moved = sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0))
            assert moved <= claimed + slack, (value, item, two)
            compared += moved > 0
    assert compared > runs(1000)


# -- single values ---------------------------------------------------------------------------------

APART = "laplace((sum(r.x for r in db if r.p == 'north'), sum(r.x for r in db if r.p == 'south'))"
PINNED = {
    "two public halves": (f"{APART}, epsilon=1)", "Vector", 10),
    "their difference": (
        'laplace(sum(r.x for r in db if r.p == "north") - sum(r.x for r in db if r.p == "south"), '
        "epsilon=1)", "Real", 10),
    "signed": ('laplace(sum(r.x if r.p == "north" else -r.x for r in db), epsilon=1)', "Real", 10),
    "a truth value as a factor": (
        'laplace(sum((r.p == "north") * r.x for r in db) + sum((r.p == "south") * r.x for r in db),'
        " epsilon=1)", "Real", 10),
    "a real column cut in two": (
        "laplace(count(r for r in db if r.x <= 0) - count(r for r in db if r.x > 0), epsilon=1)",
        "Real", 2),
    "all of a real column": (
        "laplace(count(r for r in db if r.x <= 0) + count(r for r in db if r.x > 0), epsilon=1)",
        "Real", 0),
    "a sum less itself, where some count": (
        "laplace(sum(r.x for r in db) - sum(r.x for r in db if r.b), epsilon=1)", "Real", 10),
    "a public number where some count": (
        "laplace(sum(r.q for r in db if r.b), epsilon=1)", "Real", 4),
    "a public number less itself": (
        "laplace(2 * sum(r.q for r in db) - sum(r.q for r in db if r.b), epsilon=1)", "Real", 4),
    "cells beside a sum of some": (
        'cells = sum(onehot(r.c) for r in db)\n'
        'laplace((cells[0], sum(r.x for r in db if r.c == "v")), epsilon=1)', "Vector", 10),
    "private halves": (
        "laplace((sum(r.x for r in db if r.b), sum(r.x for r in db if not r.b)), epsilon=1)",
        "Vector", 16),
    "tenths of whole numbers": (  # 3 * 0.1 > 0.3 in doubles: not looked into
        "laplace(sum(r.x for r in db if r.y * 0.1 > 0.3) - sum(r.x for r in db if "
        "r.y * 0.1 <= 0.3), epsilon=1)", "Real", 20),
}  # fmt: skip


@pytest.mark.parametrize("name", PINNED)
def test_pinned(name: str) -> None:
    body, returns, expected = PINNED[name]
    made = core(body, returns=returns)
    verdict = check(made)
    assert verdict.verdict == "ACCEPTED", verdict.reason
    moved = verdict.derivation["sequence"][0]["sensitivity"]
    assert moved["value"] == ["const", [], [{"number": str(expected)}]]
    assert moved["by"] == ("box" if name.startswith("tenths") else moved["by"])


def test_choices_are_one_number_and_few() -> None:
    """In every row the conditions of exactly one branch hold, and its value is the number's."""
    rng, at = np.random.default_rng(10), context("replace-one")
    for _ in range(runs(2000)):
        maker = Maker(rng)
        value = maker.number(3)
        actual = branches(value, COLUMNS)
        assert 1 <= len(actual) <= MOST_BRANCHES
        for _ in range(5):
            row = {name: pick(rng, TRIED[name]) for name in COLUMNS}
            true = True_(program(value, "replace-one"), [row])
            held = [
                chosen
                for conditions, chosen in actual
                if all(bool(true.of_row(test, row)) == so for test, so in conditions)
            ]
            assert len(held) == 1
            assert Fraction(true.of_row(held[0], row)) == Fraction(true.of_row(value, row))
            inside, around = (at.range(item) for item in (held[0], value))
            assert around.low <= inside.low <= inside.high <= around.high


def test_too_many_cases_say_nothing() -> None:
    several = " or ".join(f"r.x > {i} / 10" for i in range(20))
    made = core(f"laplace(sum(r.x for r in db if {several}), epsilon=1)")
    assert check(made).derivation["sequence"][0]["sensitivity"]["by"] == "box"


# -- where doubles and fractions part --------------------------------------------------------------


def column(name: str) -> Expr:
    return Expr("field", (), (name,))


def call(op: str, *args: Expr) -> Expr:
    return Expr(op, args)


def total(value: Expr, kept: Expr | None = None) -> Expr:
    always = Expr("const", (), (True,))
    return Expr("sum", (Expr("data", (kept or always, value), ((),)),))


def claims(value: Expr) -> tuple[Fraction | None, Fraction | None]:
    at = context("replace-one")
    return cases(entries(value, at), "l1", at), by_oracle(value, "l1", "replace-one")


ABOVE = call("gt", column("x"), number(1))


@pytest.mark.parametrize(
    "condition",
    [
        call("gt", call("mul", column("z"), number(Fraction(1, 10))), number(Fraction(3, 10))),
        call("ge", column("z"), number(1 + Fraction(1, 10**20))),
        call("eq", call("div", column("z"), number(3)), number(THIRD)),
        call("le", number(THIRD), number(THIRD + Fraction(1, 10**15))),
    ],
)
def test_what_may_be_looked_up_or_not_is_not_looked_into(condition: Expr) -> None:
    """z = 3 is above in doubles and not in fractions: sums would differ."""
    looked_up = total(number(1), condition)
    rounded = total(number(1), call("and", condition, call("ge", column("x"), number(-2))))
    assert claims(call("sub", looked_up, rounded)) == (None, None)


@pytest.mark.parametrize("limit", [Fraction(3, 10), THIRD, 2 + Fraction(1, 2**51), Fraction(2)])
def test_whole_numbers_compare_with_literals_as_they_are(limit: Fraction) -> None:
    condition = call("ge", column("z"), number(limit))
    parts = (total(column("x"), condition), total(column("x"), call("not", condition)))
    assert claims(call("tuple", parts[0], call("neg", parts[1]))) == (6, 6)
    for z in range(4):
        kept = summed(program(call("tuple", *parts), "replace-one"), [ROW | {"z": z}])[0]
        assert kept == ((3, 0) if z >= limit else (0, 3))


def test_a_rounded_value_is_not_the_one_looked_up() -> None:
    third = call("div", column("z"), number(3))
    assert claims(call("sub", total(third), total(third, ABOVE))) == (2, 2)
    assert claims(call("sub", total(column("z")), total(column("z"), ABOVE))) == (3, 3)
    both = call("mul", call("div", column("z"), number(3)), column("x"))  # rounded in either sum
    assert claims(call("sub", total(both), total(both, ABOVE))) == (5, 5)


def bins(*ends: Any, closed: str = "lt") -> Expr:
    x = column("x")
    counts = [
        total(number(1), call("and", call("le", number(low), x), call(closed, x, number(high))))
        for low, high in pairwise(ends)
    ]
    return call("tuple", *counts)


def test_a_number_lies_in_one_bin() -> None:
    assert claims(bins(-2, -1, 0, 1, 3)) == (2, 2)
    # At an end there are two, and so 4 where one such row takes the place of another.
    assert claims(bins(-2, -1, 0, 1, 3, closed="le")) == (4, 4)
    # No case is left out where ends are one double: 1 lies in all three.
    near = 1 + Fraction(1, 10**20)
    assert claims(bins(-2, 1, near, 3, closed="le")) == (3, 3)
    both = call("tuple", total(number(1), call("le", number(near), column("x"))),
              total(number(1), call("le", column("x"), number(1))))  # fmt: skip
    assert claims(both)[0] == claims(both)[1]
    item, two = (ROW | {"x": value} for value in (1.0, 3.0))
    assert moved(both, item, two) <= claims(both)[0]  # type: ignore[operator]


@pytest.mark.parametrize("first", ["gt", "lt"])
def test_a_whole_number_lies_between_literals_of_one_double(first: str) -> None:
    """No such column is run, but a certificate is about the numbers as they are."""
    low, high = number(2**53), number(2**53 + 1)
    sides = (column("x"), low) if first == "gt" else (low, column("x"))
    value = total(number(5), call("and", call(first, *sides), call("le", column("x"), high)))
    kind = Type("int", Fraction(0), Fraction(2**60))
    made = replace(program(value, "replace-one"), record=(("x", kind),))
    at = AdjacencyContext(read_program(plain(made)), admitted(()), "replace-one")
    # The row 2^53 + 1 in the place of the row 0.
    assert cases(entries(value, at), "l1", at) == 5


def test_cases_of_ordered_ends_are_those_that_are() -> None:
    """Thresholds in any order, open and closed, weighed: the claim is the truth."""
    rng = random.Random(20261128)
    points = [Fraction(item, 2) for item in range(-4, 7)]
    for _ in range(runs(300)):
        entries_, tests = [], []
        for _ in range(rng.randint(1, 3)):
            sides = []
            for _ in range(rng.randint(1, 2)):
                end = number(rng.choice(points[1::2]))
                op = rng.choice(["lt", "le", "gt", "ge"])
                pair = (column("x"), end) if rng.random() < 0.5 else (end, column("x"))
                sides.append(call(op, *pair))
            test = sides[0] if len(sides) == 1 else call(rng.choice(["and", "or"]), *sides)
            tests.append(test)
            weight = rng.choice([-2, -1, 1, 3])
            entries_.append(call("mul", number(weight), total(number(1), test)))
        value = call("tuple", *entries_)
        truth = 0.0
        made = program(value, "replace-one")
        rows = [
            np.array([float(e) for e in Exact(made, [ROW | {"x": x}]).value(value)]) for x in points
        ]
        truth = max(float(np.abs(a - b).sum()) for a in rows for b in rows)
        claimed, again = claims(value)
        assert claimed == again
        if claimed is not None:
            assert float(claimed) == truth


def moved(value: Expr, item: dict[str, Any], two: dict[str, Any]) -> Fraction:
    made = program(value, "replace-one")
    (a, slack), (b, _) = (summed(made, [row]) for row in (item, two))
    assert slack == 0
    return sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0))


ROW = {"p": 0, "c": 0, "b": True, "z": 1, "x": 3.0, "q": 2.0}


def test_each_choice_stays_inside_its_own_bounds() -> None:
    """5 x + 1e17 - 1e17 is -16 or 16 in doubles, and 1000 q allows that for the whole."""
    far = number(10**17)
    lost = call("sub", call("add", call("mul", number(5), column("x")), far), far)
    north = call("eq", column("p"), Expr("const", (), ("s",)))
    value = total(call("if", north, lost, call("mul", number(1000), column("q"))))
    assert claims(value) == (25, 25)
    assert 0 < moved(value, ROW, ROW | {"x": -2.0}) <= 25


@pytest.mark.parametrize("ops", [("le", "gt"), ("lt", "ge"), ("eq", "ne")])
def test_one_of_two_opposites_holds_even_of_no_number(ops: tuple[str, str]) -> None:
    huge = column("x")
    for _ in range(3):
        huge = call("mul", huge, number(10**110))
    none = call("sub", huge, call("add", huge, column("q")))  # infinity less infinity for x = 3
    value = call("add", *(total(number(1), Expr(op, (none, number(0)))) for op in ops))
    assert claims(value) == (0, 0)
    assert moved(value, ROW, ROW | {"x": 0.0}) == 0


TWO_WAYS = {
    "a vector's entry and an entry's sum": """
        a = sum(p.i * onehot(1 if p.x > 0.5 else 0, 2) for p in db)[0]
        b = sum((p.i * onehot(1 if p.x > 0.5 else 0, 2))[0] for p in db)
""",
    "an entry beside another number": """
        a = sum((p.x, (p.i * onehot(1 if p.x > 0.5 else 0, 2))[0]) for p in db)[1]
        b = sum(p.i * onehot(1 if p.x > 0.5 else 0, 2) for p in db)[0]
""",
    "a cell that doubles can't compute": """
        w = {huge} - {huge}
        a = sum(onehot(clip({huge} - {huge}, 0, 3), 4) for p in db)[0]
        b = sum(onehot(clip({huge} - {huge}, 0, 3), 4)[0] for p in db)
""".replace("        w = {huge} - {huge}\n", "").replace(
        "{huge}", "(((((p.w ** 2) ** 2) ** 2) ** 2) ** 2)"
    ),
}


@pytest.mark.parametrize("name", TWO_WAYS)
@pytest.mark.parametrize("rest", ["", " + sum(p.x for p in db)"])
def test_one_number_summed_in_two_ways_is_two(name: str, rest: str) -> None:
    """They differ by rounding (or more): noise is scaled by what a record moves in the machine."""
    lines = "".join(
        f"    {splitline.strip()}\n" for splitline in TWO_WAYS[name].strip().splitlines()
    )
    core, verdict = accepted(
        f"""
@record
class P:
    i: Int[0, {2**50}]
    x: Real[0, 1]
    w: Int[{-(2**53)}, {2**53}]
@program
def f(db: Database[P]) -> Private[Real]:
{lines}    return laplace(a - b{rest}, epsilon=1)
"""
    )
    actual = []
    for i, x, w in ((0, 0.0, 5), (12345, 0.0, 5), (12345, 1.0, 2**53), (7, 0.25, 2**53)):
        table = {"i": [3, i], "x": [0.0, x], "w": [5, w]}
        actual.append(seen(core, verdict, table))
    assert all(len(case) == 1 for case in actual), "a private value without noise"
    for (item,), (other,) in product(actual, repeat=2):
        assert item[2] == other[2]
        assert abs(item[1][0] - other[1][0]) <= item[2]


def test_vectors_with_factors_are_looked_up() -> None:
    core, verdict = accepted(
        """
@record
class P:
    c: Category["u", "v"]
    i: Int[0, 3]
@program
def f(db: Database[P]) -> Private[Vector]:
    return laplace(sum(p.i * onehot(p.c) - 2 * onehot(p.c) for p in db), epsilon=1)
"""
    )
    item = seen(core, verdict, {"c": ["u", "v", "v"], "i": [3, 0, 1]})
    two = seen(core, verdict, {"c": ["u", "v", "u"], "i": [3, 0, 3]})
    assert (item[0][1], two[0][1]) == ((1, -3), (2, -2))
