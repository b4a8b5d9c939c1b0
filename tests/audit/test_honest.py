"""Two hundred honest configurations, and no alarm: of all populations, mechanisms, queries, units.

All of them together raise a false alarm with the probability `ALARM` at most: each has a share of
it (Bonferroni). Noise is seeded, so the test passes or fails for good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.audit import EmpiricalBound, lower_bound
from bayesdp.audit.study import audit_plan
from bayesdp.audit.tables import ExactIntegers, released
from bayesdp.errors import Refusal, UnsupportedError
from bayesdp.release.drawing.study_drawing import noisy
from bayesdp.release.price.plan import Plan
from tests.audit.test_power import study
from tests.effort import in_full, runs
from tests.release import test_replay as replay
from tests.release.studies import random_study
from tests.release.test_every_kind import Seeded

Document = dict[str, Any]
Rng = np.random.Generator
Seen = tuple[float, EmpiricalBound]
"""A claim, and what was shown against it."""

ALARM = 1e-3
CONFIGURATIONS = 200
CONFIDENCE = 1.0 - ALARM / CONFIGURATIONS


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Seeded:
    monkeypatch.chdir(tmp_path)
    jobs = pd.DataFrame({"job": [1, 2], "risk": [0, 1], "dose": [-9.0, -1.0]})
    jobs.to_csv(tmp_path / "jobs.csv")
    return Seeded(9, monkeypatch)


def samples() -> int:
    return 2000 if in_full() else 1000


def audited(plan: Plan, rng: Rng, **more: Any) -> Seen:
    seen = audit_plan(plan, samples=samples(), confidence=CONFIDENCE, rng=rng, **more)
    return seen.claimed, seen.bound


# -- what is audited -------------------------------------------------------------------------------


def at_random(rng: Rng, seed: int) -> Seen:
    """Independent, clustered, unknown, Markov, Gaussian and autoregressive; rows and persons."""
    delta = {"delta": 1e-4} if seed % 4 == 0 else {}
    made = random_study(rng, Path("ledger.db"), seed, **delta)
    from_data = isinstance(made.spec.data.n, str)
    return audited(made._plan(8 if from_data else None), rng)


FACTORS = [[2.0, 1.0], [1.0, 2.0]]
"""Factors of two records whose odds ratio is 4."""
SERIES: Document = {"who": {"role": "series"}, "t": {"role": "order", "step": 1}}
HOME: Document = {"home": {"role": "cluster"}}
MODELS: tuple[tuple[Document | None, Document], ...] = (
    (None, {}),
    ({"model": "independent", "covers": ["s"]}, {}),
    ({"model": "clusters", "size": 2, "covers": ["s"]}, HOME),
    (
        {"model": "markov", "transition": [[0.8, 0.2], [0.3, 0.7]], "length": 4, "covers": ["s"]},
        SERIES,
    ),
    ({"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]], "covers": ["s"]}, HOME),
    (
        {
            "model": "graph",
            "records": 6,
            "states": 2,
            "factors": [{"between": [i, i + 1], "table": FACTORS} for i in range(5)],
            "covers": ["s"],
        },
        {},
    ),
)


def of_series(rng: Rng, seed: int) -> Seen:
    """Series by period and by private state, each strategy; quantiles at several places; caps."""
    population, columns = MODELS[seed % len(MODELS)]
    series = [
        {"kind": "series", "by": "g", "where": "s == 1"},
        {"kind": "series", "column": "s", "answers": "cumulative"},
        {"kind": "series", "column": "s", "answers": "ranges"},
    ]
    asked = dict(series[int(rng.integers(3))])
    asked["strategy"] = str(rng.choice(["auto", "tree", "identity"]))
    others: list[Document] = [
        {"kind": "quantile", "column": "s", "probability": 0.5},
        {"kind": "quantile", "column": "s", "probabilities": [0.25, 0.75], "by": "g"},
        {"kind": "histogram", "column": "s", "by": "g"},
        {"kind": "proportion", "where": "s == 1"},
    ]
    keys: Document = {"columns": columns, "budget": {"epsilon": float(rng.uniform(1.0, 4.0))}}
    if population is None and rng.random() < 0.7:
        keys["columns"] = columns | {"who": {"public": True}}
        keys |= {"unit": "who", "max_rows": 3}
        asked["max_rows"] = int(rng.integers(1, 4))
        others = others[2:3]
    if rng.random() < 0.3:
        keys["budget"] |= {"delta": 1e-4, "noise": "gaussian"}
    queries = [asked, others[int(rng.integers(len(others)))]]
    return audited(study(queries, population, **keys).check().plan, rng)


def of_panels(rng: Rng, seed: int) -> Seen:
    """Panels, whose clusters are drawn from a law of the class: its odds ratios are as declared."""
    length = int(rng.integers(2, 5))
    ratio = float(rng.uniform(1.2, 4.0))
    series = 1 if seed % 2 else 2
    panel = {"model": "panel", "series": series, "length": length, "own_previous": ratio}
    between = [[i, i + series] for i in range(series * (length - 1))]
    if series == 2:
        panel |= {"others_previous": 1.0, "others_now": ratio}
        between += [[2 * i, 2 * i + 1] for i in range(length)]
    table = [[ratio**0.5, 1.0], [1.0, ratio**0.5]]
    law = {
        "model": "graph",
        "records": series * length,
        "states": 2,
        "factors": [{"between": pair, "table": table} for pair in between],
        "covers": ["s"],
    }
    query = {"kind": "count", "where": "s == 1"} | ({"by": "g"} if seed % 3 == 0 else {})
    budget = {"epsilon": float(rng.uniform(1.0, 4.0)), "adversary": "any"}
    keys: Document = {"n": series * length, "budget": budget}
    plan = study([query], panel | {"covers": ["s"]}, columns=HOME | SERIES, **keys).check().plan
    true = study([query], law, **keys).spec.population
    return audited(plan, rng, population=true)


def as_replayed(rng: Rng, seed: int) -> Seen:
    """What `bayesdp audit` refuses: wide tables, joins, groups from the data; and survey weights.

    One query, and one by groups from the data if there is one: all of the budget is theirs. Of some
    tables that differ in one record the two are told apart that are furthest from each other.
    """
    record = list(replay.RECORDS)[seed % len(replay.RECORDS)]
    made = replay.study(rng, record, seed, changed=one_of_each)
    n = 5 if made.spec.data.unit == "who" else 9 if record == "a row" else None
    n = n or (18 if record == "a part" else 9)
    plan = made._plan(n)
    tables = []
    for _ in range(5):
        frame = replay.table(rng, record, replay.random_rows(rng, record))
        totals = replay.totals_of(made, plan, frame)
        tables.append((totals, replay.integers_of(plan, totals)))
    first, second = max(combinations(tables, 2), key=lambda pair: apart(plan, *pair))
    bound = lower_bound(
        sampler(plan, first[0]),
        sampler(plan, second[0]),
        samples=samples(),
        confidence=CONFIDENCE,
        delta=plan.delta,
    )
    return float(plan.level), bound


def one_of_each(asked: list[Document]) -> list[Document]:
    return [query for query in asked if query["name"] in ("q0", "shops")]


def apart(plan: Plan, first: Any, second: Any) -> float:
    """How far two tables are from each other: as parts of the sensitivities, added up."""
    squared = plan.dp_rho > 0.0
    moved = [
        replay.distance(query, *pair, squared=squared) / query.sensitivity
        for query, *pair in zip(plan.queries, first[1], second[1], strict=True)
    ]
    return sum(moved)


def sampler(plan: Plan, totals: list[Any]) -> Callable[[int], Any]:
    """Releases of one table, a row of numbers each."""

    def make(count: int) -> Any:
        columns = []
        for query, total in zip(plan.queries, totals, strict=True):
            if query.asked.from_data is not None:
                columns.append(np.array([shown(query, total) for _ in range(count)]))
                continue
            exact, alone = ExactIntegers(((total,),)), replace(plan, queries=(query,))
            columns.append(released(alone, exact, np.zeros(count, dtype=np.int64)))
        return np.concatenate(columns, axis=1)

    return make


def shown(query: Any, total: Any) -> list[float]:
    """The counts of the groups that are shown; -1 for the others."""
    results = {str(result.group): float(result.value) for result in noisy(query, total)}
    return [results.get(name, -1.0) for name in "klm"]


WAYS: dict[str, tuple[Callable[[Rng, int], Seen], int]] = {
    "random studies": (at_random, 90),
    "series": (of_series, 40),
    "panels": (of_panels, 22),
    "replayed": (as_replayed, 48),
}
"""How a configuration is made and attacked, and how many of them."""


def test_there_are_two_hundred() -> None:
    assert sum(many for _, many in WAYS.values()) == CONFIGURATIONS


@pytest.mark.prove
@pytest.mark.parametrize("name", WAYS)
def test_honest_configurations_raise_no_alarm(name: str) -> None:
    make, many = WAYS[name]
    seen: list[Seen] = []
    seed = 0
    while len(seen) < runs(many, least=2):
        seed += 1
        try:
            claimed, bound = make(np.random.default_rng(seed), seed)
        except (Refusal, UnsupportedError):
            assert seed < 4 * many
            continue
        seen.append((claimed, bound))
        assert not bound.exceeds(claimed), (name, seed, claimed, bound)
    # Attacks that show nothing would raise no alarm either. Small levels take more samples.
    large = [(claimed, bound) for claimed, bound in seen if claimed > 1.5]
    strong = [claimed for claimed, bound in large if bound.epsilon > 0.1 * claimed]
    assert len(strong) >= len(large) // 4
