"""Walk-summable factors against exact rational arithmetic and against the enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from bayesdp.leakage.walk import (
    comparison_of_inverse,
    covariance_factor,
    dense_factor,
    diagonal_reciprocal,
    sparse_factor,
    walk_factor,
)
from bayesdp.populations.precision import dominating_vector, least_row, read_precision
from tests.effort import runs
from tests.oracles import gaussian


def exact_inverse(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    n = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


def exact_factor(comparison: list[list[Fraction]], clip: bool = True) -> Fraction:
    s = exact_inverse(comparison)
    cap = (lambda ratio: min(ratio, Fraction(1))) if clip else (lambda ratio: ratio)
    return max(sum(cap(s[i][j] / s[i][i]) for j in range(len(s))) for i in range(len(s)))


def compare(precision: list[list[Fraction]]) -> list[list[Fraction]]:
    return [
        [value if i == j else -abs(value) for j, value in enumerate(row)]
        for i, row in enumerate(precision)
    ]


def random_precision(rng: np.random.Generator, size: int, margin: float) -> np.ndarray:
    """Walk-summable, of any signs, scales and zeros; nearly not for a small margin."""
    off = np.triu(rng.normal(size=(size, size)) * (rng.random((size, size)) < 0.7), 1)
    off = off + off.T
    radius = max(np.abs(np.linalg.eigvalsh(np.abs(off))).max(), 1e-9)
    matrix = np.eye(size) + off * (1 - margin) / radius
    scale = np.exp(rng.normal(size=size))
    matrix = matrix * np.outer(scale, scale)
    return (matrix + matrix.T) / 2


def test_dense_factors_enclose_the_exact_ones():
    rng = np.random.default_rng(1)
    for _ in range(runs(300)):
        size = int(rng.integers(1, 7))
        matrix = random_precision(rng, size, float(rng.choice([0.5, 0.05, 1e-4])))
        factor = walk_factor(read_precision(matrix))
        assert factor is not None
        exact = exact_factor(compare([[Fraction(float(v)) for v in row] for row in matrix]))
        assert Fraction(factor[0]) >= exact
        assert factor[0] <= float(exact) * (1 + 1e-7)


def test_covariances_are_inverted_outward():
    rng = np.random.default_rng(2)
    certified = 0
    for _ in range(runs(300)):
        size = int(rng.integers(1, 7))
        precision = random_precision(rng, size, float(rng.choice([0.5, 0.05, 1e-4])))
        covariance = np.linalg.inv(precision)
        covariance = (covariance + covariance.T) / 2
        rows = [[Fraction(float(v)) for v in row] for row in covariance]
        exact = compare(exact_inverse(rows))
        lower = comparison_of_inverse(covariance)
        assert lower is not None
        for i in range(size):
            for j in range(size):
                assert Fraction(float(lower[i, j])) <= exact[i][j]
        actual = covariance_factor(tuple(map(tuple, covariance.tolist())))
        if actual is not None:
            certified += 1
            assert Fraction(actual[0]) >= exact_factor(exact)
            assert actual[0] <= float(exact_factor(exact)) * (1 + 1e-5)
    assert certified > runs(300) * 0.8


def test_never_below_the_enumeration():
    rng = np.random.default_rng(3)
    for _ in range(runs(400)):
        size = int(rng.integers(1, 7))
        precision = random_precision(rng, size, float(rng.uniform(0.01, 0.9)))
        needed = gaussian.shift_factor(np.linalg.inv(precision))
        factor = walk_factor(read_precision(precision))
        assert factor is not None
        assert factor[0] >= needed - 1e-9
        vector = read_precision(precision).vector
        assert vector is not None
        assert sparse_factor(read_precision(precision).comparison, vector) >= needed - 1e-9
        # Where all partial correlations are attractive the worst adversary knows nothing.
        attractive = -np.abs(precision) + 2 * np.diag(np.diag(precision))
        exactly = walk_factor(read_precision(attractive))
        assert exactly is not None
        assert exactly[0] == pytest.approx(
            gaussian.shift_factor(np.linalg.inv(attractive)), rel=1e-7
        )


def test_the_quick_bound_of_the_diagonal():
    rng = np.random.default_rng(4)
    for _ in range(runs(200)):
        size = int(rng.integers(1, 7))
        comparison = read_precision(random_precision(rng, size, 0.1)).comparison
        s = exact_inverse([[Fraction(float(v)) for v in row] for row in comparison.toarray()])
        before = [np.inf] * size
        for rounds in (0, 1, 2, 12):
            bounds = diagonal_reciprocal(comparison, rounds)
            assert all(Fraction(float(b)) >= 1 / s[i][i] for i, b in enumerate(bounds))
            assert all(b <= a for a, b in zip(before, bounds, strict=True))
            before = list(bounds)
        dense = comparison.toarray()
        off = np.square(dense - np.diag(np.diag(dense))) / np.diag(dense)
        quick = np.diag(dense) - off.sum(axis=1)
        assert diagonal_reciprocal(comparison, 0) == pytest.approx(quick, rel=1e-12)


def test_on_a_tree_the_quick_bound_is_exact():
    comparison = np.array(
        [[2.0, -0.5, -0.4, 0], [-0.5, 1.5, 0, -0.3], [-0.4, 0, 1, 0], [0, -0.3, 0, 1]]
    )
    exact = 1 / np.diag(np.linalg.inv(comparison))
    assert diagonal_reciprocal(sp.csr_array(comparison)) == pytest.approx(exact, rel=1e-12)


def test_by_hand():
    # Two records, Q = [[1, -1/2], [-1/2, 1]]: S = (4/3) [[1, 1/2], [1/2, 1]], factor 1 + 1/2.
    assert dense_factor(np.array([[1.0, -0.5], [-0.5, 1.0]])) == pytest.approx(1.5, rel=1e-12)
    # In other units, 1 and 1/10: record 1 moves record 2 by 5, clipped to 1.
    assert dense_factor(np.array([[1.0, -0.05], [-0.05, 0.01]])) == pytest.approx(2.0, rel=1e-12)


def test_what_is_not_walk_summable_has_no_vector():
    # All correlations -.45: positive definite, but the partial correlations frustrate each other.
    negative = np.full((3, 3), -0.45) + 1.45 * np.eye(3)
    assert np.linalg.eigvalsh(negative)[0] > 0
    assert covariance_factor(tuple(map(tuple, negative.tolist()))) is None
    assert dense_factor(np.array([[1.0, -1.0], [-1.0, 1.0]])) is None
    assert dominating_vector(sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))) is None


def test_the_check_of_a_vector_rejects_wrong_ones():
    comparison = read_precision(np.array([[1.0, -0.5], [-0.5, 1.0]])).comparison
    right = np.array([2.0, 2.0])
    assert 1.0 - 1e-12 < least_row(comparison, right) < 1.0  # exact, and charged for rounding
    for wrong in ([2.0, 1.9], [1.0, 1.0], [2.0, 5.0]):
        assert least_row(comparison, np.array(wrong)) < 1.0 - 1e-3
    vector = dominating_vector(comparison)
    assert vector is not None
    assert least_row(comparison, vector) >= 1.0


def test_stronger_dependence_costs_more():
    rng = np.random.default_rng(5)
    for _ in range(runs(100)):
        size = int(rng.integers(2, 7))
        strong = random_precision(rng, size, 0.05)
        weak = strong.copy()
        weak[~np.eye(size, dtype=bool)] *= rng.uniform(0.1, 0.99)
        factors = [walk_factor(read_precision(matrix)) for matrix in (weak, strong)]
        assert factors[0] is not None
        assert factors[1] is not None
        assert factors[0][0] <= factors[1][0] * (1 + 1e-12)


def grid(side: int, coupling: float) -> sp.csr_array:
    line = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    eye = sp.eye_array(side)
    return sp.csr_array(
        sp.eye_array(side * side) - coupling * (sp.kron(line, eye) + sp.kron(eye, line))
    )


def autoregressive(n: int, phi: float) -> sp.csr_array:
    inner = np.full(n, 1 + phi**2)
    inner[[0, -1]] = 1.0
    return sp.csr_array(
        sp.diags_array([np.full(n - 1, -phi), inner, np.full(n - 1, -phi)], offsets=[-1, 0, 1])
    )


def test_a_long_series_by_its_band_matrix():
    factor = walk_factor(read_precision(autoregressive(5000, 0.5)))
    assert factor is not None
    assert 3.0 <= factor[0] <= 3.0 + 1e-5  # (1 + phi) / (1 - phi), theory 3.8 d
    assert factor[1]["vector_entries"] == 5000
    assert "vector" not in factor[1]


def test_the_sparse_route_lies_just_above_the_dense_one():
    precision = read_precision(grid(20, 0.2))
    dense = walk_factor(precision)
    assert dense is not None
    assert precision.vector is not None
    assert dense[0] <= sparse_factor(precision.comparison, precision.vector) <= dense[0] * 1.05


@pytest.mark.parametrize("side", [100, pytest.param(1000, marks=pytest.mark.prove)])
def test_a_large_grid(side):
    matrix = grid(side, 0.2)
    precision = read_precision(matrix)
    assert precision.is_positive_definite()
    factor = walk_factor(precision)
    assert factor is not None
    assert 4.0 < factor[0] < 4.1


def test_a_grid_too_strongly_coupled_is_refused():
    assert read_precision(grid(60, 0.26)).is_positive_definite() is None
