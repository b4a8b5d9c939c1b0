"""What one given mechanism leaks about a Markov chain: noisy sums of scores (theory 3.9 b).

Released is `sum_t scores[x_t] + Z`, with `Z` Laplace noise of scale `b`, or discrete Laplace noise
(`a = e^(-1/b)`); both leak the same. Why it is a finite computation is proved at `sum_level`. All
integer outcomes are looked at, those inside the range of the sum as well.

Rounding. Every number is a sum of products of non-negative ones, so relative errors add; they are
charged to `upper`. Ranges are limited so that nothing that matters can underflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.notions import Adversary
from bayesdp.numbers import UNIT, largest, up
from tests.oracles.exact_chain import (
    End,
    Ends,
    Floats,
    MechanismLevel,
    forgetting,
    local_level,
    message_error,
    pairs,
    together,
    two_state_sides,
    words,
)

MOST_UNKNOWN = 60
"""Runs of unknown records followed on one side of the target, for more than two states."""
MOST_SETTLED = 1500
"""The same for two states, where nearly all runs are decided by their outermost outcomes."""
SHORT = 64
"""Chains of at most so many records are never cut."""
MOST_FREE = 400
"""The longest chain that is followed whole, for adversaries who know no record."""
_REACH = 600.0
_RAREST = 1e-30


def sum_level(
    transition: Any,
    start: Any,
    *,
    length: int,
    scores: Sequence[int],
    scale: float,
    adversary: Adversary = "any",
    tolerance: float = 1e-10,
) -> MechanismLevel | None:
    """The leakage of `sum_t scores[x_t]` with (discrete) Laplace noise (theory 3.9 b).

    `transition` is an S x S matrix, `start` the law of the first record, `scores` S whole numbers;
    a count has scores 0 and 1. `tolerance` is what closing long runs may add. `None` where the
    chain doesn't forget fast enough for a finite answer, or where numbers would leave the range of
    doubles (large `length` times score over scale, or values that are nearly impossible).

    >>> flip = [[0.1, 0.9], [0.9, 0.1]]
    >>> level = sum_level(flip, [0.5, 0.5], length=100, scores=(0, 1), scale=1.0)
    >>> round(level.exact.value, 6)
    1.0

    #### b. Noisy sums and counts on a Markov chain

    **Statement** (`sum_level` in `tests/oracles/exact_sums.py`). Let whole-number scores of the
    records of a Markov chain be summed and the sum be released with Laplace or discrete Laplace
    noise of scale `b`. The leakage is the largest log ratio, over values `u`, `u'` of the target,
    runs of unknown records on its two sides with their ends (the frame of 3.4 to 3.6), and
    *integers* `y` in the range of the sum, of

    ```text
    sum_k P[sum = k | u, ends] e^(-|y - k| / b).
    ```

    **Proof.** *Known records further out* don't depend on the target given the nearest ones, so
    conditioning on all of them only makes the ratio's average a larger ratio, and shifts the
    outcome. *Outcomes:* between neighbouring integers, and beyond the outermost ones, both
    densities are `alpha e^(y/b) + beta e^(-y/b)`; their ratio is a Moebius function of `e^(2y/b)`,
    hence monotone, and its sup is at the ends of the piece. At integers the continuous and the
    discrete law have the same ratios. ∎ Long runs are cut: reveal the record at distance `d`; that
    adds at most `ln R(P^d)` for each side, `R` the largest cross ratio, which tends to 0 with the
    second eigenvalue's powers.
    """
    ends = Ends(np.asarray(transition, dtype=float), np.asarray(start, dtype=float), length)
    lowest = min(scores)
    values = np.array([int(score) - lowest for score in scores])
    if int(values.max()) == 0:
        return MechanismLevel(0.0, 0.0)
    sums = _Sums(ends, values, 1.0 / scale)
    if adversary == "informed":
        return sums.level(adversary, 0, 0.0)
    if len(values) == 2:
        reached = _two_states(ends, sums, adversary, tolerance)
        if reached is not None:
            return reached
    whole = length <= min(MOST_FREE, sums.longest)
    if adversary == "uninformed" and whole:
        return sums.free()
    run, charge = min(length - 1, int(max(sums.longest - 1, 0) // 2), MOST_UNKNOWN), 0.0
    if run < length - 1:
        distance, charge = forgetting(ends.transition, run + 1, tolerance / 4.0)
        run = distance - 1
    reached = sums.level("any", run, 2.0 * charge)
    if reached is None or not math.isfinite(reached.upper):
        return None
    return reached if adversary == "any" else MechanismLevel(0.0, reached.upper)


def _two_states(
    ends: Ends, sums: _Sums, adversary: Adversary, tolerance: float
) -> MechanismLevel | None:
    """Two states: most runs are decided without their law. `None` where that is not so.

    Outcomes beyond the range of the sum weigh databases by `e^(+-sum/b)`: a product, so the ratio
    follows from messages (`exact_chain`). From above there are two bounds, whatever the outcome:
    messages with the worst weight at each record (theory 3.5), equal to the former where the chain
    is positively correlated; and, where it is not, one record's own cost. For the latter couple the
    two conditional laws: with a determinant <= 0 the records of a side agree or differ with
    alternating signs until they agree for good, so each side moves the sum by 0 or by one against
    the target, and the sum moves by at most one in all.

    **Two states: counts.** *Positively correlated chains* (`det P >= 0`): the level is that of 3.5,
    exactly. The outermost outcomes weigh databases by `e^(+-count/b)`, a product over records, and
    3.5 is attained by a product whose factors all point the same way where all determinants are
    positive. So there knowing the mechanism buys nothing.
    """
    (p00, p01), (p10, p11) = ends.transition
    own = sums.rate * sums.span
    negative = p00 * p11 <= p01 * p10
    if adversary == "uninformed" and ends.length > MOST_SETTLED:
        if negative:
            return MechanismLevel(0.0, up(own, 4))
        weight = 1.0 / (1.0 + math.exp(-own))
        answers = [[weight, 1.0 - weight], [1.0 - weight, weight]]
        return local_level(
            ends.transition,
            ends.start,
            answers,
            length=ends.length,
            adversary=adversary,
            tolerance=tolerance,
        )
    most, charge = ends.length - 1, 0.0
    if adversary == "any" and most >= SHORT:
        distance, charge = forgetting(ends.transition, min(most, MOST_SETTLED) + 1, tolerance / 4.0)
        most, charge = min(most, distance - 1), 2.0 * charge if distance <= most else 0.0
    if not math.isfinite(charge):
        return None
    settled = _Settled(ends, own, int(sums.scores[0] > sums.scores[1]), negative, adversary, most)
    if settled.best == math.inf:  # evidence fell below the doubles
        return None
    undecided = settled.undecided()
    best, who = settled.best, settled.who
    if undecided:
        reach = ends.length if adversary == "uninformed" else 2 * most + 1
        if sums.longest < reach or most > MOST_FREE or len(undecided) > 4 * MOST_FREE:
            return (
                MechanismLevel(max(best - settled.error, 0.0), up(own, 4), who)
                if negative
                else None
            )
        actual = sums.among(undecided, most)
        if actual is None:
            return None
        if actual[0] == math.inf:  # a density fell below the doubles
            return None
        if actual[0] > best:
            best, who = actual
    error = settled.error + sums.error(2 * most + 1 if undecided else 1)
    above = up(best + error + charge, 4)
    return MechanismLevel(
        max(best - error, 0.0), min(above, up(own, 4)) if negative else above, who
    )


class _Settled:
    """What the outermost outcomes leak, and bounds for all outcomes, for all runs of two states."""

    def __init__(
        self, ends: Ends, own: float, first: int, negative: bool, adversary: Adversary, most: int
    ) -> None:
        self.ends, self.kinds, self.most = ends, ends.kinds(adversary), most
        self.error = message_error(ends, most, own * (2.0 * most + 1.0))
        self.fits = {(a, b): ends.fits(a, b, most) for a in self.kinds for b in self.kinds}
        self.bounds: dict[tuple[End, End], Floats] = {}
        self.best, self.who = 0.0, dict[str, Any]()
        for sign in (1.0, -1.0):
            odds = sign * own
            sides = two_state_sides(ends, odds, odds, adversary, most)
            for a, b, value, other, total in self._totals(sides, (odds, -odds)):
                where = np.unravel_index(int(np.argmax(total)), total.shape)
                if largest(total) > self.best:
                    self.best = float(total[where])
                    self.who = words(int(where[0]), a, int(where[1]), b, value, other)
                    self.who["outcome"] = "highest" if (sign < 0) == (first == 0) else "lowest"
        for a, b, _, _, total in self._totals(
            two_state_sides(ends, -own, own, adversary, most), (own, own)
        ):
            total = np.minimum(total, own) if negative else total
            self.bounds[a, b] = np.maximum(self.bounds.get((a, b), -math.inf), total)

    def _totals(
        self, sides: tuple[dict[End, Floats], dict[End, Floats]], own: tuple[float, float]
    ) -> Iterator[tuple[End, End, int, int, Floats]]:
        left, right = sides
        for a in self.kinds:
            for b in self.kinds:
                for way in (0, 1):
                    total = own[way] + together(left[a][:, way], right[b][:, way])
                    yield a, b, way, 1 - way, np.where(self.fits[a, b], total, -math.inf)

    def undecided(self) -> list[tuple[End, int, End, int]]:
        """Runs whose outcomes inside the range could leak more than what is found."""
        left_over = []
        for (a, b), bound in self.bounds.items():
            for run, other in np.argwhere(bound > self.best + self.error):
                left_over.append((a, int(run), b, int(other)))
        return left_over


class _Sums:
    """Laws of the sums over runs of unknown records, and of the noisy outcome."""

    def __init__(self, ends: Ends, scores: NDArray[np.int64], rate: float) -> None:
        self.ends = ends
        self.scores = scores
        self.rate = rate
        self.span = int(scores.max())
        self.states = len(scores)

    @property
    def longest(self) -> float:
        """The most records whose sums stay far from underflow."""
        return _REACH / (self.rate * (1.0 + 4.0 * UNIT) * self.span)

    def level(self, adversary: Adversary, most: int, charge: float) -> MechanismLevel | None:
        """The largest leakage over runs of at most `most` records; `charge` closes longer ones."""
        kinds = self.ends.kinds("any")
        left = {end: self._left(end, most) for end in kinds}
        right = {end: self._right(end, most) for end in kinds}
        if any(law is None for law in [*left.values(), *right.values()]):
            return None
        fits = {(a, b): self._fits(a, b, most, adversary) for a in kinds for b in kinds}
        best, who = -math.inf, dict[str, Any]()
        for a in kinds:
            for run in range(most + 1):
                if not any(fits[a, b][run].any() for b in kinds):
                    continue
                smooth = self._smoothed(left[a][run], run, most)  # type: ignore[index]
                for b in kinds:
                    allowed = np.flatnonzero(fits[a, b][run])
                    if len(allowed) == 0:
                        continue
                    actual = self._compare(smooth, right[b][allowed])  # type: ignore[index]
                    if actual is not None and actual[0] > best:
                        best, at, value, other, outcome = actual
                        who = words(run, a, int(allowed[at]), b, value, other)
                        who["outcome"] = outcome
        if best == -math.inf:
            return MechanismLevel(0.0, 0.0) if charge == 0.0 else None
        return self._rounded(best, charge, 2 * most + 1, who)

    def among(
        self, runs: Sequence[tuple[End, int, End, int]], most: int
    ) -> tuple[float, dict[str, Any]] | None:
        """The largest leakage over the given runs, all outcomes."""
        left = {end: self._left(end, most) for end in {run[0] for run in runs}}
        right = {end: self._right(end, most) for end in {run[2] for run in runs}}
        best, who = 0.0, dict[str, Any]()
        for a, run, b, other in runs:
            item, two = left[a], right[b]
            if item is None or two is None:
                return None
            smooth = self._smoothed(item[run], run, other)
            actual = self._compare(smooth, two[other : other + 1, :, : other * self.span + 1])
            if actual is not None and actual[0] > best:
                best = actual[0]
                who = words(run, a, other, b, *actual[2:4]) | {"outcome": actual[4]}
        return best, who

    def free(self) -> MechanismLevel | None:
        """Nobody knows a record: the whole chain is unknown."""
        length = self.ends.length
        actual = self.among(
            [(None, run, None, length - 1 - run) for run in range(length)], length - 1
        )
        return None if actual is None else self._rounded(actual[0], 0.0, length, actual[1])

    def _rounded(
        self, best: float, charge: float, records: int, who: Mapping[str, Any]
    ) -> MechanismLevel | None:
        if best == math.inf:  # a density fell below the doubles
            return None
        error = self.error(records)
        return MechanismLevel(max(best - error, 0.0), up(max(best, 0.0) + error + charge, 4), who)

    def error(self, records: int) -> float:
        """What rounding can do to a log ratio of two outcomes' densities."""
        reach = records * self.span
        return ((self.states + 4) * records + 4 * reach + 4 * self.rate * reach + 64) * 2 * UNIT

    def _fits(self, a: End, b: End, most: int, adversary: Adversary) -> NDArray[np.bool_]:
        fits = self.ends.fits(a, b, most)
        if adversary == "informed":
            fits[1:], fits[:, 1:] = False, False
        return fits

    # -- laws of the sum over a run, given the target: [run, value of the target, sum] ------------

    def _left(self, end: End, most: int) -> Floats | None:
        kernel = self.ends.transition
        first = self.ends.start if end is None else kernel[end]
        return self._grown(first, lambda now: self._shifted(now).T @ kernel, most)

    def _right(self, end: End, most: int) -> Floats | None:
        kernel = self.ends.transition
        first = np.ones(self.states) if end is None else kernel[:, end]
        return self._grown(first, lambda now: (kernel @ self._shifted(now)).T, most)

    def _grown(self, first: Floats, step: Any, most: int) -> Floats | None:
        """All laws up to `most` records, each normalised; zero rows for impossible values."""
        laws = np.zeros((most + 1, self.states, most * self.span + 1))
        now = np.zeros((self.states, most * self.span + 1))
        now[:, 0] = first
        for run in range(most + 1):
            total = now.sum(axis=1)
            if np.any((total > 0.0) & (total < _RAREST)):
                return None
            laws[run] = now / np.where(total > 0.0, total, 1.0)[:, None]
            if run < most:
                now = step(now).T
        return laws

    def _shifted(self, now: Floats) -> Floats:
        """Each value's sums moved up by its score."""
        moved = np.zeros_like(now)
        for value, score in enumerate(self.scores):
            moved[value, score:] = now[value, : now.shape[1] - score]
        return moved

    # -- outcomes ---------------------------------------------------------------------------------

    def _smoothed(self, left: Floats, run: int, most: int) -> Floats:
        """The left run's sum plus noise, at all integers that a right run can ask for."""
        sums = np.arange(run * self.span + 1)
        places = np.arange(-(most + 1) * self.span, (run + most + 1) * self.span + 1)
        kernel = np.exp(-self.rate * np.abs(places[:, None] - sums[None, :]))
        smooth: Floats = (kernel @ left[:, : len(sums)].T).T
        return smooth

    def _compare(self, smooth: Floats, right: Floats) -> tuple[float, int, int, int, int] | None:
        """The largest log ratio over right runs, pairs of values and outcomes, and where it is."""
        width = right.shape[2]
        windows = np.lib.stride_tricks.sliding_window_view(smooth, width, axis=1)
        # windows[u, p, :] holds the places p .. p + width - 1; outcome y needs y - score - j.
        outcomes = windows.shape[1] - self.span
        logs: list[Floats | None] = []
        possible = right.max(axis=2).T > 0.0
        for value, score in enumerate(self.scores):
            law = right[:, value, ::-1]
            if smooth[value].max() <= 0.0 or law.max() <= 0.0:
                logs.append(None)
                continue
            rows = windows[value, self.span - score : self.span - score + outcomes]
            with np.errstate(divide="ignore"):
                logs.append(np.log(np.ascontiguousarray(rows) @ law.T))
        best: tuple[float, int, int, int, int] | None = None
        for value, other in pairs(self.states):
            top, bottom = logs[value], logs[other]
            if top is None or bottom is None:
                continue
            with np.errstate(invalid="ignore"):
                gap = top - bottom
            gap[:, ~(possible[value] & possible[other])] = -np.inf  # values that the run excludes
            largest(gap)  # and none of what is left may be lost
            place, run = np.unravel_index(int(np.argmax(gap)), gap.shape)
            if best is None or gap[place, run] > best[0]:
                best = (float(gap[place, run]), int(run), value, other, int(place))
        return best if best is not None and best[0] > -math.inf else None
