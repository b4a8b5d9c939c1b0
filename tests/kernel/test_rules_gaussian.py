"""Rules for Gaussian populations: the package's levels, the oracle's truth, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.notions import ColumnCost, Cost
from bayesdp.populations import Autoregressive, Gaussian
from bayesdp.theorems import Question, report
from tests.effort import runs
from tests.kernel.steps import agreed, bare, derive, make_step, read_of, refused
from tests.oracles import gaussian
from tests.oracles.gaussian import Read

RULES = {
    "autoregressive",
    "gaussian-covariance",
    "gaussian-equal-variances",
    "gaussian-max-correlation",
    "gaussian-regression",
    "gaussian-vector",
    "gaussian-walk-summable",
}
BELOW = 1e-12
EXACT = 1e-10


def random_covariance(rng: np.random.Generator, size: int) -> np.ndarray:
    loadings = rng.normal(size=(size, int(rng.integers(1, size + 2))))
    cov = loadings @ loadings.T + np.diag(rng.uniform(0.3, 2.0, size=size))
    scale = np.exp(rng.normal(size=size))
    cov = cov * np.outer(scale, scale)
    return (cov + cov.T) / 2


def correlations(rng: np.random.Generator, size: int, largest: float) -> np.ndarray:
    off = np.triu(rng.uniform(-largest, largest, size=(size, size)), 1)
    return off + off.T + np.eye(size)


def random_cost(rng: np.random.Generator) -> Cost:
    lipschitz = float(10 ** rng.uniform(-2, 1))
    mixed = rng.random() < 0.5
    return Cost(
        any=float(rng.uniform(0, 1)) if mixed else 0.0,
        lipschitz=lipschitz,
        slack=lipschitz * 2.0**-20 if rng.random() < 0.5 else 0.0,
    )


def total(cost: Cost, factor: float, size: int) -> float:
    return factor * cost.lipschitz + (size - 1) * cost.slack + size * cost.any


@pytest.mark.prove
def test_covariances_and_precisions():
    rng = np.random.default_rng(51)
    for _ in range(runs(200)):
        size = int(rng.integers(1, 7))
        cov, cost = random_covariance(rng, size), random_cost(rng)
        truth = total(cost, gaussian.shift_factor(cov), size)
        answer = agreed(Gaussian(covariance=cov.tolist()), cost, RULES)
        assert answer["gaussian-covariance"] == pytest.approx(truth, rel=EXACT)
        assert all(level >= truth * (1 - BELOW) for level in answer.values())
        inverse = np.linalg.inv(cov)
        inverse = (inverse + inverse.T) / 2
        answer = agreed(Gaussian(precision=inverse.tolist()), cost, RULES)
        assert answer["gaussian-covariance"] == pytest.approx(truth, rel=1e-8)
        assert all(level >= truth * (1 - 1e-8) for level in answer.values())


@pytest.mark.prove
def test_equal_variances():
    rng = np.random.default_rng(52)
    applied = set()
    for _ in range(runs(100)):
        size = int(rng.integers(2, 7))
        cov = correlations(rng, size, float(rng.uniform(0.02, 0.9 / size)))
        cost = random_cost(rng)
        truth = total(cost, gaussian.shift_factor(cov), size)
        answer = agreed(Gaussian(covariance=(cov * 3.7).tolist()), cost, RULES)
        assert all(level >= truth * (1 - BELOW) for level in answer.values())
        rho = float(np.abs(cov - np.eye(size)).max())
        again = agreed(Gaussian(size=size, max_correlation=rho), cost, RULES)
        for rule, level in again.items():
            assert level == pytest.approx(answer[rule], rel=1e-9)
        applied |= set(again)
    assert applied == {"gaussian-equal-variances", "gaussian-max-correlation"}


def test_stated_sums_of_regressions():
    rng = np.random.default_rng(57)
    for size in (1, 2, 5, 10**6, 2**53):
        for largest in (0.0, 1e-9, float(rng.uniform(0, 2)), 0.5, float(size), 1e300):
            cost = random_cost(rng)
            stated = Gaussian(size=size, max_regression_sum=largest)
            truth = total(cost, min(1.0 + largest, float(size)), size)
            assert agreed(stated, cost, RULES)["gaussian-regression"] == pytest.approx(truth)


def test_large_groups_of_equal_variances():
    rng = np.random.default_rng(53)
    for size in (1, 2, 3, 40, 10**6, 2**53):
        for rho in (0.0, 1e-9, float(rng.uniform(0, 1)), 0.5, 1 / 3, 0.999):
            agreed(Gaussian(size=size, max_correlation=rho), Cost(lipschitz=0.4), RULES)


def test_series():
    rng = np.random.default_rng(54)
    for _ in range(runs(200)):
        phi, length = float(rng.uniform(-0.95, 0.95)), int(rng.integers(1, 8))
        cost = random_cost(rng)
        places = np.arange(length)
        cov = phi ** np.abs(places[:, None] - places)
        answer = agreed(Autoregressive(coefficient=phi, length=length), cost, RULES)
        truth = total(cost, gaussian.shift_factor(cov), length)
        assert answer["autoregressive"] == pytest.approx(truth, rel=EXACT)
    long = agreed(Autoregressive(coefficient=-0.6, length=2**53), Cost(lipschitz=0.7), RULES)
    assert long["autoregressive"] == pytest.approx(2.8, rel=1e-12)


@pytest.mark.prove
def test_vectors():
    rng = np.random.default_rng(55)
    for _ in range(runs(60)):
        columns, size = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        names = ("a", "b", "c")[:columns]
        cov = random_covariance(rng, size * columns)
        widths = [float(rng.uniform(0.5, 8.0)) for _ in names]
        bounds = [(1.0, 1.0 + width) for width in widths]
        widths = [high - low for low, high in bounds]
        reads = [
            Read(
                int(rng.integers(columns)),
                0.0,
                float(rng.uniform(0.5, 8)),
                float(rng.uniform(0, 2)),
            )
            for _ in range(int(rng.integers(1, 4)))
        ]
        spent = tuple(ColumnCost(names[r.column], r.hi, r.eps, r.eps * 2.0**-20) for r in reads)
        cost = Cost(any=float(rng.uniform(0, 1)), by_column=spent)
        given = Gaussian(covariance=cov.tolist(), size=size, covers=names, bounds=bounds)
        actual = agreed(given, cost, RULES)["gaussian-vector"]
        truth = gaussian.vector_level(cov, columns, reads, widths) + size * cost.any
        truth += (size - 1) * sum(item.slack for item in spent)
        assert actual == pytest.approx(truth, rel=EXACT)
        agreed(given, Cost(lipschitz=0.5), RULES)


def lattice(size: int, weight: float) -> np.ndarray:
    precision = 4.0 * np.eye(size)
    for i in range(size):
        for j in (i + 1, i + 20):
            if j < size:
                precision[i, j] = precision[j, i] = -weight * (-1) ** (i + j)
    return precision


def test_many_records_by_a_vector():
    small = Gaussian(precision=lattice(120, 0.55).tolist())
    exact = agreed(small, Cost(lipschitz=1.0), RULES)["gaussian-walk-summable"]
    assert exact > 1.5
    # Above 150 rows the kernel bounds row sums and diagonals apart, so it stays above the package.
    large = lattice(400, 0.55)
    population, cost = Gaussian(precision=large.tolist()), Cost(lipschitz=1.0)
    bounds = report(Question(population), cost).bounds
    (bound,) = (bound for bound in bounds if bound.theorem == "gaussian-walk-summable")
    step = make_step(bound.theorem, bare(population), cost, details=read_of(bound))
    level = certified_level(step)
    inverse = np.linalg.inv(4.0 * np.eye(400) - np.abs(large - 4.0 * np.eye(400)))
    exact = np.minimum(inverse / np.diag(inverse)[:, None], 1.0).sum(axis=1).max()
    assert exact * (1 - BELOW) <= level <= exact * 1.02


def test_the_adversary_who_knows_all_others():
    step = make_step("gaussian-covariance", PAIR, Cost(lipschitz=0.7), adversary="informed")
    assert certified_level(step) == 0.7


# ------------------------------------------------------ what is refused

PAIR = {"model": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]}
UNEQUAL = {"model": "gaussian", "covariance": [[1.0, 3.0], [3.0, 100.0]]}
SINGULAR = {"model": "gaussian", "covariance": [[1.0, 1.0], [1.0, 1.0]]}
CORRELATED = {"model": "gaussian", "size": 4, "max_correlation": 0.5}
REGRESSED = {"model": "gaussian", "size": 3, "max_regression_sum": 0.5}
VECTOR = {
    "model": "gaussian",
    "size": 2,
    "columns": ["a", "b"],
    "covariance": np.eye(4).tolist(),
    "bounds": [[0.0, 1.0], [0.0, 1.0]],
}
ON_A = Cost(by_column=(ColumnCost("a", 1.0, 0.5),))


@pytest.mark.parametrize(
    ("rule", "population"),
    [
        ("gaussian-max-correlation", UNEQUAL),
        ("gaussian-equal-variances", UNEQUAL),
        ("gaussian-max-correlation", CORRELATED),  # rho (m - 2) is 1
        ("gaussian-max-correlation", {"model": "gaussian", "size": 2, "max_correlation": 1.0}),
        ("gaussian-max-correlation", {"model": "gaussian", "precision": PAIR["covariance"]}),
        ("gaussian-covariance", CORRELATED),
        ("gaussian-regression", CORRELATED),
        ("gaussian-regression", PAIR),
        ("gaussian-regression", CORRELATED | {"max_regression_sum": 0.5}),
        ("gaussian-covariance", REGRESSED),
        ("gaussian-max-correlation", REGRESSED),
        ("gaussian-equal-variances", REGRESSED),
        ("gaussian-walk-summable", REGRESSED),
        ("gaussian-covariance", SINGULAR),
        ("gaussian-equal-variances", SINGULAR),
        ("gaussian-walk-summable", SINGULAR),
        ("gaussian-covariance", {"model": "gaussian", "covariance": [[1.0, 2.0], [2.0, 1.0]]}),
        ("gaussian-covariance", {"model": "gaussian", "covariance": [[1.0, 0.5], [0.4, 1.0]]}),
        ("gaussian-covariance", {"model": "gaussian", "covariance": [[1.0, 0.5]]}),
        ("gaussian-covariance", PAIR | {"precision": PAIR["covariance"]}),
        ("gaussian-covariance", PAIR | {"size": 1}),
        ("gaussian-covariance", PAIR | {"model": "unknown"}),
        ("gaussian-covariance", VECTOR),
        ("gaussian-walk-summable", CORRELATED),
        (
            "gaussian-walk-summable",  # positive definite, and not walk-summable
            {"model": "gaussian", "precision": (np.eye(3) * 0.4 + 0.6).tolist()},
        ),
        ("autoregressive", {"model": "autoregressive", "coefficient": 1.0, "length": 9}),
        ("autoregressive", {"model": "autoregressive", "coefficient": 0.5, "length": 0}),
        ("autoregressive", PAIR),
    ],
)
def test_refusals(rule, population):
    refused(make_step(rule, population, Cost(lipschitz=0.5)))


@pytest.mark.parametrize(
    "change",
    [
        {"bounds": [[0.0, 1.0], [1.0, 1.0]]},
        {"bounds": [[0.0, 1.0]]},
        {"size": 4},
        {"columns": ["b", "c"]},
        {"columns": ["a", "a"]},
        {"covariance": np.ones((4, 4)).tolist()},
    ],
)
def test_refused_vectors(change):
    certified_level(make_step("gaussian-vector", VECTOR, ON_A))
    refused(make_step("gaussian-vector", VECTOR | change, ON_A))


@pytest.mark.parametrize("rule", sorted(RULES - {"gaussian-vector", "autoregressive"}))
def test_secrets_outside_and_mechanisms_of_any_kind(rule):
    about = {
        "gaussian-max-correlation": CORRELATED | {"size": 2},
        "gaussian-regression": REGRESSED,
    }
    population = about.get(rule, PAIR)
    certified_level(make_step(rule, population, Cost(lipschitz=0.5)))
    refused(make_step(rule, population, Cost(lipschitz=0.5), secrets="unbounded"))
    refused(make_step(rule, population, Cost(any=0.5)))
    refused(make_step(rule, population, ON_A))


def test_matrices_in_files_are_unknown():
    filed = {"model": "gaussian", "precision": {"file": "q.mtx", "sha256": "0" * 64}}
    for rule in ("gaussian-walk-summable", "gaussian-covariance"):
        refused(make_step(rule, filed, Cost(lipschitz=0.5)), UnknownError)


def test_a_claim_of_the_best_case_is_refused():
    plain = bare(Gaussian(covariance=PAIR["covariance"]))
    step = make_step("gaussian-covariance", plain, Cost(lipschitz=1.0), epsilon=1.5)
    assert derive(step) == pytest.approx(1.5)
    step["conclusion"]["epsilon"] = 1.4999
    with pytest.raises(InvalidError):
        derive(step)
