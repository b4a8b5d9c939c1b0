"""Every kind of query: what a record moves, the law of its noise, and how often its error holds.

One table of queries goes through three proofs. All tables of three rows and all their neighbours
give the largest change of the integers that get noise. Noise drawn by OpenDP has the scale computed
by hand here, and no other. Over 10,000 seeded runs no number is off by more than its error more
often than it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.mechanisms.gaussian import DiscreteGaussian
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.mechanisms.selection import ExponentialMechanism, PermuteAndFlip
from bayesdp.release import Study
from bayesdp.release.drawing.study_drawing import noisy
from bayesdp.release.price.plan import PlannedQuery
from bayesdp.release.results.result import QuantileResult
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import Total, run
from tests.chance import Chance, discrete_laplace, within
from tests.effort import in_full, runs
from tests.release.many_tables import values_of_each

Document = dict[str, Any]
GAUSSIAN: Document = {"delta": 1e-6, "noise": "gaussian"}
COLUMNS: Document = {
    "x": {"bounds": [-1.0, 2.0]},
    "y": {"bounds": [0.5, 3.0]},
    "w": {"bounds": [0.0, 2.0]},
    "s": {"states": ["a", "b", "c"]},
    "ill": {"states": [0, 1]},
    "g": {"public": True, "states": [1, 2]},
    "band": {"from": "x", "cuts": [0.0, 1.0]},
}
ROWS = [
    (-7.0, 0.5, 0.0, "a", 0),
    (-1.0, 9.0, 2.0, "b", 1),
    (0.5, 1.75, 1.0, "c", 1),
    (2.0, 3.0, 5.0, "b", 0),
    (1e308, -2.0, 2.0, "a", 1),
]
"""Cells at the ends, beyond them and between: of x, y, w, s and ill."""

QUERIES: dict[str, Document] = {
    "count": {"kind": "count", "where": "ill == 1"},
    "count by": {"kind": "count", "where": "ill == 1", "by": "g"},
    "sum": {"kind": "sum", "column": "x"},
    "sum where": {"kind": "sum", "column": "x", "where": "s != 'c'", "by": "g"},
    "mean": {"kind": "mean", "column": "x"},
    "mean by": {"kind": "mean", "column": "y", "by": "g"},
    "proportion": {"kind": "proportion", "where": "x > 0"},
    "histogram": {"kind": "histogram", "column": "s"},
    "bins": {"kind": "histogram", "column": "x", "bins": [-1.0, 0.0, 2.0], "by": "g"},
    "table": {"kind": "histogram", "column": ["s", "ill"]},
    "variance": {"kind": "variance", "column": "x"},
    "covariance": {"kind": "covariance", "column": ["x", "y"]},
    "regression": {"kind": "regression", "outcome": "y", "on": "x"},
    "median": {"kind": "median", "column": "x", "candidates": [-1.0, 0.5, 2.0]},
    "quantile": {"kind": "quantile", "probability": 0.9, "column": "x", "step": 0.5, "by": "g"},
    "weighted count": {"kind": "count", "where": "ill == 1", "weighted_by": "w"},
    "weighted sum": {"kind": "sum", "column": "x", "weighted_by": "w"},
    "weighted mean": {"kind": "mean", "column": "y", "weighted_by": "w"},
    "series": {"kind": "series", "by": "g", "where": "ill == 1"},
    "sums so far": {"kind": "series", "by": "g", "column": "x"},
    "tree": {"kind": "series", "column": "band", "strategy": "tree", "answers": "ranges"},
}
SHARES = {"variance": 2 / 3, "covariance": 2 / 3}
"""Of the price, how much the furthest two tables of three rows are apart; all of it for the rest.

