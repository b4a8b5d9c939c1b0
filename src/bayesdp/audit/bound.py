"""A lower bound on a privacy level from samples, which is right with a stated confidence.

Two samplers make outcomes under two hypotheses: a record has the one value, or the other. An event
is chosen on one half of the samples, whatever looks best there; on the other half its probabilities
are estimated. With `k` of `n` hits the bounds of Clopper and Pearson (Biometrika 1934) hold the
probability, each with `1 - (1 - confidence) / 2`. If the level were at most

```text
ln((lower bound under one hypothesis - delta) / upper bound under the other),
```

one of the two bounds would be wrong, which happens with the probability `1 - confidence` at most:
the event doesn't depend on the half that it is estimated on. Samples must be independent of each
other. Audits by a single run, which put many random canaries into one table, need records that are
independent of each other: on dependent records their guesses are dependent, and what they report is
not a bound. So each sample here is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.errors import InputError, inner_probability, whole_number
from bayesdp.numbers import NOT_NEGATIVE, LowerBound, down

Sampler = Callable[[int], Any]
"""Makes so many outcomes: numbers, rows of numbers, or texts, one for each sample."""

Score = Callable[[Floats], Floats]
"""A number for each outcome (a row of numbers); an event is that it is large, or small."""

MOST_SAMPLES = 10**8
_CUTS = 200
_FEW = 64
_COLUMNS = 64


@dataclass(frozen=True)
class EmpiricalBound:
    """With this `confidence` the level is at least `epsilon`, in nats, at this `delta`.

    The `event` was chosen on other samples than those that are counted here. `hits` are how many of
    the `samples` of each hypothesis lie in it: first of the hypothesis under which it is likelier,
    then of the other. `towards` names the former: `"first"` or `"second"`.
    """

    epsilon: LowerBound
    delta: float
    confidence: float
    event: str
    towards: str
    hits: tuple[int, int]
    samples: int

    def exceeds(self, claimed: float) -> bool:
        """Whether the claim is refuted, at the bound's confidence."""
        return self.epsilon > claimed


@dataclass(frozen=True)
class OutcomeEvent:
    """A set of outcomes: those whose score is at least, or at most, a threshold."""

    name: str
    score: Score
    threshold: float
    above: bool
    first: bool

    def hits(self, outcomes: Floats) -> int:
        """How many of the outcomes are in it."""
        values = self.score(outcomes)
        inside = values >= self.threshold if self.above else values <= self.threshold
        return int(inside.sum())

    def words(self) -> str:
        """The event as a text."""
        return f"{self.name} {'>=' if self.above else '<='} {self.threshold:.6g}"


def lower_bound(
    first: Sampler,
    second: Sampler,
    *,
    samples: int = 20_000,
    confidence: float = 0.999,
    delta: float = 0.0,
    scores: Sequence[tuple[str, Score]] = (),
) -> EmpiricalBound:
    """A lower bound on the level of whatever makes the outcomes of two samplers.

    `first` and `second` make outcomes under two hypotheses: `first(1000)` is a thousand of them, a
    row each. They may be yours, of any mechanism: two neighbouring tables bound its DP level; two
    values of a record, with the other records drawn anew from a population for each outcome, bound
    its Bayesian DP level. `samples` is how many outcomes are made under each; half of them choose
    the event. `scores` are further events to choose from, as names with functions of the outcomes.
    Raises `InputError` naming the argument.

    >>> import numpy as np
    >>> from bayesdp.audit import lower_bound
    >>> rng = np.random.default_rng(1)
    >>> def noisy(exact):
    ...     return lambda count: exact + rng.laplace(scale=2.0, size=count)
    >>> lower_bound(noisy(1.0), noisy(0.0)).exceeds(0.4)
    True
    """
    samples = whole_number("samples", samples, least=100, most=MOST_SAMPLES)
    inner_probability("confidence", confidence, example="0.999")
    if not 0.0 <= delta < 1.0:
        raise InputError("delta", delta, expected="a number of at least 0 and below 1")
    half = samples // 2
    table = Outcomes()
    training = table.of(first, half), table.of(second, half)
    event, _ = choose_event(*training, confidence, delta, scores)
    return estimate(event, table.of(first, half), table.of(second, half), confidence, delta)


