"""Gaussian populations: numbers with known correlations."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from bayesdp.errors import InputError
from bayesdp.populations.base import MOST_RECORDS, Population

SYMMETRY_TOLERANCE = 1e-9


class Gaussian(Population):
    """Mutually independent clusters of jointly Gaussian records (theory 3.8).

    Either `covariance` (symmetric, positive definite; one row a record of the cluster), or `size`
    with `max_correlation`, an upper bound on every |correlation| which also asserts that the
    records of a cluster have equal variances. Means don't matter: a shift of the population
    changes no leakage bound.
    """

    model: Literal["gaussian"] = "gaussian"
    covariance: tuple[tuple[float, ...], ...] | None = None
    size: int | None = Field(default=None, ge=1, le=MOST_RECORDS)
    max_correlation: float | None = Field(default=None, ge=0.0, lt=1.0)

    structure: ClassVar[str] = "cluster"

    @field_validator("covariance")
    @classmethod
    def _symmetric(
        cls, rows: tuple[tuple[float, ...], ...] | None
    ) -> tuple[tuple[float, ...], ...] | None:
        if rows is None:
            return None
        size = len(rows)
        for i, row in enumerate(rows):
            if len(row) != size or size == 0:
                raise InputError(
                    f"population.covariance[{i}]", list(row), expected=f"{size} numbers"
                )
        for i in range(size):
            for j in range(i):
                scale = math.sqrt(abs(rows[i][i] * rows[j][j])) or 1.0
                if abs(rows[i][j] - rows[j][i]) > SYMMETRY_TOLERANCE * scale:
                    raise InputError(
                        f"population.covariance[{i}][{j}]",
                        rows[i][j],
                        expected=f"{rows[j][i]!r}, as in covariance[{j}][{i}]: it is symmetric",
                    )
        _require_positive_definite(rows)
        return rows

    @model_validator(mode="after")
    def _one_of(self) -> Gaussian:
        if self.covariance is not None:
            if self.size is not None or self.max_correlation is not None:
                raise InputError(
                    "population",
                    expected="either covariance, or size with max_correlation, not both",
                    shown=False,
                )
            return self
        if self.size is None or self.max_correlation is None:
            raise InputError(
                "population",
                expected="covariance, or size together with max_correlation",
                shown=False,
            )
        return self

    @property
    def group_size(self) -> int:
        """The records of one cluster."""
        if self.covariance is not None:
            return len(self.covariance)
        return self.size or 1

    def describe(self) -> str:
        """One sentence in plain English."""
        if self.covariance is not None:
            return (
                f"records form mutually independent clusters of at most {self.group_size}, jointly "
                "Gaussian with the declared covariance"
            )
        return (
            f"records form mutually independent clusters of at most {self.size}, jointly Gaussian "
            f"with equal variances and no correlation above {self.max_correlation:g} in size"
        )


class Autoregressive(Population):
    """Stationary Gaussian AR(1) series of `length` records (theory 3.8 d).

    Neighbouring records have correlation `coefficient`, records k apart `coefficient ** k`.
    Several series, if a table has them, are mutually independent.
    """

    model: Literal["autoregressive"] = "autoregressive"
    coefficient: float = Field(gt=-1.0, lt=1.0)
    length: int = Field(ge=1, le=MOST_RECORDS)

    structure: ClassVar[str] = "series"

    @property
    def group_size(self) -> int:
        """`length`: the records of one series."""
        return self.length

    def describe(self) -> str:
        """One sentence in plain English."""
        return (
            f"each series is a stationary Gaussian AR(1) of at most {self.length} records with "
            f"coefficient {self.coefficient:g}; different series are mutually independent"
        )


def _require_positive_definite(rows: tuple[tuple[float, ...], ...]) -> None:
    import numpy as np

    matrix = np.asarray(rows)
    for i, variance in enumerate(np.diag(matrix)):
        if variance <= 0.0:
            raise InputError(
                f"population.covariance[{i}][{i}]", float(variance), expected="a variance above 0"
            )
    spread = np.sqrt(np.diag(matrix))
    smallest = float(np.linalg.eigvalsh(matrix / np.outer(spread, spread))[0])
    if smallest <= 1e-12:
        raise InputError(
            "population.covariance",
            expected="a positive definite matrix",
            remedy=f"Its correlation matrix has the eigenvalue {smallest:.3g}.",
            shown=False,
        )
