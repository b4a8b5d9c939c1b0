"""No theorem below the truth: every bound against the search over all mechanisms.

The truth comes from `tests/oracles`, which knows the definitions only. A bound may exceed it (an
exact one by 1e-6 at most); it may never be below it by more than 1e-9.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from bayesdp.notions import ADVERSARIES
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Gaussian,
    Independent,
    MarkovChain,
    Population,
    Unknown,
)
from bayesdp.theorems.secret import has_secret
from tests.effort import runs
from tests.oracles import chains, finite, gaussian, mechanisms

BELOW = 1e-9
EXACT = 2e-9
LONGEST = 5

pytestmark = pytest.mark.prove


def check(population: Population, joint: np.ndarray, epsilons: list[float], **options) -> float:
    """Hold every bound against the truth; the least slack of a bound that is not exact."""
    slack = math.inf
    for adversary in ADVERSARIES:
        before: dict[str, float] = {}
        for eps in sorted(epsilons):
            truth = finite.worst_case(joint, eps, adversary)
            assert truth.upper - truth.level < 1e-9
            report = population.leakage(eps, adversary=adversary, **options)
            case = (population.spec(), eps, adversary, truth)
            assert report.best.epsilon == min(bound.epsilon for bound in report.bounds), case
            for bound in report.bounds:
                assert bound.epsilon >= truth.level - BELOW, (bound, case)
                nothing = truth.attack is None and bound.epsilon == 0.0
                assert bound.epsilon >= eps or nothing, (bound, case)
                assert bound.epsilon >= before.get(bound.theorem, 0.0), (bound, case)
                before[bound.theorem] = bound.epsilon
                if bound.tight == "exact":
                    # Where no record has two possible values nothing leaks. A size alone admits
                    # other laws than the one at hand, in which some has.
                    level = max(truth.level, eps) if has_secret(population, adversary) else 0.0
                    assert bound.epsilon <= level * (1 + EXACT) + EXACT, (bound, case)
                else:
                    slack = min(slack, bound.epsilon - truth.level)
    return slack


def random_epsilons(rng: np.random.Generator) -> list[float]:
    return [float(10 ** rng.uniform(-2.5, -0.5)), float(rng.uniform(0.3, 4.0))]


# ------------------------------------------------------ two-state chains


def spread(rng: np.random.Generator) -> np.ndarray:
    rates = rng.uniform(0.02, 0.98, size=2)
    return np.array([[1 - rates[0], rates[0]], [rates[1], 1 - rates[1]]])


def extreme(rng: np.random.Generator) -> np.ndarray:
    """Rates near 0 or 1: sticky, nearly periodic and nearly absorbing chains."""
    rates = 10 ** rng.uniform(-5, -0.5, size=2)
    rates = np.where(rng.random(2) < 0.5, rates, 1 - rates)
    return np.array([[1 - rates[0], rates[0]], [rates[1], 1 - rates[1]]])


def symmetric(rng: np.random.Generator) -> np.ndarray:
    flip = rng.uniform(0.01, 0.99)
    return np.array([[1 - flip, flip], [flip, 1 - flip]])


def with_zeros(rng: np.random.Generator) -> np.ndarray:
    """Some transitions impossible: absorbing, periodic, alternating, frozen and constant chains."""
    rates = [float(rng.choice([0.0, 1.0, rng.uniform(0.05, 0.95)])) for _ in range(2)]
    if 0.0 not in rates and 1.0 not in rates:
        rates[int(rng.integers(2))] = float(rng.integers(2))
    return np.array([[1 - rates[0], rates[0]], [rates[1], 1 - rates[1]]])


KERNELS = {kernel.__name__: kernel for kernel in (spread, extreme, symmetric, with_zeros)}


def stationary_start(rng: np.random.Generator) -> str:
    return "stationary"


def given_start(rng: np.random.Generator) -> tuple[float, ...]:
    item = float(rng.choice([rng.uniform(0.01, 0.99), 10 ** rng.uniform(-5, -1)]))
    return (1 - item, item) if rng.random() < 0.5 else (item, 1 - item)


def known_start(rng: np.random.Generator) -> tuple[float, ...]:
    return ((1.0, 0.0), (0.0, 1.0))[rng.integers(2)]


STARTS = {start.__name__: start for start in (stationary_start, given_start, known_start)}
FAMILIES = list(itertools.product(KERNELS, STARTS))


@pytest.mark.parametrize(("kernel", "start"), FAMILIES)
def test_two_state_chains(kernel, start):
    rng = np.random.default_rng([1, FAMILIES.index((kernel, start))])
    for _ in range(runs(2000 // len(FAMILIES))):
        transition = KERNELS[kernel](rng)
        initial = STARTS[start](rng)
        if initial == "stationary" and 0.0 in (transition[0, 1], transition[1, 0]):
            continue  # a state is never left: such chains must state how they start
        length = int(rng.integers(1, LONGEST + 1))
        population = MarkovChain(transition=transition.tolist(), initial=initial, length=length)
        check(population, chains.joint(transition, initial, length), random_epsilons(rng))


@pytest.mark.parametrize("start", STARTS)
def test_two_state_chains_always_get_an_exact_answer(start):
    rng = np.random.default_rng(2)
    for kernel in KERNELS.values():
        transition = kernel(rng)
        initial = STARTS[start](rng)
        if initial == "stationary" and 0.0 in (transition[0, 1], transition[1, 0]):
            continue
        population = MarkovChain(transition=transition.tolist(), initial=initial, length=4)
        for adversary in ADVERSARIES:
            assert population.leakage(0.7, adversary=adversary).best.tight == "exact"


def test_calibrated_budgets_keep_the_truth_within_the_target():
    rng = np.random.default_rng(12)
    for _ in range(runs(1000)):
        transition = KERNELS[str(rng.choice(list(KERNELS)))](rng)
        initial, length = given_start(rng), int(rng.integers(1, LONGEST + 1))
        population = MarkovChain(transition=transition.tolist(), initial=initial, length=length)
        target, adversary = float(10 ** rng.uniform(-2, 1)), str(rng.choice(ADVERSARIES))
        answer = population.calibrate(target, adversary=adversary)
        case = (population.spec(), target, adversary, answer)
        assert 0 < answer.dp_epsilon <= target, case
        assert answer.certified_epsilon <= target, case
        joint = chains.joint(transition, initial, length)
        truth = finite.worst_case(joint, answer.dp_epsilon, adversary).level
        assert truth <= target + BELOW, case
        if truth > 0:  # the whole budget is used: exact theorems waste none of it
            assert truth >= target * (1 - EXACT), case


@pytest.mark.parametrize("seed", range(4))
def test_several_series_leak_like_one(seed):
    rng = np.random.default_rng([3, seed])
    transition = spread(rng)
    population = MarkovChain(transition=transition.tolist(), length=2)
    check(population, chains.copies(chains.joint(transition, "stationary", 2), 2), [0.2, 1.5])


@pytest.mark.parametrize("zeros", [False, True])
def test_three_state_chains(zeros):
    rng = np.random.default_rng([4, zeros])
    for _ in range(runs(300)):
        transition = rng.dirichlet(np.full(3, rng.choice([0.5, 1.0, 5.0])), size=3) + 1e-6
        if zeros:
            transition *= rng.random((3, 3)) < 0.7
            transition += np.diag(np.where(transition.sum(axis=1) == 0, 1.0, 0.0))
        transition /= transition.sum(axis=1, keepdims=True)
        initial: str | tuple[float, ...] = "stationary"
        if zeros or rng.random() < 0.5:
            initial = tuple(mechanisms.random_joint(rng, (3,), zeros=0.3 * zeros).tolist())
        length = int(rng.integers(1, 4))
        population = MarkovChain(transition=transition.tolist(), initial=initial, length=length)
        check(population, chains.joint(transition, initial, length), random_epsilons(rng))


# ------------------------------------------------------ clusters and independent records


def test_clusters_of_any_law():
    rng = np.random.default_rng(5)
    for _ in range(runs(400)):
        size = int(rng.integers(1, 5))
        shape = tuple(rng.integers(2, 4 if size < 4 else 3, size=size).tolist())
        joint = mechanisms.random_joint(rng, shape, zeros=float(rng.choice([0.0, 0.5])))
        for population in (Clusters(size=size), Unknown(records=size)):
            for eps, adversary in itertools.product(random_epsilons(rng), ADVERSARIES):
                truth = finite.worst_case(joint, eps, adversary).level
                for bound in population.leakage(eps, adversary=adversary).bounds:
                    assert bound.epsilon >= truth - BELOW


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_clusters_can_be_identical_records(size):
    identical = np.zeros((2,) * size)
    identical[(0,) * size] = identical[(1,) * size] = 0.5
    check(Clusters(size=size), identical, [0.05, 1.3])
    check(Unknown(records=size), identical, [0.05, 1.3])


def test_independent_records():
    rng = np.random.default_rng(6)
    for _ in range(runs(100)):
        laws = [rng.dirichlet(np.ones(rng.integers(2, 4))) for _ in range(rng.integers(1, 4))]
        check(Independent(), chains.product(*laws), random_epsilons(rng))


# ------------------------------------------------------ Gaussian populations


def correlated(rng: np.random.Generator, size: int, equal: bool) -> np.ndarray:
    """A covariance with correlations from weak to strong; unequal variances unless `equal`."""
    root = rng.normal(size=(size, size)) + rng.uniform(0, 4) * np.eye(size)
    cov = root @ root.T
    scale = 1 / np.sqrt(np.diag(cov))
    if not equal:
        scale *= np.exp(rng.normal(size=size))
    cov = cov * np.outer(scale, scale)
    cov = (cov + cov.T) / 2
    if equal:
        np.fill_diagonal(cov, 1.0)
    return cov


def factors(population: Population, adversary: str) -> dict[str, float]:
    report = population.leakage(1.0, adversary=adversary, kind="lipschitz")
    return {bound.theorem: bound.epsilon for bound in report.bounds}


@pytest.mark.parametrize("equal", [True, False])
def test_gaussian_factors_are_never_below_the_enumeration(equal):
    rng = np.random.default_rng([7, equal])
    listed = 0
    for _ in range(runs(600)):
        size = int(rng.integers(1, 7))
        cov = correlated(rng, size, equal)
        population = Gaussian(covariance=cov.tolist())
        for adversary in ADVERSARIES:
            needed = gaussian.shift_factor(cov, adversary)
            actual = factors(population, adversary)
            for theorem, factor in actual.items():
                assert factor >= needed - BELOW, (theorem, cov, adversary)
            if adversary == "any":
                if np.linalg.cond(cov) < 1e4:  # else rounding is charged for, or m is answered
                    assert actual["gaussian-covariance"] <= needed * (1 + 1e-6)
                listed += "gaussian-max-correlation" in actual
                assert equal or size == 1 or "gaussian-max-correlation" not in actual
    assert listed > 0


def test_max_correlation_covers_every_covariance_within_it():
    rng = np.random.default_rng(8)
    tried = 0
    for _ in range(runs(1000)):
        size = int(rng.integers(2, 7))
        rho = float(rng.uniform(0, 1 / max(size - 2, 1)))
        signs = rng.choice([-1.0, 1.0], size=(size, size))
        cov = rho * np.tril(signs if rng.random() < 0.5 else rng.uniform(-1, 1, (size, size)), -1)
        cov = cov + cov.T + np.eye(size)
        if np.linalg.eigvalsh(cov)[0] < 1e-6:
            continue
        tried += 1
        actual = factors(Gaussian(size=size, max_correlation=rho), "any")
        for theorem, factor in actual.items():
            assert factor >= gaussian.shift_factor(cov) - BELOW, (theorem, cov)
    assert tried > runs(1000) / 4


def test_sums_of_regressions_cover_every_covariance_within_them():
    rng = np.random.default_rng(108)
    for _ in range(runs(500)):
        size, smaller = int(rng.integers(2, 7)), int(rng.integers(0, 3))
        loadings = rng.normal(size=(size, size))
        cov = loadings @ loadings.T + float(rng.uniform(0.01, 5.0)) * np.eye(size)
        spread = np.diag(np.exp(rng.normal(size=size)))
        truth = gaussian.shift_factor(spread @ cov @ spread)
        stated = Gaussian(size=size, max_regression_sum=truth - 1.0)
        factor = factors(stated, "any")
        assert factor["gaussian-regression"] == pytest.approx(truth, abs=BELOW)
        assert factor["gaussian-regression"] >= truth - BELOW
        # A cluster with fewer records is one of them too.
        kept = spread @ cov @ spread
        kept = kept[: max(size - smaller, 1), : max(size - smaller, 1)]
        assert gaussian.shift_factor(kept) <= truth + BELOW
    factor = factors(Gaussian(size=3, max_regression_sum=7.5), "any")
    assert factor["gaussian-regression"] == pytest.approx(3.0)  # none moves by more than the target


def test_autoregressive_factors_by_enumeration():
    rng = np.random.default_rng(9)
    for _ in range(runs(200)):
        phi, length = float(rng.uniform(-0.95, 0.95)), int(rng.integers(1, 8))
        steps = np.arange(length)
        cov = phi ** np.abs(np.subtract.outer(steps, steps))
        actual = factors(Autoregressive(coefficient=phi, length=length), "any")
        needed = gaussian.shift_factor(cov)
        assert all(factor >= needed - BELOW for factor in actual.values())
        assert actual["autoregressive"] == pytest.approx(needed, abs=1e-9)
        gaps = np.sort(rng.choice(length, size=int(rng.integers(1, length + 1)), replace=False))
        assert gaussian.shift_factor(cov[np.ix_(gaps, gaps)]) <= actual["autoregressive"] + BELOW


def test_gaussian_levels_hold_by_shift_coupling():
    rng = np.random.default_rng(10)
    for _ in range(runs(600)):
        size = int(rng.integers(1, 7))
        cov, eps = correlated(rng, size, equal=False), float(rng.uniform(0.05, 3))
        adversary = str(rng.choice(ADVERSARIES))
        level = Gaussian(covariance=cov.tolist()).leakage(
            eps, adversary=adversary, kind="lipschitz"
        )
        width = float(rng.choice([0.5, 5.0, 1e4]))
        for aligned in (False, True):
            trial = gaussian.coupled_trial(
                rng, cov, np.zeros(size), -width / 2, width / 2, eps, adversary, 60, aligned
            )
            assert level.best.epsilon >= trial.log_ratio - BELOW, (cov, eps, adversary, trial)


@pytest.mark.parametrize("secrets", ["bounded", "unbounded"])
def test_gaussian_levels_hold_by_integration_for_two_records(secrets):
    rng = np.random.default_rng([11, len(secrets)])
    for _ in range(runs(200)):
        cov, mean = correlated(rng, 2, equal=bool(rng.integers(2))), rng.normal(size=2)
        lo = float(rng.normal())
        hi, eps = lo + float(rng.uniform(0.2, 8)), float(rng.uniform(0.1, 3))
        values = [lo, hi, *rng.uniform(lo, hi, size=2)]
        if secrets == "unbounded":
            values += [lo - 10.0, hi + 10.0]
        population = Gaussian(covariance=cov.tolist())
        for adversary in ADVERSARIES:
            measured = gaussian.laplace_sum_leakage(
                cov, mean, lo, hi, eps, values, adversary, step=0.01
            )
            report = population.leakage(eps, adversary=adversary, kind="lipschitz", secrets=secrets)
            assert report.best.epsilon >= measured.level - BELOW, (cov, mean, lo, hi, eps, measured)


def test_lipschitz_factors_do_not_hold_for_every_mechanism():
    """Why `kind` matters: noise on the count of positive values leaks more than the factor allows.

    The outcome's weight is `e^eps` for each positive record; secrets 3 and -3, correlation .1.
    """
    eps, cov = 1.2, [[1.0, 0.1], [0.1, 1.0]]
    sd = math.sqrt(0.99)
    high, low = (1 + math.expm1(eps) * ndtr(0.1 * secret / sd) for secret in (3.0, -3.0))
    leaks = eps + math.log(high / low)
    population = Gaussian(covariance=cov)
    assert population.leakage(eps, kind="lipschitz").best.epsilon < 1.33 < leaks
    anything = population.leakage(eps).best
    assert anything.epsilon >= leaks
    assert anything.theorem == "cluster-size"