A variance or covariance of N rows moves by (1 - 1/N) of its price, which is for any N. The furthest
moments of a regression are not among the rows here: `LEAST` of its price are.
"""
LEAST = {"regression": 0.85 if in_full() else 0.74}


def study(folder: Path, table: pd.DataFrame, queries: Sequence[Document], **budget: Any) -> Study:
    return Study(
        table,
        dataset="d",
        n=len(table),
        columns=COLUMNS | {"g": {"public": True, "states": sorted(set(table["g"].tolist()))}},
        population={"model": "independent", "covers": ["x", "y", "w", "s", "ill"], "source": "us"},
        budget={"epsilon": 1.0} | budget,
        queries=queries,
        ledger=str(folder / "ledger.db"),
    )


def frame(rows: Sequence[tuple[Any, ...]], groups: Sequence[int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["x", "y", "w", "s", "ill"]).assign(g=groups)


def planned(made: Study) -> tuple[list[PlannedQuery], dict[str, Total]]:
    queries = list(made.check().plan.queries)
    return queries, totals(made, queries, made._data.source)


def totals(made: Study, queries: Sequence[PlannedQuery], table: Any) -> dict[str, Total]:
    asked = [query.table_query() for query in queries]
    there = run(open_table(table, Path()), made.spec.columns, asked)
    return {query.name: there[query.name] for query in queries}


# -- what a record moves ---------------------------------------------------------------------------


def noised(query: PlannedQuery, groups: list[Any]) -> np.ndarray[Any, Any]:
    """The integers that get noise, a line for each group; of a quantile its candidates' scores."""
    if query.asked.series is not None:
        groups = [query.asked.series.used.sums([number for group in groups for number in group])]
    if query.asked.choice is not None:
        groups = [query.asked.choice.scores(group) for group in groups]
    return np.array(groups, dtype=object)


def apart(query: PlannedQuery, first: Any, second: Any, *, squared: bool) -> int:
    moved = abs(first - second)
    if query.asked.choice is not None:
        return int(moved.max())
    return int((moved**2).sum() if squared else moved.sum())


