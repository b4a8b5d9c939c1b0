"""Bounds that hold all transition probabilities of a chain at once, from counts with noise.

**Statement.** A table has series of records at public places, and each record a private state, one
of `S`. A *window* is `k + 1` records of a series at neighbouring places. Replacing the state of one
record moves in l1

1. the counts of the `S^(k + 1)` kinds of windows, `cells`, by at most `2 (k + 1)`;
2. for two states and `k = 1`, the pair `visits` (windows that begin in state 1) and `exits`
   (windows that go from state 1 to 0) by at most 2, and with `entries` (from 0 to 1) by at most 3.

Let `m` such integers be released with independent discrete Laplace noise `Z`, and let `t` be such
that `P[|Z| > t]` is at most `beta / m`. With a probability of at least `1 - beta` every integer
then lies within `t` of its noisy one. Where that is so, the number of times that a state followed
a context lies in a known interval, and so does the number of times that others did. The union of
the intervals of 3.12 over all such counts, at the confidence `1 - alpha`, holds all transitions
at once with a probability of at least `1 - alpha - beta`.

**Proof.** *Which windows there are* is known from public places alone; let there be `N`, in `R`
runs of neighbours. A gap, or the end of a series, only removes windows. A record lies in one
series, at one place, so in at most `k + 1` windows: in one at each of its `k + 1` places. 1: each
of these windows leaves at most one kind and enters at most one. 2: one window begins with the
record, so `visits` moves by at most 1. Of the two windows that it lies in, the first is an exit
only if its state is 0, and the second only if it is 1. So whatever its state is, at most one of
the two is an exit, and `exits` moves by at most 1. The same with 0 and 1 exchanged is said of
`entries`.

*Noise.* By the union bound over the `m` integers. From `cells` follow the counts themselves, and
the sum of the others of a context. Of two states: after state 1, state 0 followed `exits` times
and state 1 `visits - exits` times; after state 0, state 1 followed `entries` times and state 0
`N - visits - entries` times. A run goes from 0 to 1 as often as from 1 to 0, or once more or
less: `entries` are `exits`, give or take `R`, where they are not released themselves.

*Together.* With a probability of at least `1 - alpha` the intervals of 3.12 for the true counts
hold all transitions, and with at least `1 - beta` the true counts are among those of the union. ∎

**What releases that use the population promise.** Let `p` be the true chain, `e` the DP cost of
the fit, and let a later release be priced at `e'` for the fitted bounds, so that `L(e + e')`
under every chain between them is within the total. For the noisy counts `c` that came out, both
together change by a factor of at most `e^(e + e')` if one record is replaced, also where `e'` was
chosen in view of `c` (2.7). If the bounds from `c` hold `p`, then what fit and release tell
together is at most `L(e + e')` under `p`. They don't hold it with a probability of at most `alpha
+ beta`, and then no level is claimed.

*Constants:* `alpha` and `beta` are halves of what may fail. They were chosen before any data were
seen. What is released depends on declarations alone: the pair of 2 for one series, as its noise
has half the scale of the four counts', all three for many series, and else `cells`. *Rounding:*
`t` is the exact quantile of the discrete law, decided in ball arithmetic, and the ends are those
of 3.12.

*Checked:* all tables of few records and all their neighbours, through the data engine; the truth
lies within no less often than stated, for two and three states and orders 1 and 2, from 100 to
100,000 records; the exact joint leakage of fit and release for up to 6 records. *Source:* new.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from bayesdp.errors import InputError
from bayesdp.fitting.comparing import estimates
from bayesdp.fitting.numbers_of import Numbers, check_confidence
from bayesdp.fitting.regions import (
    CountRange,
    Counts,
    TransitionBounds,
    bounds_within,
    failure_of,
)
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.numbers import float_above

NOISE_SHARE = Fraction(1, 2)
"""The share of what may fail that is the noise's: `beta / (alpha + beta)`."""


