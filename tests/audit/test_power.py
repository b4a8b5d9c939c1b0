"""Planted faults are caught within stated numbers of samples. Honest studies: `test_honest`.

The faults are put into the functions that releases run; the auditor isn't told. Samplers of noise
are seeded, so that a test fails or passes for good (`tests.release.test_every_kind.Seeded`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp.audit import lower_bound
from bayesdp.audit.study import StudyAudit, audit_plan, audit_study
from bayesdp.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    RandomizedResponse,
    randomized_response,
)
from bayesdp.release import Study
from bayesdp.release.price.noise import NOISES
from bayesdp.tables.cells import reading
from bayesdp.tables.checks.record_rows import RowOrder
from bayesdp.tables.queries.grid import Grid
from tests.release.test_every_kind import Seeded

Document = dict[str, Any]
SAMPLES = 20_000
"""Of each hypothesis: half choose an event, half estimate it."""


def study(queries: list[Document], population: Document | None = None, **keys: Any) -> Study:
    columns: Document = {
        "x": {"bounds": [0.0, 1.0]},
        "s": {"states": [0, 1]},
        "g": {"public": True, "states": [1, 2]},
    }
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    budget: Document = {"epsilon": 1.0} | keys.pop("budget", {})
    if population is None:
        budget |= {"notion": "dp"}
    return Study(
        None,
        dataset="d",
        n=keys.pop("n", 6),
        columns=columns | keys.pop("columns", {}),
        population=population,
        budget=budget,
        queries=named,
        ledger="nowhere.db",
        **keys,
    )


def audited(made: Study, samples: int = SAMPLES) -> StudyAudit:
    return audit_study(made, samples=samples, rng=np.random.default_rng(1))


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Seeded:
    monkeypatch.chdir(tmp_path)
    return Seeded(3, monkeypatch)


COUNT = {"kind": "count", "where": "s == 1"}
OTHER = {"kind": "count", "where": "x > 0.5"}
BY = COUNT | {"by": "g"}
SUM = {"kind": "sum", "column": "x"}
Patch = pytest.MonkeyPatch


def noise_is_too_small(patch: Patch, seeded: Seeded) -> None:
    patch.setattr(
        DiscreteLaplace,
        "release",
        lambda self, values: [
            int(v + z)
            for v, z in zip(values, seeded._laplace(0.8 * self.scale, len(values)), strict=True)
        ],
    )


def a_group_has_no_noise(patch: Patch, seeded: Seeded) -> None:
    """The first of two groups: the records in it are unprotected."""
    honest = DiscreteLaplace.release

    def release(self: DiscreteLaplace, values: Any) -> list[int]:
        return [
            v if i % 2 == 0 else z
            for i, (v, z) in enumerate(zip(values, honest(self, values), strict=True))
        ]

    patch.setattr(DiscreteLaplace, "release", release)


def nothing_is_clipped(patch: Patch, seeded: Seeded) -> None:
    honest = reading._finished
    patch.setattr(
        reading,
        "_finished",
        lambda cells, column: honest(cells, column.model_copy(update={"bounds": None})),
    )

    def to_ibis(self: Grid, x: Any) -> Any:
        distance = x if self.masked else x - self.lo
        return (distance * self.factor).floor().cast("int64")

    patch.setattr(Grid, "to_ibis", to_ibis)


def noise_is_in_floating_point(patch: Patch, seeded: Seeded) -> None:
    patch.setattr(
        DiscreteLaplace,
        "release",
        lambda self, values: [
            v + float(z)
            for v, z in zip(
                values, seeded.rng.laplace(scale=self.scale, size=len(values)), strict=True
            )
        ],
    )


def every_draw_begins_anew(patch: Patch, seeded: Seeded) -> None:
    """The same seed for each query: two numbers of a release have the same noise."""

    def release(self: DiscreteLaplace, values: Any) -> list[int]:
        rng, p = np.random.default_rng(11), -math.expm1(-1.0 / self.scale)
        noise = rng.geometric(p, len(values)) - rng.geometric(p, len(values))
        return [int(v + z) for v, z in zip(values, noise, strict=True)]

    patch.setattr(DiscreteLaplace, "release", release)


def all_rows_count(patch: Patch, seeded: Seeded) -> None:
    """The cap of a query is not applied."""

    def with_mark(
        self: RowOrder, staged: Any, name: str, where: Any, cap: Any, groups: Any = ()
    ) -> Any:
        matched = staged.counts_ if where is None else (staged.counts_ & where).fill_null(False)
        return staged.mutate(**{name: matched, f"{name}here_": matched})

    patch.setattr(RowOrder, "with_mark", with_mark)


def a_sensitivity_is_off(patch: Patch, seeded: Seeded) -> None:
    """A histogram's record leaves one cell and enters another: 2, and noise for 1."""
    kind = type(NOISES["laplace"])
    honest = kind.sensitivity
    patch.setattr(kind, "sensitivity", lambda *given: honest(*given) - 1)