@pytest.mark.parametrize("budget", [{}, GAUSSIAN], ids=["laplace", "gaussian"])
def test_no_neighbour_is_further_than_priced_and_some_are_as_far(
    budget: Document, tmp_path: Path
) -> None:
    groups, used = [1, 1, 2], range(len(ROWS)) if in_full() else (0, 1, 3, 4)
    queries = [{"name": name} | query for name, query in QUERIES.items()]
    made = study(tmp_path, frame(ROWS[:3], groups), queries, **budget)
    plans = list(made.check().plan.queries)
    tables = list(product(used, repeat=3))
    frames = [frame([ROWS[i] for i in rows], groups) for rows in tables]
    integers = values_of_each(made.spec.columns, plans, frames)
    for place in (0, len(tables) // 2):  # and each table alone
        for name, total in totals(made, plans, frames[place]).items():
            assert integers[name][place] == list(total.values.values()), name
    neighbours = [
        (rows, (*rows[:place], new, *rows[place + 1 :]))
        for rows in tables
        for place in range(3)
        for new in used
        if new < rows[place]
    ]
    for query in plans:
        name, priced, squared = query.name, query.sensitivity, bool(budget)
        if query.asked.choice is not None and squared:
            priced, squared = math.isqrt(priced), False  # a choice moves by its largest score
        points = {
            rows: noised(query, values) for rows, values in zip(tables, integers[name], strict=True)
        }
        furthest = max(apart(query, points[a], points[b], squared=squared) for a, b in neighbours)
        assert furthest <= priced, name
        if name in LEAST:
            assert furthest >= LEAST[name] * priced, name
            continue
        share = SHARES.get(name, 1.0) ** (2 if squared else 1)
        assert furthest == pytest.approx(share * priced, rel=1e-6), name


# -- the law of its noise, by OpenDP ---------------------------------------------------------------

GROUPS, REPEATS, COST = 1000, 8, 0.5
DRAWS = GROUPS * REPEATS
EACH = 4
"""Rows of each group."""
OFF = (1.2, 0.83)
SCALES: dict[str, tuple[Document, float, float]] = {
    "count by": (QUERIES["count by"], 1.0, 1.0 / COST),
    "sum where": (QUERIES["sum where"], 0.0, 3.0 / COST),
    "mean by": (QUERIES["mean by"], 0.0, 2.5 / EACH / COST),
    "proportion by": ({"kind": "proportion", "where": "x > 0", "by": "g"}, EACH, 1.0 / COST),
    "histogram by": ({"kind": "histogram", "column": "ill", "by": "g"}, 1.0, 2.0 / COST),
    "weighted count by": (QUERIES["weighted count"] | {"by": "g"}, 0.0, 2.0 / COST),
    "weighted sum by": (QUERIES["weighted sum"] | {"by": "g"}, 0.0, 6.0 / COST),
    "periods": (
        QUERIES["series"] | {"answers": "periods", "strategy": "identity"},
        1.0,
        1.0 / COST,
    ),
    "sums of periods": (
        QUERIES["sums so far"] | {"answers": "periods", "strategy": "identity"},
        0.0,
        3.0 / COST,
    ),
}
"""A query, the whole steps of its noise in a unit of the value (0: too fine), and its scale.

Scales are computed by hand: the width of the bounds (of a product of x and w: from -2 to 4) or the
cells that a record moves, by the cost; in whole steps where there are any.
"""


def many(folder: Path, query: Document, cost: float = COST) -> tuple[PlannedQuery, Total]:
    """The plan and the integers of a query of many groups of four equal rows, x = y = 1, w = 2."""
    rows = [(1.0, 1.0, 2.0, "a", 1)] * (GROUPS * EACH)
    table = frame(rows, np.repeat(np.arange(GROUPS), EACH).tolist())
    made = study(folder, table, [{"name": "q"} | query], epsilon=cost)
    (plan,), there = planned(made)
    return plan, there["q"]


def inside(steps: float, scale: float, reach: float) -> float:
    """The probability of noise up to `reach`, in whole steps or in a grid too fine to be seen."""
    return within(discrete_laplace(scale), reach) if steps else -math.expm1(-reach / scale)


@pytest.mark.parametrize("name", SCALES)
def test_the_noise_has_its_scale_and_no_other(name: str, tmp_path: Path, chance: Chance) -> None:
    query, steps, scale = SCALES[name]
    plan, total = many(tmp_path, query)
    exact = {
        "count": EACH,
        "sum": EACH,
        "mean": 1.0,
        "proportion": 1.0,
        "weighted count": 2 * EACH,
        "weighted sum": 2 * EACH,
        "series": EACH,
    }
    kind = f"weighted {query['kind']}" if "weighted_by" in query else query["kind"]
    drawn = [
        result.value - (exact[kind] if kind != "histogram" else EACH * result.cell)
        for _ in range(REPEATS)
        for result in noisy(plan, total)
        if result.cell in (None, 1)
    ]
    noise = np.array(drawn) * (steps or 1.0)
    assert len(noise) == DRAWS
    assert not steps or np.allclose(noise, np.round(noise))
    reach = 1.6 * scale
    hits, true = int((np.abs(noise) <= reach + 1e-9).sum()), inside(steps, scale, reach)
    chance.expect(hits, DRAWS, true)
    for factor in OFF:
        chance.expect_not(hits, DRAWS, inside(steps, factor * scale, reach), true)
    positive = (1.0 - inside(steps, scale, 0.0)) / 2.0
    chance.expect(int((noise > 1e-9).sum()), DRAWS, positive)


def test_choices_of_a_quantile_have_their_odds_and_no_others(
    tmp_path: Path, chance: Chance
) -> None:
    """Two candidates: the wrong one is 2 ranks off, which a record moves by one.

    Permute-and-flip then takes it with probability exp(-2 cost / 2) / 2, computed by hand.
    """
    cost, repeats = 1.5, 3 * REPEATS
    asked = {"kind": "median", "column": "x", "candidates": [-1.0, 1.0], "by": "g"}
    plan, total = many(tmp_path, asked, cost)
    wrong = sum(result.value == -1.0 for _ in range(repeats) for result in noisy(plan, total))
    number, true = repeats * GROUPS, math.exp(-cost) / 2.0
    chance.expect(wrong, number, true)
    for factor in OFF:
        chance.expect_not(wrong, number, math.exp(-cost / factor) / 2.0, true)


# -- how often its error holds ---------------------------------------------------------------------


class Seeded:
    """In the place of OpenDP's samplers: the same laws, from a generator with a seed."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng = np.random.default_rng(seed)
        for law, draw in (
            (DiscreteLaplace, self._laplace),
            (DiscreteGaussian, self._gaussian),
        ):
            monkeypatch.setattr(law, "release", self._added(draw))
        for choice, draw in (
            (PermuteAndFlip, self.rng.exponential),
            (ExponentialMechanism, self.rng.gumbel),
        ):
            monkeypatch.setattr(choice, "choose", self._chosen(draw))

    def _added(self, draw: Callable[[float, int], Any]) -> Callable[..., list[int]]:
        def release(noise: Any, values: Sequence[int]) -> list[int]:
            drawn = draw(noise.scale, len(values))
            return [int(v) + int(z) for v, z in zip(values, drawn, strict=True)]

        return release

    def _laplace(self, scale: float, size: int) -> Any:
        p = -math.expm1(-1.0 / scale)
        return self.rng.geometric(p, size) - self.rng.geometric(p, size)

    def _gaussian(self, scale: float, size: int) -> Any:
        if scale > 1000.0:  # a normal number on so many steps can't be told from the discrete law
            return np.round(self.rng.normal(0.0, scale, size))
        reach = math.ceil(12 * scale) + 2
        points = np.arange(-reach, reach + 1)
        mass = np.exp(-(points**2) / (2.0 * scale**2))
        return self.rng.choice(points, size, p=mass / mass.sum())

    @staticmethod
    def _chosen(draw: Callable[..., Any]) -> Callable[..., int]:
        def choose(noise: Any, scores: Sequence[int]) -> int:
            return int(np.argmax(np.array(scores) + draw(scale=noise.scale, size=len(scores))))

        return choose


def ranks_off(answer: float, values: np.ndarray[Any, Any], probability: float) -> float:
    """How far the wanted rank is from those that the answer has among the values."""
    wanted = probability * len(values)
    below, up_to = (values < answer).sum(), (values <= answer).sum()
    return float(max(below - wanted, wanted - up_to, 0.0))


@pytest.mark.prove
@pytest.mark.parametrize("budget", [{}, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("name", QUERIES)
def test_errors_hold_as_often_as_they_say(
    name: str, budget: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an error half as large holds less often, but for quantiles and series, which round up."""
    rng, number = np.random.default_rng(6), runs(10_000)
    table = frame([ROWS[i] for i in rng.integers(len(ROWS), size=200)], [1, 2] * 100)
    made = study(tmp_path, table, [{"name": name} | QUERIES[name]], epsilon=0.5, **budget)
    plans, there = planned(made)
    Seeded(12, monkeypatch)
    most = 0.05 * number + 5.0 * math.sqrt(0.05 * 0.95 * number)
    for plan in plans:
        first = noisy(plan, there[plan.name])
        draws = [[r.value for r in noisy(plan, there[plan.name])] for _ in range(number)]
        if isinstance(first[0], QuantileResult):
            for place, result in enumerate(first):
                rows = table if result.group is None else table[table["g"] == result.group]
                values = np.sort(rows["x"].clip(-1.0, 2.0).to_numpy())
                wanted = QUERIES[name].get("probability", 0.5)
                reach = result.rank_error(0.95) + 1e-9
                off = np.array([ranks_off(d[place], values, wanted) for d in draws])
                assert (off > reach).sum() <= most, plan.name
            continue
        exact = exact_values(plan, there[plan.name], monkeypatch)
        off = np.abs(np.array(draws) - exact)
        errors = np.array([result.error(0.95) for result in first])
        misses = (off > errors * (1 + 1e-12)).sum(axis=0)
        assert (misses <= most).all(), (plan.name, misses)
        if plan.asked.series is None:
            assert ((off > errors / 2.0).sum(axis=0) > most).all(), plan.name


def exact_values(
    plan: PlannedQuery, total: Total, monkeypatch: pytest.MonkeyPatch
) -> np.ndarray[Any, Any]:
    """What a release would say without noise."""
    with monkeypatch.context() as without:
        for law in (DiscreteLaplace, DiscreteGaussian):
            without.setattr(law, "release", lambda _, values: [int(v) for v in values])
        return np.array([result.value for result in noisy(plan, total)])