class Outcomes:
    """Outcomes as rows of numbers. Texts and others get numbers, the same for the same outcome."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def of(self, sampler: Sampler, count: int) -> Floats:
        """So many outcomes of a sampler. Raises `InputError` for another number of them."""
        made = sampler(count)
        rows = made if isinstance(made, np.ndarray) else _as_array(made)
        if rows.dtype.kind not in "iufb":
            outcomes = [str(part) if isinstance(part, str) else part for part in list(made)]
            places = [self._numbers.setdefault(part, len(self._numbers)) for part in outcomes]
            rows = np.asarray(places)
        rows = rows.reshape(len(rows), -1).astype(float)
        if len(rows) != count:
            raise InputError(
                "sampler", len(rows), expected=f"{count} outcomes, as many as it was asked for"
            )
        return rows


def _as_array(made: Any) -> NDArray[Any]:
    try:
        return np.asarray(list(made))
    except ValueError:
        return np.asarray(["rows of different lengths"])


def choose_event(
    first: Floats,
    second: Floats,
    confidence: float,
    delta: float,
    scores: Sequence[tuple[str, Score]] = (),
) -> tuple[OutcomeEvent, float]:
    """The event with the largest lower bound on these samples, and its level: an estimate.

    The event has to be estimated on other samples: among so many some look good by chance.

    `first` and `second` are outcomes under the two hypotheses, a row each; the bound would be at
    this `confidence` and `delta`; `scores` are tried beside those that suit any outcomes.
    """
    best, event = -math.inf, OutcomeEvent("any outcome", _nothing, 0.0, True, True)
    for name, score in [*scores, *_scores(first, second)]:
        ours, theirs = np.sort(score(first)), np.sort(score(second))
        cuts = _cuts(np.concatenate([ours, theirs]))
        if len(cuts) < 2:
            continue
        for above in (True, False):
            if above:
                hits = [len(side) - np.searchsorted(side, cuts, "left") for side in (ours, theirs)]
            else:
                hits = [np.searchsorted(side, cuts, "right") for side in (ours, theirs)]
            sizes = len(ours), len(theirs)
            for is_first in (True, False):
                order = (0, 1) if is_first else (1, 0)
                levels = level_of_hits(
                    hits[order[0]],
                    sizes[order[0]],
                    hits[order[1]],
                    sizes[order[1]],
                    confidence,
                    delta,
                )
                place = int(np.argmax(levels))
                if levels[place] > best:
                    best = float(levels[place])
                    event = OutcomeEvent(name, score, float(cuts[place]), above, is_first)
    return event, best


def estimate(
    event: OutcomeEvent, first: Floats, second: Floats, confidence: float, delta: float
) -> EmpiricalBound:
    """The bound by an `event`, on outcomes under the hypotheses `first` and `second`.

    It holds with this `confidence`, for the level at this `delta`, if the event was chosen without
    these outcomes.
    """
    hits, others = event.hits(first), event.hits(second)
    sizes = len(first), len(second)
    if not event.first:
        hits, others, sizes = others, hits, (sizes[1], sizes[0])
    level = float(
        level_of_hits(np.array([hits]), sizes[0], np.array([others]), sizes[1], confidence, delta)[
            0
        ]
    )
    towards = "first" if event.first else "second"
    bound = max(down(level, 4), NOT_NEGATIVE)
    return EmpiricalBound(
        bound, delta, confidence, event.words(), towards, (hits, others), min(sizes)
    )


def level_of_hits(
    hits: NDArray[Any],
    tried: int,
    others: NDArray[Any],
    others_tried: int,
    confidence: float,
    delta: float,
) -> Floats:
    """`ln((p - delta) / q)` with Clopper and Pearson's lower bound `p` and upper bound `q`.

    `hits` of `tried` samples under the one hypothesis, `others` of `others_tried` under the other;
    both bounds hold together with this `confidence`. Minus infinity where `p <= delta`.
    """
    from scipy.stats import beta

    tail = (1.0 - confidence) / 2.0
    least = np.where(hits > 0, beta.ppf(tail, np.maximum(hits, 1), tried - hits + 1), 0.0)
    rest = others_tried - others
    most = np.where(rest > 0, beta.isf(tail, others + 1, np.maximum(rest, 1)), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        level: Floats = np.where(least > delta, np.log((least - delta) / most), -np.inf)
    return level


# -- what an event may look at ---------------------------------------------------------------------


def _nothing(outcomes: Floats) -> Floats:
    return np.zeros(len(outcomes))


def _cuts(values: Floats) -> Floats:
    """Thresholds to try: fine at both ends, where rare outcomes are."""
    tails = np.geomspace(1.0 / len(values), 0.5, _CUTS)
    shares = np.concatenate([tails, 1.0 - tails])
    cuts: Floats = np.unique(np.quantile(values, shares, method="nearest"))
    return cuts


def _scores(first: Floats, second: Floats) -> Iterator[tuple[str, Score]]:
    """Scores that suit any outcomes: each number, their best sum, their last bits, their odds."""
    width = first.shape[1]
    for column in range(min(width, _COLUMNS)):
        yield f"number {column + 1}", _column(column)
    both = np.concatenate([first, second])
    finite = bool(np.isfinite(both).all())
    if width > 1 and finite:
        yield "a weighted sum of the numbers", _discriminant(first, second)
    if finite and bool((both != np.floor(both)).any()):
        for column in range(min(width, _COLUMNS)):
            yield f"the last bit of number {column + 1}", _last_bit(column)
    seen = np.unique(both, axis=0)
    if len(seen) <= _FEW:
        yield "the odds of the outcome", _odds(seen, first, second)


def _column(column: int) -> Score:
    return lambda outcomes: outcomes[:, column]


def _discriminant(first: Floats, second: Floats) -> Score:
    """Fisher's linear discriminant: the sum whose means differ most for its spread."""
    centre, scale = first.mean(axis=0), np.maximum(first.std(axis=0), second.std(axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    ours, theirs = (first - centre) / scale, (second - centre) / scale
    within = np.atleast_2d(np.cov(ours.T)) + np.atleast_2d(np.cov(theirs.T))
    gap = ours.mean(axis=0) - theirs.mean(axis=0)
    weights = np.linalg.lstsq(within + 1e-9 * np.eye(len(gap)), gap, rcond=None)[0] / scale
    return lambda outcomes: (outcomes - centre) @ weights


def _last_bit(column: int) -> Score:
    """The place of the last binary digit: what rounding of doubles gives away (Mironov 2012)."""

    def score(outcomes: Floats) -> Floats:
        fraction, exponent = np.frexp(outcomes[:, column])
        digits = np.abs(fraction * 2.0**53).astype(np.int64)
        last = np.log2(np.maximum(digits & -digits, 1).astype(float))
        places: Floats = np.where(digits == 0, np.inf, exponent - 53 + last)
        return places

    return score


def _odds(seen: Floats, first: Floats, second: Floats) -> Score:
    """The log odds of an outcome among few, as counted; 0 for outcomes that were never seen."""
    table = {row.tobytes(): place for place, row in enumerate(seen)}
    counts = np.full((2, len(seen) + 1), 0.5)
    for side, rows in enumerate((first, second)):
        for row in rows:
            counts[side, table[row.tobytes()]] += 1.0
    odds = np.log(counts[0]) - np.log(counts[1])

    def score(outcomes: Floats) -> Floats:
        values: Floats = odds[[table.get(row.tobytes(), len(seen)) for row in outcomes]]
        return values

    return score
