"""The correlation of two columns, from their released covariance and variances, at no cost.

**Correlations.** Let a covariance and two variances be released, each within its error at `1 - beta
/ 3`. With probability `1 - beta` all three are, and the exact correlation is then between the
covariance's ends over the root of the variances' ends, and between -1 and 1. No correlation is
released with noise of its own: two rows that are alike but for one have a correlation that one row
moves by up to 2, whatever `N` is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from bayesdp.errors import InputError, inner_probability
from bayesdp.statements.columns import CellKey


class SpreadResult(Protocol):
    """A released covariance or variance."""

    @property
    def query(self) -> str:
        """The query's name."""

    @property
    def kind(self) -> str:
        """The kind of its query."""

    @property
    def value(self) -> float:
        """The released number."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is of."""

    @property
    def group(self) -> CellKey | None:
        """The group."""

    @property
    def rows(self) -> int | None:
        """The number of rows that it is over."""

    def error(self, confidence: float = 0.95) -> float:
        """The noise moves the value by more than this with probability at most 1 - confidence."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation. That of the exact numbers lies from `low` to `high`.

    With a probability of at least `confidence`, over the noise of all three. `value` is that of the
    released numbers, clipped to the range from -1 to 1.
    """

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        shown = f"{self.value:.4g} in [{self.low:.4g}, {self.high:.4g}]"
        return f"{shown} ({100.0 * self.confidence:g} %)"


def correlation(
    covariance: SpreadResult, first: SpreadResult, second: SpreadResult, confidence: float = 0.95
) -> Correlation:
    """The `covariance` over the root of both variances, `first` and `second`, with an interval.

    Each of the three numbers is within its error at `1 - (1 - confidence) / 3`, all at once with
    the confidence, and the interval is that of all correlations they allow then: the covariance's
    ends over the root of the variances' ends, between -1 and 1. Source: theory 4, "Correlations".

    Raises `InputError` unless they are of the same columns and rows, and where a released variance
    is 0: then no value is told.
    """
    confidence = inner_probability("confidence", confidence)
    _check(covariance, first, second)
    if first.value * second.value <= 0.0:
        raise InputError(
            "variances",
            [first.value, second.value],
            expected="variances above 0",
            remedy="Spend more on them: their noise is as large as they are.",
        )
    each = 1.0 - (1.0 - confidence) / 3.0
    errors = [part.error(each) for part in (covariance, first, second)]
    most = math.sqrt(first.value + errors[1]) * math.sqrt(second.value + errors[2])
    least = math.sqrt(max(first.value - errors[1], 0.0) * max(second.value - errors[2], 0.0))
    low, high = covariance.value - errors[0], covariance.value + errors[0]
    value = covariance.value / math.sqrt(first.value * second.value)
    return Correlation(
        min(max(value, -1.0), 1.0),
        -_largest(-low, least, most),
        _largest(high, least, most),
        confidence,
    )


_OUTWARD = 1.0 + 2.0**-40


def _largest(end: float, least: float, most: float) -> float:
    """The largest correlation of covariances up to `end`, roots from `least` to `most`."""
    if end <= 0.0:
        return max(end / most / _OUTWARD, -1.0)
    return min(end / least * _OUTWARD, 1.0) if end < least else 1.0


def _check(covariance: SpreadResult, first: SpreadResult, second: SpreadResult) -> None:
    for name, part, kind in (
        ("covariance", covariance, "covariance"),
        ("first", first, "variance"),
        ("second", second, "variance"),
    ):
        if part.kind != kind:
            raise InputError(name, part.kind, expected=f"a result of kind {kind}")
    if sorted((*first.columns, *second.columns)) != sorted(covariance.columns):
        raise InputError(
            "variances",
            [*first.columns, *second.columns],
            expected=f"the variances of {' and '.join(covariance.columns)}",
        )
    parts = (covariance, first, second)
    places = {(part.group, part.rows, getattr(part, "rows_of", ())) for part in parts}
    if len(places) > 1:
        raise InputError(
            "variances",
            [first.query, second.query],
            expected="numbers of the same rows: of one group, and with the same where",
        )
