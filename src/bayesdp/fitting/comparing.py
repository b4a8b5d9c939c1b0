"""Whether a chain fits the counts that it was fitted to: likelihood-ratio tests, and BIC.

Twice the logarithm of the likelihood ratio has about a chi-squared law where the smaller model is
right. A test says whether a difference is seen, not whether it matters; each sentence therefore
says what follows for a level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.fitting.counting import WindowCounts
from bayesdp.fitting.numbers_of import Numbers
from bayesdp.fitting.regions import Counts

SIGNIFICANT = 0.01
"""A smaller p-value speaks against the fitted chain."""

LEAST_TRANSITIONS = 20
"""Series with fewer transitions on average are not compared with each other."""


@dataclass(frozen=True, slots=True)
class FitCheck:
    """What was looked at, in one word; what it says, with its consequence; and its numbers.

    `fits` is false where it speaks against the fitted population. `statistic`, `degrees` (of
    freedom) and `p_value` are those of a test, and `None` where there is none.
    """

    name: str
    sentence: str
    fits: bool = True
    statistic: float | None = None
    degrees: int | None = None
    p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp fit --json` prints it."""
        numbers = {"statistic": self.statistic, "degrees": self.degrees, "p_value": self.p_value}
        plain: dict[str, Any] = {"name": self.name, "sentence": self.sentence, "fits": self.fits}
        return plain | {key: value for key, value in numbers.items() if value is not None}


LEAST_P_VALUE = 1e-15
"""A smaller one is said to be below it."""


def p_words(p_value: float) -> str:
    """A p-value as it is told."""
    return f"p = {p_value:.2g}" if p_value >= LEAST_P_VALUE else f"p < {LEAST_P_VALUE:g}"


def dropped_rows(number: int) -> tuple[FitCheck, ...]:
    """What to say of rows that were left out because a cell is missing."""
    if number == 0:
        return ()
    rows = "1 row has" if number == 1 else f"{number} rows have"
    text = f"{rows} a missing cell and were left out, as if that did not depend on their values."
    return (FitCheck("missing", text),)


@dataclass(frozen=True, slots=True)
class RatioTest:
    """A likelihood-ratio test: its statistic, degrees of freedom and p-value."""

    statistic: float
    degrees: int

    @property
    def p_value(self) -> float:
        """How often a statistic is this large where the smaller model is right, about."""
        from scipy.stats import chi2

        return float(chi2.sf(self.statistic, self.degrees)) if self.degrees else 1.0

    @property
    def differs(self) -> bool:
        """Whether the smaller model is rejected."""
        return self.p_value < SIGNIFICANT

    def words(self) -> str:
        """The numbers of the test."""
        noun = "degree" if self.degrees == 1 else "degrees"
        numbers = f"G2 = {self.statistic:.1f} on {self.degrees} {noun} of freedom"
        return f"{numbers}, {p_words(self.p_value)}"


def order_test(windows: Counts) -> RatioTest:
    """Order `k + 1` against order `k`, from the counts of windows of `k + 2` records.

    For each context of `k` records: is the next record independent of the one before them?
    """
    states = windows.shape[0]
    # One table for each context: the record before it, by the record after it.
    tables = np.moveaxis(windows, 0, -2).reshape(-1, states, states)
    return independence_test(tables)


def same_transitions(parts: Sequence[Counts]) -> RatioTest:
    """One law for all parts against one for each, from their counts of windows."""
    stacked = np.stack(parts)
    states = stacked.shape[-1]
    tables = np.moveaxis(stacked.reshape(len(parts), -1, states), 0, 1)
    return independence_test(tables)


