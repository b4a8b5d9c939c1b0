"""Gaussian populations: numbers with known correlations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    field_validator,
    model_validator,
)

from bayesdp.errors import InputError, first_names, require_shown, whole_number
from bayesdp.populations.base import MOST_RECORDS, Population, require_numbers
from bayesdp.populations.precision import LARGEST_DENSE, Precision, read_precision
from bayesdp.statements.base import exact_text

SYMMETRY_TOLERANCE = 1e-9

MatrixRows = tuple[tuple[float, ...], ...]
PrecisionField = Annotated[
    Precision,
    BeforeValidator(read_precision),
    PlainSerializer(lambda value: value.to_spec(), return_type=Any),
]


class Gaussian(Population):
    """Mutually independent clusters of jointly Gaussian records (theory 3.8).

    One of four: `covariance` (symmetric, positive definite; one row a record of the cluster);
    `precision`, the inverse of the covariance of *all* records of the table (a nested array, the
    path of a Matrix Market file, or in Python a SciPy sparse matrix); `size` with
    `max_correlation`, an upper bound on every |correlation| which also asserts that the records of
    a cluster have equal variances; or `size` with `max_regression_sum`, which bounds for each
    record and each set of known records the sum over the unknown ones of `min(|b|, 1)`, `b` their
    regression coefficient on the record. Means don't matter: a shift changes no leakage bound.

    In the place of a covariance, `size` with `correlation` says that the records of a cluster have
    equal variances and that each two of them have exactly this correlation. It is read as that
    covariance, which is what certificates state.

    `roles` names the rows of a covariance (child, father, mother). A cluster may have fewer records
    than the covariance has rows: an absent record is one that no query reads.

    Records with several columns (vectors) need `covers` with d columns, `size` m, a `covariance`
    with m d rows (record by record, columns in the order of `covers`) and `bounds`, the interval in
    which secret values lie, for each column. `columns` is `covers`, kept in this order.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: Literal["gaussian"] = "gaussian"
    covariance: MatrixRows | None = None
    precision: PrecisionField | None = None
    size: int | None = Field(default=None, ge=1, le=MOST_RECORDS)
    max_correlation: float | None = Field(default=None, ge=0.0, lt=1.0)
    max_regression_sum: float | None = Field(default=None, ge=0.0, allow_inf_nan=False)
    roles: tuple[str, ...] | None = None
    bounds: tuple[tuple[float, float], ...] | None = None
    columns: tuple[str, ...] | None = None

    positional: ClassVar[tuple[str, ...]] = ("covariance",)

    @model_validator(mode="before")
    @classmethod
    def _keep_order(cls, raw: Any) -> Any:
        """Keep the order of `covers` in `columns`: the covariance's rows are in that order.

        A `correlation` beside `size` becomes its covariance here.
        """
        if isinstance(raw, Mapping) and raw.get("correlation") is not None:
            return _equal_correlations(raw)
        if not isinstance(raw, Mapping) or raw.get("size") is None or raw.get("covariance") is None:
            return raw
        covers = raw.get("covers") or ()
        return dict(raw) if raw.get("columns") or not covers else {**raw, "columns": tuple(covers)}

    @field_validator("covariance", mode="before")
    @classmethod
    def _numbers(cls, raw: Any) -> Any:
        require_numbers(raw, "population.covariance")
        return raw

    @field_validator("covariance")
    @classmethod
    def _symmetric(cls, rows: MatrixRows | None) -> MatrixRows | None:
        if rows is None:
            return None
        size = len(rows)
        if size == 0:
            raise InputError("population.covariance", [], expected="at least one row")
        for i, row in enumerate(rows):
            if len(row) != size:
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

    @field_validator("precision")
    @classmethod
    def _positive_definite(cls, precision: Precision | None) -> Precision | None:
        if precision is None:
            return None
        verdict = precision.is_positive_definite()
        if verdict is False:
            raise InputError(
                "population.precision", expected="a positive definite matrix", shown=False
            )
        if verdict is None:
            raise InputError(
                "population.precision",
                f"a matrix of {precision.records} rows",
                expected="a walk-summable matrix, or at most "
                f"{LARGEST_DENSE} rows: above, positive definiteness is proved by a vector s > 0 "
                "with Qc s >= 1 (Qc the comparison matrix), and none was found",
                remedy="Split the records into independent clusters, or declare a covariance.",
            )
        return precision

    @model_validator(mode="after")
    def _one_of(self) -> Gaussian:
        matrix = self.covariance is not None or self.precision is not None
        forms = (self.covariance, self.precision, self.max_correlation, self.max_regression_sum)
        count = sum(form is not None for form in forms)
        alone = self.size is None or (self.covariance is not None and self.columns is not None)
        if count != 1 or (matrix and not alone) or (not matrix and self.size is None):
            raise InputError(
                "population",
                expected="one of covariance, precision, size with max_correlation, and size with "
                "max_regression_sum",
                shown=False,
            )
        self._check_vectors()
        self._check_roles()
        return self

    def _check_vectors(self) -> None:
        if self.covariance is None or self.size is None:
            for key in ("bounds", "columns"):
                if getattr(self, key) is not None:
                    raise InputError(
                        f"population.{key}",
                        getattr(self, key),
                        expected="to stand beside a covariance and a size, for records with "
                        "several columns",
                    )
            return
        rows, columns = len(self.covariance), self.columns or ()
        if len(columns) < 2 or self.size * len(columns) != rows:
            raise InputError(
                "population.size",
                self.size,
                expected=f"a covariance of size * (number of covered columns) rows, with several "
                f"columns; it has {rows}, and covers names {len(columns)}",
                remedy="For records with one column leave size out.",
            )
        if (
            not all(columns)
            or len(set(columns)) < len(columns)
            or (self.covers and set(self.covers) != set(columns))
        ):
            raise InputError("population.columns", list(columns), expected="covers, in its order")
        bounds = self.bounds
        if bounds is None or len(bounds) != len(columns):
            raise InputError(
                "population.bounds",
                bounds,
                expected=f"{len(columns)} intervals, one for each of {first_names(columns)}",
                remedy="How far one column moves another depends on where secret values lie; the "
                "bounds of the columns are a good choice.",
            )
        for position, (low, high) in enumerate(bounds):
            if not (low < high and math.isfinite(high - low)):
                raise InputError(
                    f"population.bounds[{position}]",
                    [low, high],
                    expected="lower < upper",
                    remedy="Write the column's own bounds, the smaller number first.",
                )

    def _check_roles(self) -> None:
        if self.roles is None:
            return
        if self.covariance is None:
            raise InputError(
                "population.roles", list(self.roles), expected="to stand beside a covariance"
            )
        for role in self.roles:
            require_shown(role, "population.roles")
        distinct = len(set(self.roles)) == len(self.roles) and all(self.roles)
        if not distinct or len(self.roles) != self.group_size:
            raise InputError(
                "population.roles",
                list(self.roles),
                expected=f"{self.group_size} different names, one for each record of a cluster",
            )

    @property
    def structure(self) -> str:  # type: ignore[override]  # a precision is about the whole table
        """`cluster`, or `all` where a precision describes the whole table."""
        return "cluster" if self.precision is None else "all"

    @property
    def group_size(self) -> int:
        """The records of one cluster, or of the precision matrix."""
        if self.precision is not None:
            return self.precision.records
        if self.covariance is not None and self.size is None:
            return len(self.covariance)
        return self.size or 1

    def spec(self) -> dict[str, Any]:
        """The population as plain data; `UnsupportedError` for a large matrix kept in memory."""
        if self.precision is not None:
            self.precision.to_spec()
        return super().spec()

    def describe(self) -> str:
        """One sentence in plain English."""
        if self.precision is not None:
            return (
                f"the records are jointly Gaussian, each of them one of the {self.group_size} of "
                "the declared precision matrix"
            )
        if self.max_regression_sum is not None:
            return (
                f"records form mutually independent clusters of at most {self.size}, jointly "
                "Gaussian, and whichever of a cluster are known, the regression coefficients of "
                "the unknown ones on any other record (in size, at most 1 each) sum to at most "
                f"{exact_text(self.max_regression_sum)}"
            )
        if self.covariance is None:
            assert self.max_correlation is not None
            return (
                f"records form mutually independent clusters of at most {self.size}, jointly "
                "Gaussian with equal variances and no correlation above "
                f"{exact_text(self.max_correlation)} in size"
            )
        vectors = f"in {', '.join(self.columns)} together " if self.columns else ""
        roles = f" of {', '.join(self.roles)}" if self.roles else ""
        return (
            f"records form mutually independent clusters of at most {self.group_size}, "
            f"{vectors}jointly Gaussian with the declared covariance{roles}"
        )

    def assumptions(self) -> tuple[str, ...]:
        """What a level under it rests on and nothing checks, in words."""
        assumptions = super().assumptions()
        if self.precision is not None:
            assumptions += (_PLACES.format("of the table", "precision matrix"),)
        elif self.covariance is not None and self.roles is None:
            assumptions += (_PLACES.format("of a cluster", "covariance"),)
        return assumptions


