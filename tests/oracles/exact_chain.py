"""What one given mechanism leaks about a Markov chain: noisy answers about each record (3.9 c).

Each record is answered on its own, through a channel `Q[x, y]` (randomized response, for example),
and all answers are published. Given the target and the nearest known records, the two sides are
independent, and what an adversary learns from one side is the ratio of two messages

    m_l[u] = sum_w row_l[u, w] Q[w, y] m_{l-1}[w],      m_0 = 1,

`row_l[u, .]` the law of the next record given `u` and what lies beyond the run. For two states only
`t = m[0] / m[1]` matters, and the ends of its interval are enough: `local_level` has the proof.
With more states all sequences of answers are enumerated, as far as that goes.

Long runs. Reveal the record at distance `d`. Given it, the run is one with a known end; its own law
changes with the target by at most the largest cross ratio of the `d`-step matrix. So runs longer
than those followed add at most `ln R(P^d)` for each side; that much is between `lower` and `upper`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.notions import Adversary
from bayesdp.numbers import UNIT, Exact, largest, up

Floats = NDArray[np.float64]

MOST_STEPS = 1500
"""The longest run that is followed record by record, for two states."""
MOST_SEQUENCES = 100_000
"""The most sequences of answers that are enumerated, for more than two states."""
_LARGEST_LOG = 700.0
_LEAST = 1e-280
"""What is less likely might be taken for what is impossible."""


@dataclass(frozen=True, slots=True)
class MechanismLevel:
    """The leakage of one mechanism: between `lower` and `upper`, rounding included, in nats.

    `attained_by` says which attack reaches `lower`: the unknown records to the left and to the
    right of the target, what lies beyond them (a known value, or the end of the chain), and the
    two values that are told apart.
    """

    lower: float
    upper: float
    attained_by: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exact(self) -> Exact:
        """The level as a number with its error."""
        middle = (self.lower + self.upper) / 2.0
        return Exact(middle, math.nextafter(self.upper - middle, math.inf))


End = int | None
"""What lies beyond a run of unknown records: a known value, or `None` for the chain's end."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Which runs and ends fit into a chain of `length` records with these transitions and start."""

    transition: Floats
    start: Floats
    length: int

    def _supports(self) -> tuple[NDArray[np.bool_], int]:
        """Which values the records can take, position by position, and where it begins to recur."""
        seen: list[NDArray[np.bool_]] = []
        row = np.asarray(self.start > 0.0)
        while not any(np.array_equal(row, old) for old in seen):
            seen.append(row)
            row = np.asarray((row[:, None] & (self.transition > 0.0)).any(axis=0))
        begin = next(i for i, old in enumerate(seen) if np.array_equal(row, old))
        return np.array(seen), begin

    def _possible(self, value: int, position: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the records at these positions (from 1) can take the value."""
        seen, begin = self._supports()
        place = np.maximum(position - 1, 0)
        late = begin + (place - begin) % (len(seen) - begin)
        possible: NDArray[np.bool_] = seen[np.where(place < len(seen), place, late), value]
        return possible

    def _first(self, value: int) -> int:
        """The first position at which the value is possible; beyond the chain if there is none."""
        seen, _ = self._supports()
        column = seen[:, value]
        return int(np.argmax(column)) + 1 if column.any() else self.length + 1

    def fits(self, left: End, right: End, most: int) -> NDArray[np.bool_]:
        """Entry `[l, r]`: `l` unknown records to the left and `r` to the right, with these ends."""
        runs = np.arange(most + 1)
        together = runs[:, None] + runs[None, :]
        if left is not None and right is not None:
            return np.asarray(self._first(left) + together + 2 <= self.length)
        if left is None and right is None:
            return np.asarray(together + 1 == self.length)
        if left is None:
            return np.asarray(together + 2 <= self.length)
        position = self.length - 1 - together
        return np.asarray((position >= 1) & self._possible(left, position))

    def kinds(self, adversary: Adversary) -> list[End]:
        """The ends that a side can have."""
        known: list[End] = list(range(len(self.start)))
        return [None] if adversary == "uninformed" else [None, *known]


def forgetting(transition: Floats, most: int, tolerance: float) -> tuple[int, float]:
    """The least `d <= most` with `ln R(P^d) <= tolerance`, or `most`; and `ln R(P^d)`, rounded up.

    `R` is the largest cross ratio; infinite while there are zeros.
    """
    power, last = np.array(transition), math.inf
    for distance in range(1, most + 1):
        last = _log_cross_ratio(power, distance)
        if last <= tolerance or distance == most:
            return distance, last
        power = power @ transition
    return most, last


def _log_cross_ratio(matrix: Floats, steps: int) -> float:
    if matrix.min() <= 0.0:
        # A value that no record can take does no harm; anything else is not closed.
        used = matrix.max(axis=0) > 0.0
        if used.all() or matrix[np.ix_(used, used)].min() <= 0.0:
            return math.inf
        matrix = matrix[np.ix_(used, used)]
    logs = np.log(matrix)
    gaps = logs[:, None, :] - logs[None, :, :]
    widest = float((gaps.max(axis=2) - gaps.min(axis=2)).max())
    return widest + 8.0 * (len(matrix) + 2) * steps * UNIT * (1.0 + float(np.abs(logs).max()))


# -- noisy answers about each record ---------------------------------------------------------------


def two_state_sides(
    ends: Ends, low: float, high: float, adversary: Adversary, most: int
) -> tuple[dict[End, Floats], dict[End, Floats]]:
    """For each end, `[run, orientation]`: the largest log ratio of the messages, left and right.

    Orientation 0 is value 0 against 1. `low` and `high` are the ends of `ln Q[0, y] / Q[1, y]`.
    `-inf` marks runs whose end excludes one of the values.
    """
    kernel = ends.transition
    kinds = ends.kinds(adversary)
    right = {end: _interval_side(kernel, _seed(kernel, end), low, high, most) for end in kinds}
    back = kernel.T
    left = {
        end: _interval_side(back, ends.start if end is None else kernel[end], low, high, most)
        for end in kinds
    }
    return left, right


def _seed(kernel: Floats, end: End) -> Floats:
    return np.ones(len(kernel)) if end is None else kernel[:, end]


def _interval_side(step: Floats, seed: Floats, low: float, high: float, most: int) -> Floats:
    """The two ends of `ln t` for runs of 0 to `most` records; `seed` is the evidence of the end.

    Infinite from where evidence that is possible is too small for a double on.
    """
    (a, b), (c, d) = step
    values = np.full((most + 1, 2), -math.inf)
    evidence, bottom, top = np.array(seed, dtype=float), 0.0, 0.0
    alive = evidence > 0.0
    rising = a * d >= b * c
    for run in range(most + 1):
        if (evidence[alive] < _LEAST).any():
            values[run:] = math.inf
            break
        if alive.all():
            values[run] = top, -bottom
        if run == most:
            break
        weight = np.array([[a, b], [c, d]]) * evidence
        following = weight.sum(axis=1)
        rows = weight / np.where(following > 0.0, following, 1.0)[:, None]
        item, two = _moebius(rows, low + bottom), _moebius(rows, high + top)
        bottom, top = (item, two) if rising else (two, item)
        evidence = following / max(following.sum(), 1e-300)
        alive = np.asarray(((step > 0.0) & alive).any(axis=1))
    return values


def _moebius(rows: Floats, log_odds: float) -> float:
    """`ln ((r00 t + r01) / (r10 t + r11))` for `t = e^log_odds`; 0 where a row is all zeros."""
    if not abs(log_odds) <= _LARGEST_LOG:
        with np.errstate(divide="ignore"):
            logs = np.log(rows)
        sums = np.logaddexp(logs[:, 0] + log_odds, logs[:, 1])
        return 0.0 if np.isneginf(sums).any() else float(sums[0] - sums[1])
    if log_odds > 0.0:
        shrunk = math.exp(-log_odds)
        top, bottom = rows[0, 0] + rows[0, 1] * shrunk, rows[1, 0] + rows[1, 1] * shrunk
    else:
        grown = math.exp(log_odds)
        top, bottom = rows[0, 0] * grown + rows[0, 1], rows[1, 0] * grown + rows[1, 1]
    return math.log(top / bottom) if top > 0.0 and bottom > 0.0 else 0.0


def local_level(
    transition: Any,
    start: Any,
    channel: Any,
    *,
    length: int,
    adversary: Adversary = "any",
    tolerance: float = 1e-12,
) -> MechanismLevel | None:
    """The leakage of answering every record on its own through `channel[x][y]` (theory 3.9 c).

    `transition` is S x S, `start` the law of the first record, rows of `channel` the laws of the
    answers; its entries must be positive (other columns than those of zeros alone). For two states
    the level is exact for every length, `tolerance` apart. For more it is exact for short chains
    (every sequence of answers is tried, up to 100,000); for longer ones `lower` is attained and
    `upper` proven. `None` where no finite level is found.

    >>> flip, answers = [[0.9, 0.1], [0.1, 0.9]], [[0.686888, 0.313112], [0.313112, 0.686888]]
    >>> level = local_level(flip, [0.5, 0.5], answers, length=400, adversary="uninformed")
    >>> round(level.exact.value, 4)
    4.0

    #### c. Answers about each record on its own (corrected)

    **Statement** (`local_level` in `tests/oracles/exact_chain.py`). Let each record be answered
    through a channel `Q` (randomized response), and all answers be published. The leakage is the
    sup over pairs, runs, ends and *sequences of answers* of `ln Q[u, y] / Q[u', y]` plus, for each
    side, `ln m[u] / m[u']`, `m_l[u] = sum_w row_l[u, w] Q[w, y] m_(l-1)[w]`. For two states two
    numbers a step suffice, the ends of the interval of `t = m[0] / m[1]`; the recursion is exact
    for every length. For randomized response it is that of 3.5, so **randomized response attains
    3.5 on every chain of two states**.

    **Proof.** One step is `t -> (r00 s t + r01) / (r10 s t + r11)`, `s = Q[0, y] / Q[1, y]`:
    monotone in `s` and in `t`, both in the direction of the determinant's sign. So the largest and
    the smallest `t` come from an end of the interval before and an extreme ratio `s`, and the
    answers that give them are attained one after the other. With `s` in `[e^-eps, e^eps]` it is the
    map of 3.5. ∎ With more states all sequences of answers are tried (up to 100,000), which is
    exact for short chains; for longer ones the level is enclosed, by the cut of b.

    **Corrected:** the adversary who knows least is not the worst. Symmetric chain that flips with
    probability 0.1, randomized response with flip rate 0.313112, published as optimal for level 4:
    an adversary who knows nothing learns 4.0000, one who knows the records 8 steps away on both
    sides 4.5237. A level is always stated with its class.

    **Calibrated** (`calibrate_randomized_response`), long symmetric chains: flip rates against
    uninformed adversaries and against any, for flip probability 0.1 and target 1: 0.471099 and
    0.471140; target 4: 0.313112 and 0.343653; for flip probability 0.21 and target 2: 0.350908 and
    0.354052.
    """
    local = LocalChain(transition, start, channel, length)
    return local.level(adversary, tolerance)


class LocalChain:
    """A chain of `length` records, each answered through a channel; see `local_level`."""

    def __init__(self, transition: Any, start: Any, channel: Any, length: int) -> None:
        table = np.asarray(channel, dtype=float)
        table = table[:, table.max(axis=0) > 0.0]
        self.ends = Ends(
            np.asarray(transition, dtype=float), np.asarray(start, dtype=float), length
        )
        self.channel = table
        self.states = len(self.ends.start)
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        self.finite = bool(np.isfinite(logs).all())
        self.own = (logs[:, None, :] - logs[None, :, :]).max(axis=2) if self.finite else None

    def level(self, adversary: Adversary, tolerance: float = 1e-12) -> MechanismLevel | None:
        """The level against this class of adversaries."""
        if not self.finite:
            return None
        most, charge, cut = self._most(), 0.0, False
        if adversary == "informed":
            most = 0
        elif self.ends.length - 1 > most or self.ends.length > 64:
            distance, charge = forgetting(self.ends.transition, most + 1, tolerance / 8.0)
            limit, most = most, distance - 1
            if adversary == "uninformed":
                while self._inner(most) > tolerance and most < limit:
                    most = min(2 * most + 1, limit)
            cut = self.ends.length - 1 > most
        if cut and adversary == "uninformed":
            charge += self._inner(most)
        charge = 2.0 * charge if cut else 0.0
        if not math.isfinite(charge):
            return None
        return self._best(adversary, min(most, self.ends.length - 1), charge, cut)

    def between(self, left: int, right: int) -> MechanismLevel | None:
        """Against an adversary who knows exactly the records at these distances from the target."""
        if not self.finite:
            return None
        return self._best("any", max(left, right) - 1, 0.0, False, (left - 1, right - 1))

    def _most(self) -> int:
        if self.states == 2:
            return MOST_STEPS
        answers = self.channel.shape[1]
        return max(int(math.log(MOST_SEQUENCES) / math.log(max(answers, 2))), 1)

    def _inner(self, most: int) -> float:
        """How much messages from beyond `most` records can still turn the ratio (Birkhoff)."""
        widest = _log_cross_ratio(self.ends.transition, 1)
        if not math.isfinite(widest):
            return math.inf
        return widest * math.tanh(widest / 4.0) ** max(most - 1, 0) * (1.0 + 1e-9)

    def _sides(
        self, adversary: Adversary, most: int
    ) -> tuple[dict[End, Floats], dict[End, Floats]]:
        """For each end, `[run, value, other]`: the largest log ratio of the messages."""
        if self.states > 2:
            return self._enumerated(adversary, most)
        odds = np.log(self.channel[0]) - np.log(self.channel[1])
        sides = two_state_sides(self.ends, float(odds.min()), float(odds.max()), adversary, most)
        left, right = ({end: _square(side) for end, side in item.items()} for item in sides)
        return left, right

    def _enumerated(
        self, adversary: Adversary, most: int
    ) -> tuple[dict[End, Floats], dict[End, Floats]]:
        kernel, start = self.ends.transition, self.ends.start
        kinds = self.ends.kinds(adversary)
        right = {end: self._sequences(kernel, _seed(kernel, end), most) for end in kinds}
        left = {
            end: self._sequences(kernel.T, start if end is None else kernel[end], most)
            for end in kinds
        }
        return left, right

    def _sequences(self, step: Floats, seed: Floats, most: int) -> Floats:
        """Every sequence of answers of up to `most` records."""
        values = np.full((most + 1, self.states, self.states), -math.inf)
        evidence = np.array(seed, dtype=float)
        messages = evidence[:, None]
        for run in range(most + 1):
            possible = evidence > 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(messages / evidence[:, None])
                gaps = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
            values[run] = np.where(possible[:, None] & possible[None, :], gaps, -math.inf)
            if run < most:
                answered = self.channel[:, :, None] * messages[:, None, :]
                messages = step @ answered.reshape(self.states, -1)
                evidence = step @ evidence
                size = max(float(evidence.max()), 1e-300)
                messages, evidence = messages / size, evidence / size
        return values

    def _best(
        self,
        adversary: Adversary,
        most: int,
        charge: float,
        cut: bool,
        only: tuple[int, int] | None = None,
    ) -> MechanismLevel | None:
        assert self.own is not None
        kinds = self.ends.kinds("any" if adversary == "informed" else adversary)
        if only is not None:
            kinds = [end for end in kinds if end is not None]
        left, right = self._sides("any" if None not in kinds or len(kinds) > 1 else adversary, most)
        best, who = 0.0, dict[str, Any]()
        for a in kinds:
            for b in kinds:
                fits = self.ends.fits(a, b, most)
                if cut and adversary == "uninformed":
                    fits[:] = False
                    fits[most], fits[:, most] = True, True
                if only is not None:
                    keep = np.zeros_like(fits)
                    keep[only] = fits[only]
                    fits = keep
                for value, other in pairs(self.states):
                    total = together(left[a][:, value, other], right[b][:, value, other])
                    total = np.where(fits, total + self.own[value, other], -math.inf)
                    where = np.unravel_index(int(np.argmax(total)), total.shape)
                    if largest(total) > best:
                        best = float(total[where])
                        who = words(int(where[0]), a, int(where[1]), b, value, other)
        if best == math.inf:  # evidence fell below the doubles
            return None
        error = message_error(self.ends, most, best)
        missing = charge if cut and adversary == "uninformed" else 0.0
        return MechanismLevel(max(best - error - missing, 0.0), up(best + error + charge, 4), who)


def together(left: Floats, right: Floats) -> Floats:
    """The sums of every left run and every right one; `-inf` where either excludes a value."""
    with np.errstate(invalid="ignore"):
        total: Floats = left[:, None] + right[None, :]
    total[np.isneginf(left)] = -math.inf
    total[:, np.isneginf(right)] = -math.inf
    return total


def message_error(ends: Ends, most: int, level: float) -> float:
    """What rounding can do to a level made of two messages over runs of up to `most` records."""
    widest = _log_cross_ratio(ends.transition, 1)
    passed = math.tanh(widest / 4.0) if math.isfinite(widest) else 1.0
    steps = min(most + 1.0, 1.0 / max(1.0 - passed, 1e-12))
    largest = min(level, 2.0 * widest + 64.0)
    return 2 * steps * (8 * most + 40 + 4 * len(ends.start) + 4 * largest) * UNIT


def _square(side: Floats) -> Floats:
    """Two orientations as entries `[0, 1]` and `[1, 0]` of a matrix."""
    values = np.full((len(side), 2, 2), -math.inf)
    values[:, 0, 1], values[:, 1, 0] = side[:, 0], side[:, 1]
    return values


def words(left: int, a: End, right: int, b: End, value: int, other: int) -> dict[str, Any]:
    """An attack as plain data, as in `MechanismLevel.attained_by`."""
    return {
        "unknown_left": left,
        "left_end": a,
        "unknown_right": right,
        "right_end": b,
        "value": value,
        "other": other,
    }


def pairs(states: int) -> Iterator[tuple[int, int]]:
    """All ordered pairs of different values."""
    return ((u, v) for u in range(states) for v in range(states) if u != v)
