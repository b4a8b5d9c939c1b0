"""What spends add up to for a population: converted once, by kind, and only where it speaks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from bayesdp.accounting.costs.composition import (
    UnspokenColumnError,
    converted,
    cost_for,
    level,
    secrets_needed,
)
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from tests.effort import runs
from tests.oracles import finite

PAIR = {"model": "gaussian", "covariance": [[1.0, 0.1], [0.1, 1.0]]}
CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 50}


def spend(eps: float, kind: str = "any", **other: Any) -> Spend:
    made: dict[str, Any] = {"dataset": "d", "unit": "row", "query": "q", "reads": ("x",)}
    if kind == "lipschitz":
        made |= {"column": "x", "interval": (0.0, 1.0)}
    return Spend(kind=kind, dp_epsilon=eps, **(made | other))


def reading(population: dict[str, Any], **other: Any) -> Reading:
    given: dict[str, Any] = {"population": population, "covers": ("x",)}
    if population["model"] in ("gaussian", "autoregressive"):
        given["interval"] = None if other.get("secrets") == "unbounded" else (0.0, 1.0)
    return Reading("bdp", 10.0, **(given | other))


def test_costs_are_added_before_they_are_converted() -> None:
    item, both = spend(0.3), [spend(0.3), spend(0.5)]
    read = reading(CHAIN)
    together = level(read, both)
    assert together == pytest.approx(level(read, [spend(0.8)]), rel=1e-12)
    # The conversion is not linear: levels of single spends add up to something else.
    assert abs(together - level(read, [item]) - level(read, [spend(0.5)])) > 0.05
    assert level(Reading("dp", 1.0), both) == 0.8
    assert level(read, []) == 0.0


def test_kinds_are_added_each_with_its_factor() -> None:
    read = reading(PAIR)
    mixed = [spend(0.5, "lipschitz"), spend(0.25), spend(0.5, "lipschitz")]
    assert level(read, mixed) == pytest.approx(1.1 * 1.0 + 2 * 0.25, rel=1e-9)
    assert level(read, mixed) >= 1.6
    assert cost_for(read, mixed).lipschitz == 1.0
    unbounded = reading(PAIR, secrets="unbounded")
    assert level(unbounded, mixed) == pytest.approx(2 * 1.25)
    assert secrets_needed(unbounded, mixed) is None
    assert level(reading(PAIR, adversary="informed"), mixed) == pytest.approx(1.25)


def test_slack_is_added_for_each_record_that_moves() -> None:
    read = reading({"model": "gaussian", "size": 4, "max_correlation": 0.1})
    plain = level(read, [spend(1.0, "lipschitz")])
    slack = level(read, [spend(1.0, "lipschitz", slack=0.001)])
    assert slack == pytest.approx(plain + 3 * 0.001, rel=1e-12)


def test_only_the_covered_column_is_lipschitz() -> None:
    other = spend(1.0, "lipschitz", column="y", reads=("y",), interval=(-1e3, 1e3))
    read = reading(PAIR, independent=("y",))
    assert level(read, [other]) == pytest.approx(2.0)
    assert secrets_needed(read, [other]) is None
    mixed = [spend(1.0, "lipschitz"), other]
    assert level(read, mixed) == pytest.approx(1.1 + 2.0)
    assert secrets_needed(read, mixed) == (0.0, 1.0)
    # Where two columns are covered nobody says which of them is Gaussian.
    assert level(reading(PAIR, covers=("x", "y")), mixed) == pytest.approx(4.0)


def test_a_spend_must_clip_around_all_secrets_to_be_lipschitz() -> None:
    read = reading(PAIR)
    same, wide = spend(1.0, "lipschitz"), spend(1.0, "lipschitz", interval=(-3.0, 1.0))
    assert level(read, [same, wide]) == pytest.approx(2.2)
    assert secrets_needed(read, [same, wide]) == (0.0, 1.0)
    for other in ((0.5, 0.5001), (0.0, 0.999), (-3.0, 0.5), (0.1, 9.0), (1.0, 2.0), (5.0, 6.0)):
        narrow = spend(1.0, "lipschitz", interval=other)
        assert level(read, [same, narrow]) == pytest.approx(1.1 + 2.0), other
        # No spend, however narrow, empties what the others have promised.
        assert secrets_needed(read, [same, narrow]) == (0.0, 1.0)
        assert secrets_needed(read, [narrow]) is None
    assert level(reading(PAIR, interval=None), [same]) == pytest.approx(2.0)


def test_a_sliver_of_an_interval_by_integration() -> None:
    """Clipped to a sliver, correlation .1 doubles the leakage: the factor 1.1 would be false."""
    cov, sliver = np.array([[1.0, 0.1], [0.1, 1.0]]), (0.0, 0.001)
    sd = math.sqrt(0.99)
    above = [norm.sf((0.0 - 0.1 * secret) / sd) for secret in (-30.0, 30.0)]
    leaks = 1.0 + math.log((1 + math.expm1(1.0) * above[1]) / (1 + math.expm1(1.0) * above[0]))
    read = reading({"model": "gaussian", "covariance": cov.tolist()}, interval=(-30.0, 30.0))
    reached = level(read, [spend(1.0, "lipschitz", interval=sliver)])
    assert 1.1 + 0.5 < leaks <= reached == pytest.approx(2.0)


def test_a_family_has_no_lipschitz_spends() -> None:
    """Its members may be Gaussian, and nothing says where secrets lie."""
    family = reading({"model": "family", "members": [PAIR, {"model": "independent"}]})
    assert cost_for(family, [spend(1.0, "lipschitz")]).lipschitz == 0.0
    assert level(family, [spend(1.0, "lipschitz")]) == pytest.approx(2.0)


def test_a_level_never_falls_when_something_is_spent() -> None:
    rng = np.random.default_rng(1)
    populations = [
        PAIR,
        CHAIN,
        {"model": "clusters", "size": 3},
        {"model": "independent"},
        {"model": "autoregressive", "coefficient": 0.4, "length": 9},
    ]
    for _ in range(runs(300)):
        read = reading(
            populations[rng.integers(len(populations))],
            adversary=str(rng.choice(["any", "uninformed", "informed"])),
            secrets=str(rng.choice(["bounded", "unbounded"])),
            independent=("y",),
        )
        spends: list[Spend] = []
        before = 0.0
        for _ in range(4):
            low = float(rng.integers(-2, 2))
            column = str(rng.choice(["x", "y"]))
            epsilon, kind = float(rng.uniform(0.01, 1)), str(rng.choice(["any", "lipschitz"]))
            high = low + float(rng.uniform(0.5, 3))
            clipped = {"interval": (low, high) if kind == "lipschitz" else None}
            spends.append(spend(epsilon, kind, column=column, reads=(column,), **clipped))
            after = level(read, spends)
            assert after >= before
            assert after >= sum(spend.dp_epsilon for spend in spends) * (1 - 1e-12)
            before = after


def test_unspoken_columns_are_refused() -> None:
    stranger = spend(0.1, reads=("x", "income"))
    with pytest.raises(UnspokenColumnError, match=r"reads income.*Three ways out"):
        level(reading(CHAIN), [spend(0.1), stranger])
    assert level(reading(CHAIN, independent=("income",)), [stranger]) > 0.1
    assert level(Reading("dp", 1.0), [stranger]) == 0.1


# --- mixed spends under a Gaussian population, by integration (theory 2.2) ------------------------


def mixed_leakage(
    cov: np.ndarray, interval: tuple[float, float], cut: float, eps: float, count: float
) -> float:
    """Leakage about record 1 of two of a clipped sum and a count, nothing known.

    The weight of an outcome is `exp(+-eps sum clip(x) / width) exp(+-count #(x > cut))`: the
    outcomes of the Laplace mechanism far from all sums, and of the best mechanism for the count.
    Both secrets are the ends of the interval.
    """
    low, high = interval
    slope, sd = cov[0, 1] / cov[0, 0], math.sqrt(cov[1, 1] - cov[0, 1] ** 2 / cov[0, 0])
    grid = np.linspace(-12, 12, 40_001)
    mass = norm.pdf(grid)
    worst = 0.0
    for tilt, sign in itertools.product((eps, -eps), (count, -count)):

        def weight(x: np.ndarray, tilt: float = tilt, sign: float = sign) -> np.ndarray:
            clipped = np.clip(x, low, high)
            return np.asarray(np.exp(tilt * clipped / (high - low) + sign * (x > cut)))

        def expected(secret: float, weight: Any = weight) -> float:
            others = slope * secret + sd * grid
            own = float(weight(np.array([secret]))[0])
            return own * float(np.trapezoid(mass * weight(others), grid))

        worst = max(worst, abs(math.log(expected(high) / expected(low))))
    return worst


def test_mixed_spends_by_integration() -> None:
    """Never below the truth; the count alone is well above what its DP cost would say."""
    rng = np.random.default_rng(2)
    nearest = 0.0
    for _ in range(runs(400)):
        sd = float(np.exp(rng.normal()))
        rho = float(rng.uniform(-0.95, 0.95))
        cov = np.array([[1.0, rho * sd], [rho * sd, sd**2]])
        low = float(rng.normal())
        interval = (low, low + float(rng.uniform(0.5, 6)))
        eps, count = rng.uniform(0.05, 2, 2)
        cut = float(rng.uniform(*interval))
        truth = mixed_leakage(cov, interval, cut, eps, count)
        read = reading({"model": "gaussian", "covariance": cov.tolist()}, interval=interval)
        spends = [spend(float(eps), "lipschitz", interval=interval), spend(float(count))]
        reached = level(read, spends)
        assert reached >= truth - 1e-6
        assert secrets_needed(read, spends) in (interval, None)
        nearest = max(nearest, truth / reached)
    assert nearest > 0.85


def test_a_count_beside_a_sum_needs_its_own_factor() -> None:
    """Were the count counted as Lipschitz, the level would be false."""
    cov = np.array([[1.0, 0.1], [0.1, 1.0]])
    truth = mixed_leakage(cov, (-30.0, 30.0), 0.0, 0.2, 1.0)
    alone = 1.0 + math.log((1 + math.expm1(1.0) * ndtr(3.0)) / (1 + math.expm1(1.0) * ndtr(-3.0)))
    assert truth > 1.1 * 1.2 + 0.3
    assert truth < level(reading(PAIR), [spend(0.2, "lipschitz"), spend(1.0)])
    assert abs(truth - 0.2 - alone) < 0.2


# --- independent columns (theory 7) ---------------------------------------------------------------


def pairs(covered: np.ndarray, kernels: list[np.ndarray]) -> np.ndarray:
    """The law of records `(x, z)` as one value each, `z_j` drawn from `kernels[j][x_j]`."""
    states, values = kernels[0].shape
    joint = np.zeros((states * values,) * covered.ndim)
    for xs in np.ndindex(covered.shape):
        for zs in itertools.product(range(values), repeat=covered.ndim):
            mass = covered[xs]
            for x, z, kernel in zip(xs, zs, kernels, strict=True):
                mass *= kernel[x, z]
            joint[tuple(x * values + z for x, z in zip(xs, zs, strict=True))] += mass
    return joint


def test_independent_columns_cost_no_more_than_the_covered_ones() -> None:
    rng = np.random.default_rng(3)
    strict = 0
    for _ in range(runs(100)):
        records = 3 if rng.random() < 0.2 else 2
        covered = rng.dirichlet(np.ones(2**records) * 0.5).reshape((2,) * records)
        if rng.random() < 0.3:
            covered[tuple(rng.integers(0, 2, records))] = 0.0
            covered /= covered.sum()
        kernels = [rng.dirichlet(np.ones(2) * 0.5, size=2) for _ in range(records)]
        eps = float(rng.uniform(0.1, 2))
        for adversary in ("any", "uninformed"):
            if records == 3 and adversary == "any":
                continue  # the programs over four values and three records are large
            truth = finite.worst_case(pairs(covered, kernels), eps, adversary)
            bound = finite.worst_case(covered, eps, adversary)
            assert truth.level <= max(bound.upper, eps) + 1e-7
            strict += truth.level > eps + 1e-3
    assert strict > 0


def test_independence_of_the_others_alone_is_not_enough() -> None:
    """X1 = Z1 xor X2: for the covered columns nothing leaks, for both of them everything does."""
    eps = 0.7
    covered = np.full((2, 2), 0.25)
    joint = np.zeros((4, 4))
    for x2, z1, z2 in itertools.product(range(2), repeat=3):
        joint[2 * (z1 ^ x2) + z1, 2 * x2 + z2] += 0.125
    assert finite.worst_case(covered, eps).level == pytest.approx(eps)
    assert finite.worst_case(joint, eps).level == pytest.approx(2 * eps)
    # Z1 is independent of X2, and X1 is too: each alone tells nothing.
    z1_x2 = joint.reshape(2, 2, 2, 2).sum(axis=(0, 3))
    assert np.allclose(z1_x2, 0.25)


def test_a_lipschitz_sum_of_an_independent_column_is_not_lipschitz() -> None:
    """Z = sign(X - 0.5) of two Gaussians with correlation .1: above 1.1 eps, within 2 eps."""
    eps, sd = 1.2, math.sqrt(0.99)
    up = [1 - ndtr((0.5 - 0.1 * secret) / sd) for secret in (3.0, -3.0)]
    high, low = (1 + math.expm1(eps) * p for p in up)
    leaks = eps + math.log(high / low)
    assert leaks == pytest.approx(1.4827, abs=1e-4)
    read = reading(PAIR, independent=("z",))
    of_z = spend(eps, "lipschitz", column="z", reads=("z",), interval=(-1.0, 1.0))
    assert 1.1 * eps < leaks < level(read, [of_z]) == pytest.approx(2 * eps)
    assert converted(read, [of_z]).best.theorem == "cluster-size"
