"""What the rules for Gaussian populations share: reading the declaration, and the level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb, arb_mat

from bayesdp.kernel.arithmetic import InvalidError, ball, require, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.populations import Rows, matrix_of
from bayesdp.statements.gaussian import (
    GaussianCorrelation,
    GaussianCovariance,
    GaussianPrecision,
)

Triangle = list[list[arb]]
"""The entries of a symmetric matrix on and below its diagonal."""


def level(conversion: Conversion, factor: arb, size: int) -> arb:
    """`factor * lipschitz + (m - 1) * slack + m * any` (theory 3.8, 6); with zCDP costs, 3.8 e."""
    require(not conversion.cost.columns, "costs by column are for vector records")
    moved = factor * ball(conversion.cost.lipschitz)
    pure = moved + ball((size - 1) * conversion.cost.slack + size * conversion.cost.any)
    if conversion.alpha is None:
        return pure
    rho = shifted(factor, conversion.cost.rho_lipschitz, (size - 1), conversion.cost.rho_slack)
    return pure + ball(conversion.alpha) * (rho + ball(size**2 * conversion.cost.rho_any))


def shifted(factor: arb, rho: Fraction, others: int, slack: Fraction) -> arb:
    """`(factor sqrt(rho) + others sqrt(slack))^2`: zCDP grows with the square of a shift."""
    return (factor * ball(rho).sqrt() + others * ball(slack).sqrt()) ** 2


def matrix_declared(conversion: Conversion) -> tuple[bool, Rows]:
    """Whether the covariance is declared, or its inverse; and its numbers."""
    population = conversion.population
    if not isinstance(population, GaussianCovariance | GaussianPrecision):
        raise InvalidError("neither a covariance nor a precision of single records is declared")
    return isinstance(population, GaussianCovariance), matrix_of(population)


def symmetric(matrix: Rows) -> list[list[Fraction]]:
    """A symmetric matrix as exact fractions: the mean of what is declared and its transpose."""
    rows = [[Fraction(entry) for entry in row] for row in matrix]
    for i, row in enumerate(rows):
        for j in range(i):
            if row[j] != rows[j][i]:
                row[j] = rows[j][i] = (row[j] + rows[j][i]) / 2
    return rows


def triangle(rows: Sequence[Sequence[Fraction]]) -> Triangle:
    """The entries on and below the diagonal, in balls."""
    return [[ball(entry) for entry in row[: i + 1]] for i, row in enumerate(rows)]


def inverse(rows: Sequence[Sequence[Fraction]]) -> arb_mat:
    """The inverse in balls; `InvalidError` for a matrix that has none."""
    try:
        return arb_mat([[ball(entry) for entry in row] for row in rows]).inv()
    except ZeroDivisionError:
        raise InvalidError("the matrix is not positive definite") from None


def group(conversion: Conversion) -> tuple[int, Fraction, arb]:
    """`m`, the largest |correlation| `rho`, and by how much standard deviations differ at most."""
    population = conversion.population
    if isinstance(population, GaussianCorrelation):
        return population.size, Fraction(population.max_correlation), arb(1)
    reason = "no correlations of single records are declared"
    rows = symmetric(conversion.declared(GaussianCovariance, reason).covariance)
    lower_triangle_positive(triangle(rows))
    variances = [rows[i][i] for i in range(len(rows))]
    spread = max(variances) / min(variances)
    require(spread <= 1 + Fraction(1, 10**11), "the variances differ: the bound is false then")
    off = [abs(rows[i][j]) for i in range(len(rows)) for j in range(i)]
    rho = max(off, default=Fraction(0)) / min(variances)
    return len(rows), rho, ball(spread).sqrt() if spread > 1 else arb(1)


def lower_triangle_positive(matrix: Triangle) -> None:
    """`InvalidError` unless the matrix is positive definite: all pivots are above 0."""
    while matrix:
        matrix = conditioned(matrix, len(matrix) - 1)


def conditioned(matrix: Triangle, known: int) -> Triangle:
    """The covariance of the other numbers, given the one at place `known`."""
    pivot = matrix[known][known]
    require(bool(pivot > 0), "the matrix is not positive definite")
    column = [*matrix[known][:known], *(row[known] for row in matrix[known + 1 :])]
    slopes = [entry / pivot for entry in column]
    rest = [*matrix[:known], *(row[:known] + row[known + 1 :] for row in matrix[known + 1 :])]
    left = []
    for row, entry_known in zip(rest, column, strict=True):
        watched()
        pairs = zip(row, slopes, strict=False)
        left.append([entry - entry_known * slope for entry, slope in pairs])
    return left


def conditionals(matrix: Triangle, width: int = 1) -> Iterator[Triangle]:
    """The conditional covariance of every set of two or more records, given all others.

    A record is `width` rows. Proves on the way that the matrix is positive definite.
    """
    lower_triangle_positive(matrix)
    stack = [(matrix, 0)]
    while stack:
        here, kept = stack.pop()
        if len(here) < 2 * width:
            continue
        if kept == len(here):
            yield here
            continue
        stack.append((here, kept + width))
        for _ in range(width):
            here = conditioned(here, kept)
        stack.append((here, kept))