@dataclass(frozen=True)
class PublicWindows:
    """The windows of `order + 1` neighbours: `transitions` of them (N), in `runs` runs (R).

    Both follow from the public places of records alone.
    """

    transitions: int
    runs: int


@dataclass(frozen=True)
class ReleasedCounts(ABC):
    """Which integers are released, with noise, of a chain of this order and so many states."""

    states: int
    order: int

    name: ClassVar[str]

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """The most that replacing one record moves the integers, in l1."""

    @property
    @abstractmethod
    def number(self) -> int:
        """How many integers there are."""

    @abstractmethod
    def values(self, counts: Counts) -> list[int]:
        """The integers, from the counts of all windows: `order + 1` axes, older records first."""

    @abstractmethod
    def counts(self, noisy: Sequence[int], windows: PublicWindows) -> Numbers:
        """Estimated counts of all windows: at least 0, and whatever noise makes of them."""

    @abstractmethod
    def known(self, noisy: Sequence[int], error: int, windows: PublicWindows) -> CountRange:
        """What is known of the counts if every integer lies within `error` of its noisy one."""

    @abstractmethod
    def least_transitions(self, error: int, runs: int) -> int:
        """The fewest transitions, in so many `runs`, that can show all of them beyond an `error`.

        With fewer, some bound is 0 however they are distributed, unless noise happens to raise it.
        """

    def transition(self, noisy: Sequence[int], windows: PublicWindows) -> Numbers:
        """The transitions that the noisy integers suggest; NaN in rows without any counts."""
        return estimates(self.counts(noisy, windows))

    def error(self, noise: DiscreteLaplace, confidence: float) -> int:
        """`t`: no integer is moved by more, with the noise's part of this `confidence`.

        Raises `InputError` for a confidence that is not between 0 and 1, or too close to 1.
        """
        check_confidence(confidence)
        each = float_above(1 - NOISE_SHARE * failure_of(confidence) / self.number)
        if each >= 1.0:
            raise InputError("confidence", confidence, expected="a number further below 1")
        return noise.quantile(each)

    def bounds(
        self,
        noisy: Sequence[int],
        noise: DiscreteLaplace,
        windows: PublicWindows,
        confidence: float,
    ) -> TransitionBounds:
        """The bounds on all transitions at this confidence, noise and chance together.

        Raises `InputError` for a confidence as `error` does, and one so small that a bound may miss
        with a probability above 1/2.
        """
        known = self.known(noisy, self.error(noise, confidence), windows)
        return bounds_within(known, confidence, (1 - NOISE_SHARE) * failure_of(confidence))


class _TwoStates(ReleasedCounts):
    """Of two states and order 1: how often state 1 is visited, left and entered."""

    @abstractmethod
    def _entries(self, noisy: Sequence[int], windows: PublicWindows) -> tuple[int, int, int]:
        """A noisy count for entries, and by how much they may be fewer and more than it."""

    def counts(self, noisy: Sequence[int], windows: PublicWindows) -> Numbers:
        """From visits, exits and entries; what noise makes impossible is the nearest possible."""
        total = windows.transitions
        visits = min(max(noisy[0], 0), total)
        exits = min(max(noisy[1], 0), visits)
        entries = min(max(self._entries(noisy, windows)[0], 0), total - visits)
        counts = [[total - visits - entries, entries], [exits, visits - exits]]
        return np.array(counts, dtype=np.float64)

    def known(self, noisy: Sequence[int], error: int, windows: PublicWindows) -> CountRange:
        """The hits and misses of each move, from the statement; a state stays where it doesn't."""
        total = windows.transitions
        entries, less, more = self._entries(noisy, windows)
        least_visits, least_exits, least_entries = (
            min(max(value - error, 0), total) for value in (noisy[0], noisy[1], entries - less)
        )
        most_visits, most_exits, most_entries = (
            min(max(value + error, 0), total) for value in (noisy[0], noisy[1], entries + more)
        )
        least = _moves(
            enter=least_entries,
            stay_out=total - most_visits - most_entries,
            leave=least_exits,
            stay=least_visits - most_exits,
        )
        most = _moves(
            enter=most_entries,
            stay_out=total - least_visits - least_entries,
            leave=most_exits,
            stay=most_visits - least_exits,
        )
        # After each state there are two moves: the misses of one are the hits of the other.
        return CountRange(least, most, least[:, ::-1], most[:, ::-1])


