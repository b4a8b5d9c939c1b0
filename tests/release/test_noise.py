"""What comes out of a release is the truth plus noise of the scale that it should have.

Not of the scale that it says: the scales here are computed by hand. No seed, so each test has its
false-alarm rate: 5.2 standard deviations on both sides, below 1e-6 for all of them together.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from bayesdp.release import Study

RELEASES, COUNTS, STATES, GROUPS, CLUSTER = 10, 12, 20, 15, 3
ROWS = STATES * GROUPS * CLUSTER
EPSILON = 3.0


def has_scale(noise: np.ndarray, scale: float) -> bool:
    """Whether noise is discrete Laplace of this scale: by the mean of |z|, both ways."""
    a = math.exp(-1 / scale)
    mean = 2 * a / (1 - a * a)
    second = 2 * a / (1 - a) ** 2  # E z^2
    deviation = math.sqrt((second - mean**2) / len(noise))
    return bool(abs(np.mean(np.abs(noise)) - mean) < 5.2 * deviation)


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
    exact = table.groupby(["g", "s"]).size()
    found: dict[str, list[float]] = {"count": [], "histogram": [], "sum": []}
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
                {"name": "sums", "kind": "sum", "column": "x", "by": "g"},
                *(
                    {
                        "name": f"c{i}",
                        "kind": "count",
                        "where": f"x < {i / COUNTS * 100}",
                        "by": "g",
                    }
                    for i in range(COUNTS)
                ),
            ],
            ledger=str(folder / f"{number}.db"),
        )
        for result in study.release():
            if result.kind == "histogram":
                due: float = exact.get((result.group, result.cell), 0)
            elif result.kind == "sum":
                due = float(table.x[table.g == result.group].sum())
            else:
                i = int(result.query[1:])
                due = int(((table.x < i / COUNTS * 100) & (table.g == result.group)).sum())
            found[result.kind].append(result.value - due)
    return {kind: np.array(values) for kind, values in found.items()}


SHARE = EPSILON / CLUSTER / (COUNTS + 2)  # the DP cost of one query, by hand
SCALES = {"count": 1 / SHARE, "histogram": 2 / SHARE, "sum": 100 / SHARE}


@pytest.mark.parametrize("kind", ["count", "histogram"])
def test_the_right_scale_passes_and_others_are_rejected(
    kind: str, noises: dict[str, np.ndarray]
) -> None:
    noise, scale = noises[kind], SCALES[kind]
    assert len(noise) >= 1800
    assert np.array_equal(noise, np.round(noise))
    assert has_scale(noise, scale)
    assert not has_scale(noise, 1.3 * scale)
    assert not has_scale(noise, 0.77 * scale)
    assert abs(noise.mean()) < 5.2 * math.sqrt(2 / len(noise)) * scale


def test_noise_of_sums(noises: dict[str, np.ndarray]) -> None:
    """Fewer draws: no more than twice or half the scale is told apart."""
    noise = noises["sum"]
    assert len(noise) == RELEASES * GROUPS
    assert has_scale(noise, SCALES["sum"])
    assert not has_scale(noise, 3 * SCALES["sum"])
    assert not has_scale(noise, SCALES["sum"] / 3)


def test_noise_is_fresh_for_every_number(noises: dict[str, np.ndarray]) -> None:
    noise = noises["count"].reshape(RELEASES, COUNTS * GROUPS)
    assert len({tuple(row) for row in noise}) == RELEASES
    next_to = np.corrcoef(noise[:, :-1].ravel(), noise[:, 1:].ravel())[0, 1]
    assert abs(next_to) < 5.2 / math.sqrt(noise.size)


def test_errors_are_kept_as_often_as_said(noises: dict[str, np.ndarray]) -> None:
    """The 95 % error is exceeded by about 5 %, not more than 5.2 deviations above."""
    from bayesdp.mechanisms.laplace import DiscreteLaplace

    noise = noises["histogram"]
    error = DiscreteLaplace(SCALES["histogram"]).quantile(0.95)
    beyond = np.mean(np.abs(noise) > error)
    assert abs(beyond - 0.05) < 5.2 * math.sqrt(0.05 * 0.95 / len(noise))
