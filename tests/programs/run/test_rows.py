"""Row expressions: exact where they must be, fast, and blind to the rows' order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayesdp.kernel.programs.rows import evaluate
from bayesdp.programs.ir import Expr
from bayesdp.programs.run import Machine, OpenDP, load
from tests.programs.run.helpers import accepted, done, rng, seen

WIDE = """
@record
class R:
    x: Real[-5, 5]
    k: Int[0, 3000]
    c: Category["a", "b", "c"]
    d: Category["u", "v"]
    t: Bool
    weight: Public[Real[0, 1]]
@program
def f(db: Database[R]) -> Private[tuple[Real, ...]]:
    values = (
        sum(abs(r.x) if r.c == "b" or not r.t else -r.x for r in db),
        sum(clip(r.k * 2 - 1, 0, 50) for r in db if r.c != "a" and r.x > 0.5),
        sum(min(r.x, 1) * max(r.x, 0, 0.25) + r.k / 3 for r in db),
        count(r for r in db if r.t == (r.c == "c")),
        sum(r.weight * r.x for r in db if r.weight >= 0.5),
    )
    found = [laplace(one, epsilon=1) for one in values]
    cells = laplace(sum(onehot(cross(r.c, r.d)) for r in db if r.x < 2), epsilon=1)
    return found + [cells[0], cells[5], sum(r.weight for r in db)]
"""


def _table(n: int) -> dict[str, object]:
    r = rng(3)
    return {
        "x": np.round(r.uniform(-6, 6, n), 2), "k": r.integers(0, 3001, n),
        "c": r.choice(["a", "b", "c"], n), "d": r.choice(["u", "v"], n), "t": r.random(n) < 0.4,
        "weight": r.random(n),
    }  # fmt: skip


def test_values_are_those_of_the_exact_evaluator() -> None:
    core, verdict = accepted(WIDE)
    n = 300
    table = _table(n)
    rows = load(core, table)
    machine = Machine(core, verdict, rows, OpenDP())
    kinds = dict(core.record)
    for release in core.body[:6]:
        expr = machine.values.filled(release.args[0])  # type: ignore[union-attr]
        got = machine.private.amount(expr).totals
        exact = [Fraction(0)] * len(got)
        data = expr.args[0]
        group = data.args[1] if expr.op == "sum" else Expr("const", (), (Fraction(1),))
        for i in range(n):
            row = {
                name: kind.labels[int(rows.columns[name][i])] if kind.labels
                else bool(rows.columns[name][i]) if kind.kind == "bool"
                else Fraction(float(rows.columns[name][i]))
                for name, kind in kinds.items()
            }  # fmt: skip
            if evaluate(data.args[0], row, kinds):
                actual = evaluate(group, row, kinds)
                parts = actual if isinstance(actual, tuple) else (Fraction(actual),)  # type: ignore[arg-type]
                exact = [a + b for a, b in zip(exact, parts, strict=True)]
        for a, b in zip(got, exact, strict=True):
            assert float(a) == pytest.approx(float(b), abs=n * 2e-6)
            if expr.op == "count" or group.op == "onehot":
                assert a == b


def test_a_million_rows_are_summed_in_arrays() -> None:
    core, verdict = accepted(WIDE)
    rows = load(core, _table(10**6))
    machine = Machine(core, verdict, rows, OpenDP())
    machine.run()
    assert machine.released


def test_the_order_of_rows_does_not_matter() -> None:
    core, verdict = accepted(WIDE)
    table = _table(1000)
    turned = rng(1).permutation(1000)
    other = {name: np.asarray(cells)[turned] for name, cells in table.items()}
    assert seen(core, verdict, table) == seen(core, verdict, other)
    assert done(core, verdict, table).exact == done(core, verdict, other).exact


def test_branches_pieces_and_derived_values() -> None:
    core, verdict = accepted("""
@record
class R:
    x: Int[0, 9]
    region: Public[Category["n", "s"]]
@program
def f(db: Database[R]) -> Private[tuple[Int, Real, Real, Real]]:
    many = laplace(count(r for r in db if r.x > 4), epsilon=0.25)
    if many > 2:
        found = laplace(sum(r.x for r in db), epsilon=0.5)
    else:
        found = laplace(count(r for r in db if r.x == 0), epsilon=0.5)
    sums = [laplace(sum(r.x for r in part), epsilon=0.5) / max(part.size, 1)
        for part in partition(db, by="region")]
    return many, found, sums[0], sums[1]
""")
    assert verdict.dp_epsilon == Fraction(5, 4)
    table = {"x": [9, 8, 7, 0, 0], "region": ["n", "s", "n", "n", "s"]}
    assert tuple(done(core, verdict, table)) == (3, 24, 16 / 3, 4)
    table = {"x": [9, 0, 0, 0, 0], "region": ["s", "s", "s", "s", "s"]}
    # There is nobody in the north.
    assert tuple(done(core, verdict, table)) == (1, 4, 0, 9 / 5)


def test_folds_are_what_they_say() -> None:
    core, verdict = accepted("""
@record
class R:
    x: Int[0, 3]
    t: Bool
@helper
def step(so_far, r):
    return clip(so_far + (r.x if r.t else -r.x), 0, 4)
@program
def f(db: Database[R]) -> Private[Real]:
    return laplace(fold(db, 1, step), epsilon=1)
""")
    table = {"x": [3, 3, 1], "t": [True, True, False]}
    assert done(core, verdict, table).value == 3  # 1, 4, 4, 3: the rows' order counts


def test_released_numbers_stay_exact() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Real[0, 1]]) -> Private[tuple[Real, Real]]:
    total = laplace(sum(db), epsilon=1)
    return total, (total + 1) / 3
""")
    actual = done(core, verdict, [0.5, 0.25])
    assert actual.exact == (Fraction(3, 4), Fraction(7, 12))
    assert actual.outputs == (0.75, 7 / 12)


def test_a_candidate_stands_in_public_sums_too() -> None:
    """Those are evaluated once the candidate has been written into them."""
    text = """
@record
class P:
    x: Public[Real[0, 1]]
    y: Real[0, 1]
@program
def f(db: Database[P]) -> Private[Real]:
    return exponential(score=lambda t: SCORE, candidates=linspace(0, 1, 5), epsilon=1)
"""
    table = {"x": [0.2, 0.7, 0.8], "y": [0.1, 0.5, 0.9]}
    score = "-abs(count(p for p in db if p.y <= t) - count(p for p in db if p.x <= t))"
    core, verdict = accepted(text.replace("SCORE", score))
    ((_, scores, _),) = seen(core, verdict, table)
    # y <= t: 0, 1, 2, 2, 3; x <= t: 0, 1, 1, 2, 3.
    assert scores == (0, 0, -1, 0, 0)
