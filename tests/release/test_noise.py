"""What comes out of a release is the truth plus noise of the scale that it should have.

Not of the scale that it says: the scales here are computed by hand.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.release import Study
from tests.chance import Chance, discrete_laplace, within

RELEASES, PARTS, STATES, GROUPS, CLUSTER = 3, 12, 12, 200, 3
DRAWS = RELEASES * PARTS * GROUPS
ROWS = STATES * GROUPS * CLUSTER
EPSILON = 3.0
OFF = (1.2, 0.83)
"""Factors of the scale that so many draws can tell."""


def below(part: int) -> str:
    return f"x < {part / PARTS * 100}"


@pytest.fixture(scope="module")
def noises(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Differences from the exact answers: counts, histogram cells, and sums in grid steps."""
    folder = tmp_path_factory.mktemp("ledgers")
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "cluster": np.repeat(np.arange(ROWS // CLUSTER), CLUSTER),
            "g": np.resize(np.arange(GROUPS), ROWS),
            "s": rng.integers(0, STATES, ROWS),
            "x": rng.uniform(0, 100, ROWS),
        }
    )
    cells = table.groupby(["g", "s"]).size()
    parts = {
        str(i): table.query(below(i)).groupby("g").x.agg(["count", "sum"]) for i in range(PARTS)
    }
    noises: dict[str, list[float]] = {"count": [], "histogram": [], "sum": []}
    for number in range(RELEASES):
        study = Study(
            table,
            dataset="noise",
            n=ROWS,
            columns={
                "cluster": {"role": "cluster"},
                "g": {"public": True, "states": list(range(GROUPS))},
                "s": {"states": list(range(STATES))},
                "x": {"bounds": [0, 100]},
            },
            population={"model": "clusters", "size": CLUSTER, "covers": ["s", "x"]},
            budget={"epsilon": EPSILON},
            queries=[
                {"name": "cells", "kind": "histogram", "column": "s", "by": "g"},
                *(
                    {"name": f"{name}{i}", **what, "where": below(i), "by": "g"}
                    for i in range(PARTS)
                    for name, what in (
                        ("count", {"kind": "count"}),
                        ("sum", {"kind": "sum", "column": "x"}),
                    )
                ),
            ],
            ledger=str(folder / f"{number}.db"),
        )
        for result in study.release():
            if result.kind == "histogram":
                due: float = cells.get((result.group, result.cell), 0)
            else:
                part = parts[result.query.removeprefix(result.kind)]
                due = float(part[result.kind].get(result.group, 0.0))
            noises[result.kind].append(result.value - due)
    return {kind: np.array(values) for kind, values in noises.items()}


SHARE = EPSILON / CLUSTER / (2 * PARTS + 1)  # the DP cost of one query, by hand
SCALES = {"count": 1 / SHARE, "histogram": 2 / SHARE, "sum": 100 / SHARE}


def inside(kind: str, scale: float, reach: float) -> float:
    """The probability of noise up to `reach`; the grid of sums is too fine to be seen."""
    return -math.expm1(-reach / scale) if kind == "sum" else within(discrete_laplace(scale), reach)


@pytest.mark.parametrize("kind", SCALES)
def test_the_right_scale_passes_and_others_are_rejected(
    kind: str, noises: dict[str, np.ndarray], chance: Chance
) -> None:
    noise, scale = noises[kind], SCALES[kind]
    assert len(noise) == DRAWS
    assert kind == "sum" or np.array_equal(noise, np.round(noise))
    reach = 1.6 * scale
    hits, true = int((np.abs(noise) <= reach).sum()), inside(kind, scale, reach)
    chance.expect(hits, DRAWS, true)
    for factor in OFF:
        chance.expect_not(hits, DRAWS, inside(kind, factor * scale, reach), true)
    positive = (1.0 - inside(kind, scale, 0.0)) / 2.0
    chance.expect(int((noise > 0).sum()), DRAWS, positive)


def test_noise_is_fresh_for_every_number(noises: dict[str, np.ndarray], chance: Chance) -> None:
    noise = noises["count"].reshape(RELEASES, PARTS * GROUPS)
    chance.takes(RELEASES**2 * SHARE ** (PARTS * GROUPS))  # two releases are the same
    assert len({tuple(row) for row in noise}) == RELEASES
    positive = (1.0 - inside("count", SCALES["count"], 0.0)) / 2.0
    both = (noise[:, :-1:2] > 0) & (noise[:, 1::2] > 0)  # neighbours, each in a single pair
    chance.expect(int(both.sum()), both.size, positive**2)
    chance.expect_not(int(both.sum()), both.size, positive, positive**2)


def test_errors_are_kept_as_often_as_said(noises: dict[str, np.ndarray], chance: Chance) -> None:
    """The 95 % error is exceeded in 5 % at most, and hardly less."""
    scale = SCALES["histogram"]
    error = DiscreteLaplace(scale).quantile(0.95)
    beyond = 1.0 - inside("histogram", scale, error)
    assert 0.048 < beyond <= 0.05
    hits = int((np.abs(noises["histogram"]) > error).sum())
    chance.expect(hits, DRAWS, beyond)
    for factor in (1.3, 0.75):
        chance.expect_not(hits, DRAWS, 1.0 - inside("histogram", factor * scale, error), beyond)
