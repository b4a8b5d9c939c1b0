"""Several quantiles of one query: their costs, their order, their error at once, refusals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp.errors import InputError
from bayesdp.mechanisms import PermuteAndFlip
from bayesdp.mechanisms.selection import rank_scores
from bayesdp.release.derived.results import derived_from
from bayesdp.release.results.result import QuantileResult
from bayesdp.release.spec.derived import DerivedSpec
from tests.effort import runs
from tests.release.test_crossed import TABLE, study

QUARTILES: dict[str, Any] = {
    "name": "ages",
    "kind": "quantile",
    "column": "age",
    "probabilities": [0.25, 0.5, 0.75],
    "step": 5.0,
}
ILL = {"name": "ill", "kind": "count", "where": "ill == 1"}


def test_each_is_a_query_and_together_they_have_the_weight_of_one(tmp_path: Path) -> None:
    check = study(tmp_path, QUARTILES, ILL, budget={"epsilon": 1.0}).check()
    *parts, ill = check.plan.queries
    assert [query.name for query in parts] == ["ages at 0.25", "ages at 0.5", "ages at 0.75"]
    assert sum(query.dp_epsilon for query in parts) == pytest.approx(ill.dp_epsilon)
    assert check.plan.dp_epsilon == pytest.approx(1.0)
    assert "ages: ages at 0.25, ages at 0.5, ages at 0.75, in order" in str(check)


def test_they_are_released_and_certified_and_put_in_order(tmp_path: Path) -> None:
    release = study(tmp_path, QUARTILES).release()
    # Of eight rows the lower quartile is anything from 30 to 40: those candidates are as likely.
    first, _, last = (float(number.text) for number in release["ages"])
    assert first in (30.0, 35.0, 40.0)
    assert last in (70.0, 75.0, 80.0)
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"
    assert release["ages at 0.5"].value in (50.0, 55.0, 60.0)


def test_a_list_of_one_is_that_one(tmp_path: Path) -> None:
    release = study(tmp_path, QUARTILES | {"probabilities": [0.5]}).release()
    (number,) = release["ages"]
    assert number.value == release["ages at 0.5"].value


@pytest.mark.parametrize("listed", [[0.5], [0.25, 0.5], [0.25, 0.5, 0.75]])
def test_in_order_they_have_the_column_s_unit(tmp_path: Path, listed: list[float]) -> None:
    release = study(tmp_path, QUARTILES | {"probabilities": listed}).release()
    assert release["ages"].unit == "years"


def test_groups_have_their_own(tmp_path: Path) -> None:
    release = study(tmp_path, QUARTILES | {"by": "sex"}).release()
    assert [number.place for number in release["ages"]][:3] == [
        "ages at 0.25, f",
        "ages at 0.5, f",
        "ages at 0.75, f",
    ]
    assert len(release["ages"]) == 9
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"
    frame = release.to_pandas()
    assert list(frame[frame["query"] == "ages"]["value"])[:3] == sorted(
        frame[frame["query"] == "ages"]["value"][:3]
    )


def test_separate_quantiles_are_put_in_order_too(tmp_path: Path) -> None:
    low = {"name": "low", "kind": "quantile", "column": "age", "probability": 0.1, "step": 5.0}
    high = low | {"name": "high", "probability": 0.9}
    derived = {"name": "both", "kind": "quantiles", "queries": ["low", "high"]}
    release = study(tmp_path, low, high, derived=[derived]).release()
    values = [number.value for number in release["both"]]
    assert values == sorted(values)
    for queries, said in [
        (["high", "low"], "increasing probability"),
        (["low", "hihg"], "Did you mean 'high'"),
        (["low"], r"derived\[0\]\.queries"),
    ]:
        with pytest.raises(InputError, match=said):
            study(tmp_path, low, high, derived=[derived | {"queries": queries}])
    with pytest.raises(InputError, match="same values"):
        study(tmp_path, low, high | {"where": "ill == 1"}, derived=[derived])


def result(name: str, value: float, noise: PermuteAndFlip, step: Fraction) -> QuantileResult:
    return QuantileResult(name, "quantile", value, noise, float(step), 1.0, step=step)


def drawn(rng: np.random.Generator, scores: list[int], scale: float) -> int:
    """Permute-and-flip's law, by the exponential noise that it is the same as."""
    noisy = [score + scale * rng.exponential() for score in scores]
    return int(np.argmax(noisy))