_PLACES = (
    "different records {} stand for different records of the {}, and private values have no say in "
    "which is which; the level is the same for every such assignment"
)


class Autoregressive(Population):
    """Stationary Gaussian AR(1) series of `length` records (theory 3.8 d).

    Neighbouring records have correlation `coefficient`, records k apart `coefficient ** k`.
    Several series, if a table has them, are mutually independent.
    """

    model: Literal["autoregressive"] = "autoregressive"
    coefficient: float = Field(gt=-1.0, lt=1.0)
    length: int = Field(ge=1, le=MOST_RECORDS)

    positional: ClassVar[tuple[str, ...]] = ("coefficient", "length")
    structure: ClassVar[str] = "series"

    @property
    def group_size(self) -> int:
        """`length`: the records of one series."""
        return self.length

    def describe(self) -> str:
        """One sentence in plain English."""
        return (
            f"each series is a stationary Gaussian AR(1) of at most {self.length} records with "
            f"coefficient {exact_text(self.coefficient)}; different series are mutually independent"
        )


MOST_EQUAL = 300
"""The largest cluster whose covariance is written out for a `correlation`."""


def _equal_correlations(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with the covariance of `size` records, each two with the same `correlation`.

    Raises `InputError` where there is no such covariance, or where it is declared in another way
    too.
    """
    others = {key: value for key, value in raw.items() if key not in ("size", "correlation")}
    size, correlation = raw.get("size"), raw["correlation"]
    for key in ("covariance", "precision", "max_correlation", "max_regression_sum", "columns"):
        if raw.get(key) is not None:
            raise InputError(
                "population.correlation",
                correlation,
                expected=f"no {key} beside it: size and correlation say the whole covariance",
                remedy="Leave one of them out.",
            )
    size = whole_number(
        "population.size",
        size,
        expected=f"the records of a cluster beside correlation, from 2 to {MOST_EQUAL}",
        remedy="Larger clusters are declared by size and max_correlation.",
        least=2,
        most=MOST_EQUAL,
    )
    number = isinstance(correlation, int | float) and not isinstance(correlation, bool)
    least = -1.0 / (size - 1)
    if not number or not least < correlation < 1.0:
        raise InputError(
            "population.correlation",
            correlation,
            expected=f"a number above {least:.6g} (-1 / (size - 1)) and below 1",
        )
    value = float(correlation)
    rows = tuple(tuple(1.0 if i == j else value for j in range(size)) for i in range(size))
    return {**others, "covariance": rows}


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
