"""The rule for grids of two values: against the package, enumeration, and what it must refuse."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest

from bayesdp import kernel
from bayesdp.kernel.arithmetic import InvalidError, TooSlowError, UnknownError, limited
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.rules import graph_ferromagnet
from bayesdp.notions import Cost
from bayesdp.populations import Graph
from bayesdp.release.certificates.certify import conversion_certificate
from tests.effort import runs
from tests.kernel.mutations import lower
from tests.kernel.steps import agreed, bare, derive, make_step, refused
from tests.oracles import attractive

RULE = "graph-ferromagnet"
EPSILON = 0.1


def table(coupling: float, first: float = 0.0, second: float = 0.0) -> list[list[float]]:
    s = np.array([-1.0, 1.0])
    weights = np.exp(coupling * np.outer(s, s) + first * s[:, None] + second * s)
    return [[float(weight) for weight in row] for row in weights]


def step(grid: tuple[int, int], weights: Any, radius: Any = None, **more: Any) -> dict[str, Any]:
    details = {} if radius is None else {"radius": radius}
    return make_step(
        RULE, bare(Graph(grid=grid, table=weights)), Cost(any=EPSILON), details=details, **more
    )


def factor(grid: tuple[int, int], coupling: float, radius: int) -> float:
    return certified_level(step(grid, table(coupling), radius)) / EPSILON


def test_small_grids_are_summed_exactly_whatever_their_fields() -> None:
    for rows, columns in ((1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3)):
        for coupling in (0.0, 0.1, 0.6, -0.6):
            couplings = attractive.grid(rows, columns, abs(coupling))
            s = attractive.spins(rows * columns)
            law = attractive.weights(couplings, np.zeros(rows * columns))
            truth = float((s.T * law @ s).sum(axis=1).max())
            level = certified_level(step((rows, columns), table(coupling, 0.7, -0.2), 1))
            assert level / EPSILON == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("grid", [(1, 12), (2, 6), (3, 4), (4, 3)])
def test_boxes_that_are_smaller_than_the_grid_are_above_it(grid: tuple[int, int]) -> None:
    for coupling in (0.1, 0.25):
        couplings = attractive.grid(*grid, coupling)
        s, law = attractive.spins(12), attractive.weights(couplings, np.zeros(12))
        truth = float((s.T * law @ s).sum(axis=1).max())
        for radius in (0, 1, 2):
            if radius or coupling < 0.2:
                assert factor(grid, coupling, radius) >= truth * (1 - 1e-12)


def test_values_of_large_grids() -> None:
    """By another program, in plain doubles."""
    for coupling, radius, due in ((0.2, 2, 2.917), (0.3, 2, 9.54), (0.3, 3, 8.19), (0.35, 3, 32.3)):
        assert factor((900, 1000), coupling, radius) == pytest.approx(due, rel=2e-3)


@pytest.mark.prove
def test_random_grids_agree_with_the_package() -> None:
    rng = np.random.default_rng(391)
    for _ in range(runs(100, least=5)):
        sides = tuple(int(side) for side in rng.integers(1, rng.choice([4, 8, 100]), size=2))
        coupling, fields = float(rng.uniform(-0.3, 0.3)), rng.normal(size=2)
        population = Graph(grid=sides, table=table(coupling, *map(float, fields)))
        agreed(population, Cost(any=float(10 ** rng.uniform(-2, 1))), {RULE})


def test_a_certificate_verifies_and_no_lower_claim_does() -> None:
    population = Graph(grid=(60, 6), table=table(-0.25))
    report = population.leakage(EPSILON)
    assert report.best.theorem == RULE
    document = json.loads(conversion_certificate(population, report).to_json())
    details = document["derivation"]["evidence"]["details"]
    assert kernel.check(document).verdict == "VALID ASSUMING"
    lowered = copy.deepcopy(document)
    lower(lowered, 1 - 1e-6, "bdp")
    assert kernel.check(lowered).verdict == "INVALID"
    radius = details["radius"]
    for lie in (0, 1, radius - 1, 6, 10**6):
        details["radius"] = lie
        assert kernel.check(document).verdict == ("UNKNOWN" if lie > 5 else "INVALID")


def test_a_smaller_box_proves_a_higher_level_only() -> None:
    levels = [factor((50, 60), 0.2, radius) for radius in (1, 2, 3)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] > 2.8592  # what the sums of ever larger boxes tend to, from above
    claimed = step((50, 60), table(0.2), 3, epsilon=levels[-1] * EPSILON * (1 + 1e-12))
    assert derive(claimed) == pytest.approx(levels[-1] * EPSILON)
    claimed["evidence"]["details"]["radius"] = 2
    with pytest.raises(InvalidError, match="is claimed"):
        derive(claimed)


def test_grids_of_too_many_sums_count_as_parts_of_larger_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for grid in ((3, 3), (3, 90)):
        whole = factor(grid, 0.2, 1)
        with monkeypatch.context() as patched:
            patched.setattr(graph_ferromagnet, "MOST_WORK", 9 << 3)
            assert factor(grid, 0.2, 1) == factor((90, 90), 0.2, 1) > whole


def test_what_is_refused() -> None:
    calm = table(0.1)
    assert "zero" in refused(step((2, 3), [[1.0, 0.0], [1.0, 1.0]], 1))
    assert "two values" in refused(step((2, 3), [[2.0, 1.0, 1.0]] * 3, 1))
    assert "two values" in refused(step((2, 3), [[2.0]], 1))
    assert "dies out" in refused(step((90, 90), table(0.45), 2))
    assert "dies out" in refused(step((90, 90), table(-0.45), 2))
    with pytest.raises(LookupError):
        certified_level(step((2, 3), calm))
    assert "radius" in refused(step((2, 3), calm, 6), UnknownError)
    loop = [{"between": [i, (i + 1) % 3], "table": [[1.0, 3.0], [3.0, 1.0]]} for i in range(3)]
    for graph in (
        Graph(records=3, states=2, factors=loop),
        Graph(records=2, edges=np.array([[0, 1]]), table=calm),
    ):
        plain = make_step(RULE, bare(graph), Cost(any=EPSILON), details={"radius": 1})
        assert "not a grid" in refused(plain)
    for radius in (-1, 1.5, True, "1", None, [1]):
        wrong = step((2, 3), calm, 1)
        wrong["evidence"]["details"]["radius"] = radius
        with pytest.raises((InvalidError, ValueError, TypeError)):
            certified_level(wrong)


def test_sums_end_when_the_time_is_over() -> None:
    with limited(0.0), pytest.raises(TooSlowError):
        certified_level(step((90, 90), table(0.3), 4))


def test_strong_couplings_of_a_small_grid_are_nearly_those_of_one_record() -> None:
    assert 9 - 1e-6 < factor((3, 3), 6.0, 1) < 9
    assert factor((1, 2), 0.3, 1) == pytest.approx(1 + math.tanh(0.3), rel=1e-14)
