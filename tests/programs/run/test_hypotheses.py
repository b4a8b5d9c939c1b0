"""Posteriors over hypotheses: against the sum over every table of counts, and calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp, factorial, prod

import numpy as np
import pytest
from scipy import stats

from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Answers, Noisy
from bayesdp.programs.run.posteriors import hypotheses
from tests.effort import runs
from tests.programs.run.helpers import rng

DICE = [[1 / k if face < k else 0.0 for face in range(8)] for k in (2, 4, 8)]
LOADED = [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
COIN = [[0.5, 0.5], [0.9, 0.1], [0.0, 1.0]]
TABLES = {"dice": DICE, "loaded": LOADED, "coin": COIN}


def tables(n: int, values: int) -> Iterator[tuple[int, ...]]:
    """Every table of counts of n records."""
    if values == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in tables(n - first, values - 1):
            yield (first, *rest)


def by_enumeration(
    seen: Sequence[float], noise: AddedNoise, chances: list[list[float]], n: int,
    weights: Sequence[float],
) -> list[float]:  # fmt: skip
    """The probabilities of the hypotheses, by their definition: a sum over tables of counts."""
    likelihoods = []
    for row in chances:
        total = 0.0
        for counts in tables(n, len(row)):
            ways = factorial(n) / prod(map(factorial, counts))
            chance = prod(p**s for p, s in zip(row, counts, strict=True))
            held = counts[1:] if len(seen) == 1 else counts
            off = [y - s for y, s in zip(seen, held, strict=True)]
            exponent = sum(
                -abs(z) / noise.scale if noise.kind == "laplace" else -(z**2) / 2 / noise.scale**2
                for z in off
            )
            total += ways * chance * exp(exponent)
        likelihoods.append(total)
    both = [w * x for w, x in zip(weights, likelihoods, strict=True)]
    return [x / sum(both) for x in both]


def about(chances: list[list[float]], points: Sequence[float] = ()) -> list[float]:
    many = len(chances)
    flat = [p for row in chances for p in row]
    return [float(many), *(points or map(float, range(many))), *flat]


def noisy(seen: Sequence[float], noise: AddedNoise, n: int) -> Noisy:
    return Noisy(tuple(Fraction(y) for y in seen), noise, n)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.05, 0.7, 3.0, 40.0])
@pytest.mark.parametrize("case", TABLES)
def test_it_is_the_sum_over_all_tables(case: str, scale: float, kind: str) -> None:
    chances, noise, r = TABLES[case], AddedNoise(kind, scale), rng(int(scale * 100))
    weights = list(r.uniform(0.1, 1, len(chances)))
    for n in (1, 2, 5):
        for _ in range(4):
            row = chances[r.integers(len(chances))]
            seen = r.multinomial(n, row) + np.rint(r.normal(0, scale, len(row)))
            given = list(map(float, seen[1:] if case == "coin" else seen))
            due = by_enumeration(given, noise, chances, n, weights)
            law = hypotheses.posterior(
                "noise-aware", noisy(given, noise, n), about(chances), hypotheses.prior_of(weights)
            )
            assert law.weights == pytest.approx(due, rel=1e-9, abs=1e-12)


def test_many_records_and_hypotheses() -> None:
    """A hundred thousand records; far hypotheses lose, and near ones are told as exactness says."""
    n, scale = 100_000, 2.0
    grid = np.linspace(0.30, 0.33, 31)
    chances = [[1 - p, p] for p in grid]
    given = [31_500.0]
    law = hypotheses.posterior(
        "noise-aware", noisy(given, AddedNoise("laplace", scale), n),
        about(chances, list(grid)), hypotheses.prior_of([1.0] * 31),
    )  # fmt: skip
    s = np.arange(31_000, 32_000)
    logs = [
        np.log(np.exp(stats.binom.logpmf(s, n, p) - np.abs(s - 31_500) / scale + 50).sum())
        for p in grid
    ]
    due = np.exp(np.asarray(logs) - max(logs))
    assert law.weights == pytest.approx(due / due.sum(), rel=1e-6, abs=1e-12)
    assert law.mean == pytest.approx(0.315, abs=1e-4)


@pytest.mark.parametrize("shift", [-(2.0**40), 2.0**40, 0.0])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_any_noise_has_a_posterior(kind: str, shift: float) -> None:
    for chances in (*TABLES.values(), [[1e-250, 1.0], [0.5, 0.5]]):
        seen = [shift] * (len(chances[0]) if len(chances[0]) > 2 else 1)
        for scale in (1e-12, 0.02, 5.0, 2.0**35):
            for n in (1, 50):
                law = hypotheses.posterior(
                    "noise-aware", noisy(seen, AddedNoise(kind, scale), n), about(chances),
                    hypotheses.prior_of([1.0] * len(chances)),
                )  # fmt: skip
                assert np.all(law.weights >= 0)
                assert law.weights.sum() == pytest.approx(1)


def test_without_noise_it_is_that_of_the_counts() -> None:
    counts, n = [3.0, 2.0, 1.0], 6
    weights = [0.5, 0.3, 0.1, 0.1]
    due = np.asarray([w * prod(p**s for p, s in zip(row, counts, strict=True))
                      for w, row in zip(weights, LOADED, strict=True)])  # fmt: skip
    for op, scale in (("plug-in", 3.0), ("noise-aware", 1e-12), ("noise-aware", 0.03)):
        law = hypotheses.posterior(
            op, noisy(counts, AddedNoise("laplace", scale), n), about(LOADED),
            hypotheses.prior_of(weights),
        )  # fmt: skip
        assert law.weights == pytest.approx(due / due.sum(), abs=1e-9)
    law = hypotheses.posterior(
        "plug-in", noisy([4.0], AddedNoise("laplace", 1.0), 6), about(COIN[:2]),
        hypotheses.prior_of([1, 1]),
    )  # fmt: skip
    assert law.weights[0] == pytest.approx(0.5**6 / (0.5**6 + 0.9**2 * 0.1**4))


def test_answers_are_those_of_the_channel() -> None:
    """Each answer is true with 0.6, and each other one with 0.2."""
    codes = np.asarray([0, 0, 1, 2, 2, 2], dtype=np.int64)
    source = Answers(codes, ("a", "b", "c"), 0.6, 0.2)
    law = hypotheses.posterior("noise-aware", source, about(LOADED), hypotheses.prior_of([1] * 4))
    channel = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    due = np.prod((np.asarray(LOADED) @ channel)[:, codes], axis=1)
    assert law.weights == pytest.approx(due / due.sum())


def test_no_records_leave_the_prior_and_places_count() -> None:
    law = hypotheses.posterior(
        "noise-aware", noisy([7.0], AddedNoise("laplace", 1.0), 0), about(COIN, [2.0, -1.0, 5.0]),
        hypotheses.prior_of([1, 2, 1]),
    )  # fmt: skip
    assert list(law.weights) == [0.25, 0.5, 0.25]
    assert law.mean == pytest.approx(1.25)
    assert law.sd == pytest.approx((0.25 * 4 + 0.5 * 1 + 0.25 * 25 - 1.25**2) ** 0.5)
    assert [law.quantile(p) for p in (0.3, 0.5, 0.6, 0.75, 0.8)] == [-1, -1, 2, 2, 5]
    assert [float(law.cdf(x)) for x in (-2, -1, 1.9, 2, 5)] == [0, 0.5, 0.5, 0.75, 1]


def test_hypotheses_are_as_likely_as_they_are_true() -> None:
    """Truths from the prior: among posteriors that give one 70 to 80 %, so many are true."""
    r, many, scale, n = rng(5), runs(3000, 10), 4.0, 40
    said, held = [], []
    chances = np.asarray(LOADED)
    for _ in range(many):
        true = int(r.choice(4, p=[0.4, 0.3, 0.2, 0.1]))
        seen = r.multinomial(n, chances[true]) + np.rint(r.laplace(0, scale, 3))
        law = hypotheses.posterior(
            "noise-aware", noisy(list(map(float, seen)), AddedNoise("laplace", scale), n),
            about(LOADED), hypotheses.prior_of([0.4, 0.3, 0.2, 0.1]),
        )  # fmt: skip
        said += list(law.weights)
        held += [k == true for k in range(4)]
    for low, high in ((0.05, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.95)):
        inside = [i for i, p in enumerate(said) if low < p <= high]
        due, seen_so = sum(said[i] for i in inside), sum(held[i] for i in inside)
        spread = sum(said[i] * (1 - said[i]) for i in inside) ** 0.5
        assert abs(seen_so - due) <= 4.5 * spread + 1