PERSON: Document = {"unit": "who", "rows_per_unit": 3, "columns": {"who": {"public": True}}}
CASES: dict[str, tuple[Callable[..., None], Callable[[], Study], int]] = {
    "noise a fifth too small": (noise_is_too_small, lambda: study([COUNT]), SAMPLES),
    "one group without noise": (a_group_has_no_noise, lambda: study([BY]), 2000),
    "a skipped clip": (nothing_is_clipped, lambda: study([SUM]), 2000),
    "floating-point Laplace": (noise_is_in_floating_point, lambda: study([COUNT]), 4000),
    "a reused seed": (every_draw_begins_anew, lambda: study([COUNT, OTHER]), 2000),
    "a sensitivity off by one": (
        a_sensitivity_is_off,
        lambda: study([{"kind": "histogram", "column": "s"}]),
        4000,
    ),
    "a cap not applied": (
        all_rows_count,
        lambda: study([COUNT | {"max_rows": 1}], **PERSON),
        4000,
    ),
}
"""A fault, a study that has it, and the samples within which it is caught."""


@pytest.mark.parametrize("name", CASES)
def test_planted_faults_are_caught(name: str, monkeypatch: Patch, seeded: Seeded) -> None:
    plant, make, samples = CASES[name]
    honest = audited(make(), samples)
    assert not honest.exceeded, honest
    plant(monkeypatch, seeded)
    caught = audited(make(), samples)
    assert caught.claimed == honest.claimed
    assert caught.exceeded, caught
    assert caught.gap < 0.0 < honest.gap


PAIR = [[4.0, 1.0], [1.0, 4.0]]


def graph(edges: list[list[int]]) -> Document:
    factors = [{"between": edge, "table": PAIR} for edge in edges]
    return {"model": "graph", "records": 4, "states": 2, "factors": factors, "covers": ["s"]}


def test_a_lost_edge_is_caught() -> None:
    """Noise for a population without one of its edges, and an attacker who knows all of them."""
    queries, uninformed = [COUNT], {"adversary": "uninformed"}
    whole = graph([[0, 1], [1, 2], [2, 3]])
    rng = np.random.default_rng(1)
    honest = study(queries, whole, n=4, budget=uninformed)
    true = honest.spec.population
    assert not audit_plan(honest.check().plan, samples=4000, rng=rng).exceeded
    lost = study(queries, graph([[0, 1], [2, 3]]), n=4, budget=uninformed).check().plan
    assert not audit_plan(lost, samples=4000, rng=rng).exceeded
    assert audit_plan(lost, population=true, samples=SAMPLES, rng=rng).exceeded


def test_one_record_that_answers_truly_is_caught(monkeypatch: Patch) -> None:
    """Answers of ten records, perturbed at collection; the eighth record's answer is its value."""
    rng, response = np.random.default_rng(5), RandomizedResponse.for_cost((0, 1), 1.0)
    unprotected: list[int] = []

    def flipped(places: list[int], kept: float) -> list[int]:
        values = np.array(places).reshape(-1, 10)
        changed = rng.random(values.shape) > kept
        changed[:, unprotected] = False
        answers: list[int] = (values ^ changed).reshape(-1).tolist()
        return answers

    monkeypatch.setattr(randomized_response, "_flipped", flipped)

    def answers(record: int, value: int) -> Callable[[int], np.ndarray]:
        def make(count: int) -> np.ndarray:
            values = np.zeros((count, 10), dtype=int)
            values[:, record] = value
            return np.array(response.release(values.reshape(-1).tolist())).reshape(count, 10)

        return make

    def level(record: int) -> float:
        return lower_bound(answers(record, 1), answers(record, 0), samples=4000).epsilon

    assert all(level(record) <= 1.0 for record in range(10))
    unprotected.append(7)
    assert [record for record in range(10) if level(record) > 1.0] == [7]


def test_gaussian_noise_that_is_too_small_is_caught(monkeypatch: Patch) -> None:
    made = study([COUNT], budget={"delta": 1e-3, "noise": "gaussian"})
    plan = made.check().plan
    rng = np.random.default_rng(1)
    assert not audit_plan(plan, samples=SAMPLES, rng=rng).exceeded
    (query,) = plan.queries
    wrong = replace(query, noise=DiscreteGaussian(query.noise.scale * 0.35))
    assert audit_plan(replace(plan, queries=(wrong,)), samples=SAMPLES, rng=rng).exceeded