def independence_test(tables: Counts) -> RatioTest:
    """Are rows and columns independent in each of these tables? Empty ones don't count."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    fitted = rows[:, :, None] * columns[:, None, :].astype(float)
    fitted /= np.maximum(rows.sum(axis=1), 1)[:, None, None]
    occurs = tables > 0
    statistic = 2.0 * float((tables[occurs] * np.log(tables[occurs] / fitted[occurs])).sum())
    freedom = (np.maximum((rows > 0).sum(axis=1) - 1, 0)) * (
        np.maximum((columns > 0).sum(axis=1) - 1, 0)
    )
    return RatioTest(max(statistic, 0.0), int(freedom.sum()))


def information(windows: Counts, order: int) -> float:
    """The BIC of a chain of this order on windows that are long enough for all orders compared.

    `-2 ln L + S^k (S - 1) ln n`, `L` the largest likelihood of the last record of each window,
    given those before.
    """
    axes = tuple(range(windows.ndim - 1 - order))
    counts = windows.sum(axis=axes) if axes else windows
    states, total = int(counts.shape[-1]), int(counts.sum())
    free = int(states**order * (states - 1))
    return -2.0 * _log_likelihood(counts) + free * math.log(max(total, 1))


def _log_likelihood(counts: Counts) -> float:
    positive = counts > 0
    return float((counts[positive] * np.log(estimates(counts)[positive])).sum())


def estimates(counts: Counts | Numbers) -> Numbers:
    """The most likely transitions: shares of each row; NaN in rows without any counts."""
    totals = counts.sum(axis=-1, keepdims=True).astype(float)
    shares: Numbers = np.full(counts.shape, np.nan)
    np.divide(counts, totals, out=shares, where=totals > 0)
    return shares


HIGHEST_ORDER = 3
"""The highest order that can be fitted."""


def check_order(windows: WindowCounts, order: int, price: Callable[[], str]) -> FitCheck:
    """Order `order + 1` against `order`.

    `price` says what the level of the higher order is; it is asked where that fits better and can
    be fitted.
    """
    name = f"order {order + 1} against {order}"
    if len(windows.tables) < order + 2 or not windows.tables[order + 1].any():
        few = f"no {order + 2} records follow each other without a gap"
        if len(windows.tables) < order + 2:
            few = "there are too many states"
        return FitCheck(name, f"Whether order {order + 1} fits better was not tested: {few}.")
    test = order_test(windows.tables[order + 1])
    if not test.differs:
        text = f"Order {order + 1} is not seen to fit better than order {order} ({test.words()})."
        return _tested(name, text, test)
    text = (
        f"Order {order + 1} fits better than order {order} ({test.words()}): the records remember "
        f"more than the fitted chain, and its level may be too low for them; "
    )
    periods = "coarser periods, whose level only a fit to them tells"
    if order < HIGHEST_ORDER:
        text += f"fit --order {order + 1} ({price()}), or use {periods}."
    elif windows.tables[0].size > 2:
        text += f"put states together, down to two, or use {periods}."
    else:
        text += (
            f'use {periods}, or declare clusters (model = "clusters") of as many records as a '
            "series has, in which records may remember anything."
        )
    return _tested(name, text, test)


def check_gaps(counts: Counts, unbridged: Counts) -> FitCheck:
    """Transitions over gaps, among the `counts` of all, against those `unbridged` by a gap."""
    name = "over gaps against one step"
    over = counts - unbridged
    number = int(over.sum())
    subject = "1 transition goes" if number == 1 else f"{number} transitions go"
    text = f"{subject} over gaps, each counted as one step"
    if not number or not unbridged.any():
        return FitCheck(name, f"{text}." if number else "No gap was bridged.")
    test = same_transitions([over, unbridged])
    if not test.differs:
        text += f": they are like the others, as far as seen ({test.words()})."
        return _tested(name, text, test)
    text += (
        f", and differ from the others ({test.words()}): the bounds are about a mixture of both, "
        "and the level may be too low for neighbours one step apart; let gaps and missing cells "
        "break runs."
    )
    return _tested(name, text, test)


def check_halves(halves: Sequence[Counts], by: str) -> FitCheck:
    """The first half against the second; `by` says of what."""
    name = f"first half of the {by} against the second"
    if len(halves) < 2 or not all(half.any() for half in halves):
        return FitCheck(name, "There are no two halves to compare.")
    test = same_transitions(halves)
    if not test.differs:
        text = f"Both halves of the {by} have the same transitions, as far as seen"
        return _tested(name, f"{text} ({test.words()}).", test)
    text = (
        f"The transitions of the second half of the {by} are others ({test.words()}; the largest "
        f"difference is {_largest_difference(halves):.2g}): the bounds are about one law, and "
        "these are two. Fit the part that is like what will be released, or declare a family of "
        "both."
    )
    return _tested(name, text, test)


def check_series(series: Sequence[Counts], number: int, transitions: int) -> FitCheck:
    """Whether all series have the same transitions.

    `series` is empty where they are too short or too many to be compared; `number` is how many
    there are, and `transitions` those of all of them.
    """
    name = "series against each other"
    if not series:
        text = (
            f"Whether all {number} series have the same transitions was not tested (they have "
            f"{transitions / number:.1f} on average): it is assumed."
        )
        return FitCheck(name, text)
    test = same_transitions(series)
    if not test.differs:
        text = f"All {len(series)} series have the same transitions, as far as seen"
        return _tested(name, f"{text} ({test.words()}).", test)
    text = (
        f"The {len(series)} series differ in their transitions ({test.words()}): the bounds are "
        "about one law for all of them. Fit groups of series that are alike, or declare a family "
        "with a member for each kind."
    )
    return _tested(name, text, test)


def _tested(name: str, sentence: str, test: RatioTest) -> FitCheck:
    return FitCheck(
        name, sentence, not test.differs, test.statistic, test.degrees, float(test.p_value)
    )


def _largest_difference(halves: Sequence[Counts]) -> float:
    first, second = (estimates(half) for half in halves)
    return float(np.nanmax(np.abs(first - second), initial=0.0))