def _moves(*, enter: int, stay_out: int, leave: int, stay: int) -> Counts:
    return np.maximum(np.array([[stay_out, enter], [leave, stay]], dtype=np.int64), 0)


class VisitsAndExits(_TwoStates):
    """For one series: windows that begin in state 1, and those from state 1 to 0.

    In each run state 1 is entered as often as it is left, give or take one.
    """

    name = "visits-and-exits"
    sensitivity = 2
    number = 2

    def values(self, counts: Counts) -> list[int]:
        """The number of visits, and that of exits."""
        return [int(counts[1].sum()), int(counts[1, 0])]

    def least_transitions(self, error: int, runs: int) -> int:
        """A move must be counted more often than its errors: `entries` have the runs' as well."""
        return 6 * error + 3 * runs + 4

    def _entries(self, noisy: Sequence[int], windows: PublicWindows) -> tuple[int, int, int]:
        return noisy[1], windows.runs, windows.runs


class VisitsAndMoves(_TwoStates):
    """For many series: windows that begin in state 1, those from 1 to 0, and those from 0 to 1."""

    name = "visits-and-moves"
    sensitivity = 3
    number = 3

    def values(self, counts: Counts) -> list[int]:
        """The number of visits, of exits and of entries."""
        return [int(counts[1].sum()), int(counts[1, 0]), int(counts[0, 1])]

    def least_transitions(self, error: int, runs: int) -> int:
        """More than one error each for exits and entries, more than two each for what stays."""
        return 6 * error + 4

    def _entries(self, noisy: Sequence[int], windows: PublicWindows) -> tuple[int, int, int]:
        return noisy[2], 0, 0


class WindowCells(ReleasedCounts):
    """The counts of all kinds of windows."""

    name = "cells"

    @property
    def sensitivity(self) -> int:
        """2 for each window that a record can lie in."""
        return 2 * (self.order + 1)

    @property
    def number(self) -> int:
        """One for each kind of window."""
        return int(self.states ** (self.order + 1))

    def values(self, counts: Counts) -> list[int]:
        """The counts, the last record's state changing fastest."""
        return [int(count) for count in counts.ravel()]

    def counts(self, noisy: Sequence[int], windows: PublicWindows) -> Numbers:
        """The noisy counts; those below 0 as 0."""
        clipped = [min(max(value, 0), windows.transitions) for value in noisy]
        return self._shaped(clipped).astype(np.float64)

    def known(self, noisy: Sequence[int], error: int, windows: PublicWindows) -> CountRange:
        """Each count within the error, and at least 0 and at most all of them."""
        total = windows.transitions
        least, most = (
            self._shaped([min(max(value + moved, 0), total) for value in noisy])
            for moved in (-error, error)
        )
        others = [part.sum(axis=-1, keepdims=True) - part for part in (least, most)]
        return CountRange(least, most, *(np.minimum(other, total) for other in others))

    def least_transitions(self, error: int, runs: int) -> int:
        """Each kind of window more often than the error."""
        return self.number * (error + 1)

    def _shaped(self, values: Sequence[int]) -> Counts:
        return np.array(values, dtype=np.int64).reshape((self.states,) * (self.order + 1))


def released_counts(states: int, order: int, *, many_series: bool) -> ReleasedCounts:
    """What is released of a chain of so many states and this order: what needs the least noise.

    `many_series`: the study declares a column that tells series apart, so runs may be many.
    """
    if (states, order) != (2, 1):
        return WindowCells(states, order)
    return VisitsAndMoves(states, order) if many_series else VisitsAndExits(states, order)
