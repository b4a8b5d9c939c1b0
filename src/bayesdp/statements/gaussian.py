"""Gaussian populations, one class for each way to declare the correlations."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    InFile,
    Interval,
    Names,
    Number,
    PopulationStatement,
    Roles,
    Sequence,
    listed,
)
from bayesdp.statements.tables import square

ASYMMETRY = 1e-9
"""How far two entries may differ, relative to the two standard deviations."""


def _symmetric(matrix: Any) -> Any:
    """The matrix; `ValueError` unless it is square, symmetric, with a diagonal above 0."""
    size = square(matrix, 2)
    for i in range(size):
        if not matrix[i][i] > 0:
            raise ValueError("an entry of the diagonal is not above 0")
        if not all(math.isfinite(entry) for entry in map(float, matrix[i])):
            raise ValueError("an entry of the matrix is not finite")
    for i in range(size):
        for j in range(i):
            if matrix[i][j] != matrix[j][i]:
                scale = math.sqrt(matrix[i][i]) * math.sqrt(matrix[j][j])
                if abs(matrix[i][j] - matrix[j][i]) > ASYMMETRY * scale:
                    raise ValueError("the matrix is not symmetric")
    return matrix


Matrix = Annotated[Any, AfterValidator(_symmetric)]


class GaussianCovariance(PopulationStatement):
    """Clusters of jointly Gaussian records; `roles` names the rows."""

    model: Literal["gaussian"]
    covariance: Matrix
    roles: Roles | None = None

    @model_validator(mode="after")
    def _named(self) -> GaussianCovariance:
        if self.roles is not None and len(self.roles) != len(self.covariance):
            raise ValueError("not one role for each row of the covariance")
        return self


class GaussianVectors(PopulationStatement):
    """Clusters of `size` records with several `columns`; secrets lie within `bounds`."""

    model: Literal["gaussian"]
    covariance: Matrix
    size: Count
    columns: Annotated[Names, Field(min_length=2)]
    bounds: Annotated[tuple[Interval, ...], Sequence]
    roles: Roles | None = None

    @model_validator(mode="after")
    def _sizes_agree(self) -> GaussianVectors:
        if self.size * len(self.columns) != len(self.covariance):
            raise ValueError("not one row of the covariance for each column of each record")
        if len(self.bounds) != len(self.columns):
            raise ValueError("not one interval for each column")
        if not all(low < high and math.isfinite(high - low) for low, high in self.bounds):
            raise ValueError("an interval whose lower end is not below its upper end")
        if self.covers and set(self.covers) != set(self.columns):
            raise ValueError("it covers other columns than its covariance describes")
        if self.roles is not None and len(self.roles) != self.size:
            raise ValueError("not one role for each record of a cluster")
        return self


class GaussianPrecision(PopulationStatement):
    """All records of the table, by the inverse of their covariance."""

    model: Literal["gaussian"]
    precision: Annotated[
        Annotated[Matrix, Tag("list")] | Annotated[InFile, Tag("single")],
        Discriminator(listed),
    ]


class GaussianCorrelation(PopulationStatement):
    """Clusters of at most `size` records of equal variances, none more correlated than stated."""

    model: Literal["gaussian"]
    size: Count
    max_correlation: Annotated[Number, Field(ge=0.0, lt=1.0)]


class GaussianRegression(PopulationStatement):
    """Clusters of at most `size` jointly Gaussian records that move each other by a stated sum.

    `max_regression_sum` bounds, for each record and each set of known records, the sum over the
    unknown ones of the size of their regression coefficient on the record, at most 1 each.
    """

    model: Literal["gaussian"]
    size: Count
    max_regression_sum: Annotated[Number, Field(ge=0.0)]


AnyGaussian = (
    GaussianCovariance
    | GaussianVectors
    | GaussianPrecision
    | GaussianCorrelation
    | GaussianRegression
)
"""Every form in which jointly Gaussian records are declared, series apart."""
