"""Vector records: by hand, against the enumeration, and against attacks on coupled draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayesdp.notions import ColumnCost, Cost
from bayesdp.populations import Gaussian
from bayesdp.theorems import Question, report
from bayesdp.theorems.gaussian import largest_correlation
from tests.effort import runs
from tests.oracles import gaussian
from tests.oracles.gaussian import Read

NAMES = ("a", "b", "c")


def population(cov: np.ndarray, bounds: list[tuple[float, float]]) -> Gaussian:
    return Gaussian(
        covariance=np.asarray(cov).tolist(),
        size=len(cov) // len(bounds),
        covers=NAMES[: len(bounds)],
        bounds=bounds,
    )


def level(given: Gaussian, reads: list[Read], **more) -> dict[str, float]:
    spent = tuple(ColumnCost(NAMES[r.column], r.hi - r.lo, r.eps) for r in reads)
    actual = report(Question(given), Cost(by_column=spent, **more))
    return {bound.theorem: bound.epsilon for bound in actual.bounds}


def by_hand() -> Gaussian:
    """The height of record 2 depends on height and weight of record 1, its weight on the weight."""
    cov = np.eye(4)
    cov[0:2, 2:4] = [[0.2, 0.0], [0.3, 0.1]]
    cov[2:4, 0:2] = cov[0:2, 2:4].T
    return population(cov, [(0, 10), (0, 20)])


@pytest.mark.parametrize(
    ("reads", "needed"),
    [
        # Record 1 moves the height of record 2 by .2 * 10 + .3 * 20 = 8, its weight by .1 * 20 = 2.
        # Record 2 moves the height of record 1 by .2 * 10 = 2, its weight by .3 * 10 + .1 * 20 = 5.
        ([Read(0, 0, 10, 1.0)], 1.8),
        ([Read(1, 0, 20, 1.0)], 1.25),
        ([Read(0, 0, 10, 1.0), Read(1, 0, 20, 1.0)], 1.8 + 1.1),
        ([Read(0, 0, 10, 0.1), Read(1, 0, 20, 1.0)], 0.12 + 1.25),
        ([Read(0, 0, 4, 1.0)], 2.0),  # a narrower clip can't move further than its width
        ([Read(0, -5, 15, 1.0)], 1.4),  # a wider one notices less
    ],
)
def test_by_hand(reads, needed):
    assert level(by_hand(), reads)["gaussian-vector"] == pytest.approx(needed, abs=1e-9)


def test_other_kinds_add_up():
    reached = level(by_hand(), [Read(0, 0, 10, 1.0)], any=0.5)
    assert reached["gaussian-vector"] == pytest.approx(1.8 + 2 * 0.5, abs=1e-9)
    slack = Cost(by_column=(ColumnCost("a", 10.0, 1.0, 0.01),))
    bound = report(Question(by_hand()), slack).best
    assert bound.epsilon == pytest.approx(1.81, abs=1e-9)


def test_without_a_column_the_worst_column_counts():
    best = by_hand().leakage(1.0, kind="lipschitz").best
    assert best.theorem == "gaussian-vector"
    assert best.epsilon == pytest.approx(1.8, abs=1e-9)
    assert by_hand().leakage(1.0, adversary="informed", kind="lipschitz").best.epsilon == 1.0


def test_refusals():
    given = by_hand()
    for options, reason in (
        ({"kind": "any"}, "kind="),
        ({"kind": "lipschitz", "secrets": "unbounded"}, "secrets="),
    ):
        actual = given.leakage(1.0, **options)
        assert actual.best.theorem == "cluster-size"
        assert [reason in r.reason for r in actual.refused if r.theorem == "gaussian-vector"] == [
            True
        ]
    other = report(Question(given), Cost(by_column=(ColumnCost("age", 10.0, 1.0),)))
    assert other.best.theorem == "cluster-size"
    large = population(np.eye(22), [(0, 1), (0, 1)])
    assert "up to 10" in large.leakage(1.0, kind="lipschitz").refused[0].reason


def random_case(
    rng: np.random.Generator,
) -> tuple[np.ndarray, int, list[Read], list[tuple[float, float]]]:
    columns = int(rng.integers(2, 4))
    size = int(rng.integers(1, 5 if columns == 2 else 4))
    root = rng.normal(size=(size * columns,) * 2) + rng.uniform(0.3, 4) * np.eye(size * columns)
    scale = np.exp(rng.normal(size=size * columns))
    cov = root @ root.T * np.outer(scale, scale)
    cov = (cov + cov.T) / 2
    middle = rng.normal(size=columns)
    widths = np.exp(rng.normal(size=columns)) * float(rng.choice([1.0, 100.0]))
    bounds = [(float(m - w / 2), float(m + w / 2)) for m, w in zip(middle, widths, strict=True)]
    reads = []
    for _ in range(int(rng.integers(1, 4))):
        column = int(rng.integers(columns))
        lo, hi = bounds[column]
        lo, hi = (lo, hi) if rng.random() < 0.5 else sorted(rng.uniform(lo - 2, hi + 2, size=2))
        reads.append(Read(column, float(lo), float(hi), float(rng.uniform(0.05, 1.5))))
    return cov, columns, reads, bounds


@pytest.mark.prove
def test_equal_to_the_enumeration_and_above_every_attack():
    rng = np.random.default_rng(1)
    for _ in range(runs(300)):
        cov, columns, reads, bounds = random_case(rng)
        actual = level(population(cov, bounds), reads)["gaussian-vector"]
        widths = [hi - lo for lo, hi in bounds]
        needed = gaussian.vector_level(cov, columns, reads, widths)
        case = (cov, reads, bounds)
        assert actual >= needed - 1e-9, case
        if np.linalg.cond(cov) < 1e4:
            assert actual <= needed * (1 + 1e-6), case
        for aligned in (False, True, True):
            trial = gaussian.vector_trial(rng, cov, columns, reads, bounds, 60, aligned)
            assert actual >= trial - 1e-9, (case, trial)


def test_the_attacks_come_near():
    """With power: wide intervals, tilted weights: nine tenths of the level are really leaked."""
    rng = np.random.default_rng(2)
    blocks = np.kron([[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.3], [0.3, 1.0]])
    bounds = [(-5e4, 5e4), (-5e4, 5e4)]
    reads = [Read(0, *bounds[0], 1.0), Read(1, *bounds[1], 0.5)]
    actual = level(population(blocks, bounds), reads)["gaussian-vector"]
    assert actual == pytest.approx(1.5 * 1.5, abs=1e-9)
    attacks = [
        gaussian.vector_trial(rng, blocks, 2, reads, bounds, 20, aligned=True) for _ in range(60)
    ]
    assert 0.999 * actual < max(attacks) <= actual


def test_more_spending_never_lowers_the_level():
    rng = np.random.default_rng(3)
    for _ in range(runs(100)):
        cov, _, reads, bounds = random_case(rng)
        given = population(cov, bounds)
        levels = [level(given, reads[:k])["gaussian-vector"] for k in range(1, len(reads) + 1)]
        assert levels == sorted(levels)


def test_one_column_is_the_covariance_theorem():
    cov = np.array([[1.0, 0.3], [0.3, 4.0]])
    single = Gaussian(covariance=cov.tolist()).leakage(1.0, kind="lipschitz")
    doubled = np.kron(cov, np.eye(2))  # two independent columns of the same law
    given = population(doubled, [(0, 1), (0, 1)])
    assert level(given, [Read(0, 0, 1, 1.0)])["gaussian-vector"] == pytest.approx(
        next(b.epsilon for b in single.bounds if b.theorem == "gaussian-covariance"), abs=1e-9
    )


def test_a_correlation_that_no_double_holds_is_rounded_up() -> None:
    """1/3 lies above the nearest double: a factor by that one would be too small."""
    population = Gaussian(covariance=((3.0, 1.0), (1.0, 3.0)))
    size, largest, equal = largest_correlation(population)
    assert (size, equal) == (2, True)
    assert Fraction(largest) >= Fraction(1, 3) > Fraction(1.0 / 3.0)