@pytest.mark.parametrize("heaps", [False, True])
def test_all_ranks_are_off_by_at_most_their_error_at_once(heaps: bool) -> None:
    """In order, as often as said: for values spread out, and for values in two heaps.

    Candidates are from 0 to 20; the ranks that an answer stands for are counted from the values.
    """
    rng, count, confidence = np.random.default_rng(3), runs(2000), 0.9
    values = sorted([0] * 30 + [20] * 30 if heaps else [i // 3 for i in range(61)])
    counts = [values.count(c) for c in range(21)]
    shares = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    names = tuple(f"q{share}" for share in shares)
    spec = DerivedSpec(name="q", kind="quantiles", queries=names)
    noise, inside, moved = PermuteAndFlip(30.0, 21), 0, 0
    for _ in range(count):
        chosen = [drawn(rng, rank_scores(counts, share), 30.0) for share in shares]
        results = [
            result(name, float(value), noise, Fraction(1, share.denominator))
            for name, value, share in zip(names, chosen, shares, strict=True)
        ]
        (made,) = derived_from([spec], results, len(values))
        numbers = made.at(confidence)
        moved += chosen != sorted(chosen)
        assert all(a.value <= b.value for a, b in itertools.pairwise(numbers))
        inside += all(
            _rank_off(values, number.value, share) <= number.ranks
            for number, share in zip(numbers, shares, strict=True)
        )
    assert moved > 0  # there was something to put in order
    assert inside / count >= confidence - 4.0 * np.sqrt(0.09 / count)


def _rank_off(values: list[int], value: float, share: Fraction) -> float:
    """How far the target's rank is from ranks at which the value is a quantile.

    A value between two that follow each other is one where the rank is exactly between them.
    """
    below = sum(v < value for v in values)
    up_to = sum(v <= value for v in values)
    target = float(share * len(values))
    return max(below - target, target - up_to, 0.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"probabilities": []}, r"query\[0\]\.probabilities"),
        ({"probabilities": [0.5, 0.25]}, "increasing numbers between 0 and 1"),
        ({"probabilities": [0.5, 1.0]}, "increasing numbers between 0 and 1"),
        ({"probabilities": [0.0, 0.5]}, "increasing numbers between 0 and 1"),
        ({"probabilities": [0.25, 1 / 3]}, "at most six decimals"),
        ({"probabilities": [i / 200 for i in range(1, 102)]}, "at most 100"),
        ({"probability": 0.5}, "nothing beside probability"),
        ({"kind": "median"}, "nothing beside probability"),
        ({"kind": "mean", "step": None}, "only on a quantile or median"),
    ],
)
def test_lists_that_are_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    query = {k: v for k, v in (QUARTILES | changes).items() if v is not None}
    with pytest.raises(InputError, match=said):
        study(tmp_path, query)


def test_errors_of_later_queries_name_their_place_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query\[1\]\.where is 'il == 1'|query\[1\]\.where"):
        study(tmp_path, QUARTILES, ILL | {"where": "il == 1"})
    with pytest.raises(InputError, match=r"query\[1\]\.column"):
        study(tmp_path, QUARTILES, {"name": "m", "kind": "mean", "column": "agee"})
    with pytest.raises(InputError, match=r"query\[2\]\.column"):
        study(tmp_path, QUARTILES, ILL, {"name": "m", "kind": "mean", "column": "agee"})
    with pytest.raises(InputError, match=r"is 'ages at 0\.5'"):
        study(tmp_path, QUARTILES, ILL | {"name": "ages at 0.5"})
    ratio = {"name": "r", "kind": "ratio", "numerator": "ages", "denominator": "ill"}
    with pytest.raises(InputError, match=r"derived\[0\]\.numerator is 'ages'.*derived itself"):
        study(tmp_path, QUARTILES, ILL, derived=[ratio])


def test_a_wanted_error_is_wanted_of_each(tmp_path: Path) -> None:
    table = pd.concat([TABLE] * 20)
    check = study(tmp_path, QUARTILES | {"error": 12.0}, table=table).check()
    assert all(query.error(0.95) <= 12.0 for query in check.plan.queries)
