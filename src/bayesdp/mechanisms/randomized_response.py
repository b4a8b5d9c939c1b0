"""Randomized response: every record is perturbed on its own, when it is collected.

A value is kept with probability `1 - flip` and otherwise replaced by one of the others, all equally
likely. Replacing one record changes the law of its own answer only, so publishing all answers costs
`ln((1 - flip) (k - 1) / flip)`, as much as one of them. The random choices are OpenDP's, and so is
the cost; there is no seed.

### 2.9 Answers perturbed at collection

Let every record have one of `k` states `x_i`, and let its answer `y_i` be drawn when it is
collected: `x_i` itself with the probability `p = e^eps / (e^eps + k - 1)`, and each other state
with `q = 1 / (e^eps + k - 1)`. The draws are independent of each other and of everything else,
given the records. This is k-ary randomized response, and `p / q = e^eps`.

**Statement.** (i) To publish all answers is `eps`-DP (replace one), so its level is at most
`L_pi(eps)`, for every population and class of adversaries; it is not `eps` in general. (ii)
Whatever is computed from the answers, any number of times, is covered by (i): it is paid for once.
(iii) With mechanisms of the DP costs `eps_1, ..., eps_m` on the same records, each chosen in view
of everything published before, all of it together costs `eps + eps_1 + ... + eps_m`, converted
once.

*Proof.* (i) `P[y | x]` is the product of `P[y_j | x_j]`, and replacing record `i` changes one
factor, by at most `p / q`; then 2.1, which asks for nothing but the DP cost. For two copies of one
bit it is attained: the two answers together have the odds `e^(2 eps)`, as `L_pi` has for clusters
of two. (ii) 2.4: a later query reads `y`, and neither the records nor new draws. (iii) 2.2, the
answers being the first mechanism. A record is everything that is known of it, so the replaced one
may have another answer and other values in the other columns; that is why the costs add up. ∎

What is needed and can't be checked afterwards: that each answer was drawn so, once, and that the
table holds what was drawn. Two collections of the same column are two mechanisms; costs count once
only where column and `eps` are the same, as they are for the same answers. A population is one of
the true states. Perturbed answers may contradict it, as where it rules out that a state follows
another, so bayesdp refuses the combination rather than to hold the answers against it.

**Estimates.** Of `n` records `c` hold a state, and `S` answers name it: a sum of independent
`Bin(c, p)` and `Bin(n - c, q)`. So `(S - n q) / (p - q)` has the mean `c`, and its variance is `(c
p (1 - p) + (n - c) q (1 - q)) / (p - q)^2`. Over the states the estimates add up to `n`.

**Intervals.** As `p > q`, the law of `S` grows stochastically with `c`: one more holder replaces a
Bernoulli variable of mean `q` by one of mean `p`. So the `c` for which `P[S >= s] <= beta / 2` are
those up to some number, and the `c` for which `P[S <= s] <= beta / 2` those from some number on.
What lies between them contains the true `c` with a probability of at least `1 - beta`, whatever `c`
is: if `c` is left out below, `s` is among the values that are as large as only `beta / 2` of the
law is, and likewise above. ∎ The kernel sums the masses within `5 sqrt(m) + 6` of the mean of each
binomial law of `m` trials, and adds `4 e^-50` for the others (Hoeffding: `2 e^(-2 t^2 / m)` beyond
`t` on both sides). It adds `n 2^-48` for what was drawn: the probability of the true answer is a
double there, within `2^-48` of `p`, and the law of `n` answers is within `n` times that in total
variation.

*Checked:* the channel of three records exhaustively, against the cost; the level of two copies
against the exact odds of both answers; coverage exactly, for every number of holders, and the tails
against convolutions ([tests](../tests/release/test_collected.py)).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bayesdp.errors import InputError, finite_number, inner_probability
from bayesdp.mechanisms.batches import respond_each
from bayesdp.numbers import Estimate, LowerBound, UpperBound

MOST_STATES = 1000


@dataclass(frozen=True)
class EstimatedCount:
    """How many records hold `state`, from perturbed answers.

    `estimate` is unbiased and may leave [0, n]; its standard error is that of the perturbation
    alone. Between `low` and `high` lies the number of records among these n, with at least the
    asked `confidence` (whatever the records are; equal tails).
    """

    state: Hashable
    estimate: Estimate
    low: int
    high: int
    confidence: float
    records: int

    @property
    def proportion(self) -> tuple[float, float, float]:
        """The estimate and the two ends, divided by the number of records."""
        n = self.records
        return self.estimate.value / n, self.low / n, self.high / n


@dataclass(frozen=True)
class RandomizedResponse:
    """Keep a value with probability `1 - flip`, else answer with one of the other states.

    `states` are the values that a record can take, at least two; `flip` is the probability of an
    answer that is not the record's, at most `(k - 1) / k`, where answers tell nothing. Raises
    `InputError` naming the argument.

    >>> mechanism = RandomizedResponse((0, 1), 0.25)
    >>> round(mechanism.cost(), 6)
    1.098612
    """

    states: tuple[Hashable, ...]
    flip: float

    def __post_init__(self) -> None:
        states = tuple(self.states)
        object.__setattr__(self, "states", states)
        if not 2 <= len(set(states)) == len(states) <= MOST_STATES:
            raise InputError(
                "states", states, expected=f"2 to {MOST_STATES} different values", shown=False
            )
        limit = (len(states) - 1) / len(states)
        if isinstance(self.flip, bool) or not isinstance(self.flip, int | float):
            raise InputError("flip", self.flip, expected="a probability")
        if not 0.0 < self.flip <= limit:
            raise InputError(
                "flip",
                self.flip,
                expected=f"a probability above 0 and at most {limit:.6g}",
                remedy="More would be as informative as less, with the answers renamed.",
            )

    @classmethod
    def for_cost(cls, states: tuple[Hashable, ...], dp_epsilon: float) -> RandomizedResponse:
        """The smallest flip probability found whose certified DP cost is at most `dp_epsilon`.

        Raises `InputError` unless `dp_epsilon`, in nats, is finite and above 0, and for states that
        randomized response can't have.
        """
        finite_number("dp_epsilon", dp_epsilon, expected="a finite number above 0")
        others = len(tuple(states)) - 1
        flip = others / (others + math.exp(min(dp_epsilon, 700.0)))
        for _ in range(1000):
            response = cls(tuple(states), min(flip, others / (others + 1)))
            if response.cost() <= dp_epsilon:
                return response
            flip *= 1.0 + 2.0**-52
        raise InputError(
            "dp_epsilon", dp_epsilon, expected="a cost that randomized response can represent"
        )

    @property
    def kept(self) -> LowerBound:
        """The probability of the true answer, rounded down."""
        keep_probability = 1.0 - self.flip
        below = Fraction(keep_probability) + Fraction(self.flip) <= 1
        return LowerBound(keep_probability if below else math.nextafter(keep_probability, 0.0))

    def cost(self) -> UpperBound:
        """The DP cost of publishing all answers, in nats, rounded up: by OpenDP's privacy map."""
        return UpperBound(_measurement(len(self.states), self._probability).map(1))

    @property
    def _probability(self) -> float:
        return max(self.kept, math.nextafter(1.0 / len(self.states), 1.0))

    def channel(self) -> tuple[tuple[float, ...], ...]:
        """The law of the answer (columns) for each state (rows)."""
        size, keep_probability = len(self.states), self._probability
        other = (1.0 - keep_probability) / (size - 1)
        return tuple(
            tuple(keep_probability if u == v else other for v in range(size)) for u in range(size)
        )

    def release(self, values: Iterable[Hashable]) -> list[Hashable]:
        """One perturbed answer for each value, in their order.

        Raises `InputError` (which doesn't show the value) for a value that is not a state.
        A value should be perturbed once: answering again about the same record costs again.
        """
        places = {state: place for place, state in enumerate(self.states)}
        true_places = []
        for value in values:
            if value not in places:
                raise InputError("values", expected="declared states only", shown=False)
            true_places.append(places[value])
        if len(true_places) > 8:
            if len(self.states) == 2:
                return [self.states[place] for place in _flipped(true_places, self._probability)]
            answers = respond_each(true_places, len(self.states), self._probability)
            return [self.states[place] for place in answers]
        answer = _measurement(len(self.states), self._probability)
        return [self.states[int(answer(place))] for place in true_places]

    def estimate(
        self, answers: Iterable[Hashable], confidence: float = 0.95
    ) -> tuple[EstimatedCount, ...]:
        """Unbiased counts of every state from perturbed answers, with confidence intervals.

        Each interval holds for its own state, not for all states at once. It inverts the exact
        law of the number of answers, a sum of two binomials. Raises `InputError` unless
        `0 < confidence < 1`, for no answers at all, for an answer that is not a state, and where
        `flip` is so large that answers tell nothing.
        """
        inner_probability("confidence", confidence)
        tally = Counter(answers)
        for value in tally:
            if value not in self.states:
                raise InputError("answers", value, expected="declared states only")
        n = sum(tally.values())
        if n == 0:
            raise InputError("answers", [], expected="at least one answer")
        keep_probability = self._probability
        other = (1.0 - keep_probability) / (len(self.states) - 1)
        if not keep_probability - other > 1e-12:
            raise InputError(
                "flip", self.flip, expected="a probability at which answers still tell something"
            )
        counts = []
        for state in self.states:
            times_answered = tally[state]
            value = (times_answered - n * other) / (keep_probability - other)
            inside = min(max(value, 0.0), float(n))
            variance = inside * keep_probability * (1.0 - keep_probability) + (
                n - inside
            ) * other * (1.0 - other)
            low, high = _interval(times_answered, n, keep_probability, other, 1.0 - confidence)
            error = math.sqrt(variance) / (keep_probability - other)
            counts.append(EstimatedCount(state, Estimate(value, error), low, high, confidence, n))
        return tuple(counts)


def collect(answer: Hashable, states: Iterable[Hashable], *, dp_epsilon: float) -> Hashable:
    """One perturbed answer, to be drawn where the true one is given, before anybody else sees it.

    Of k `states` the true `answer` is kept with the probability `e^eps / (e^eps + k - 1)`, where
    `eps` is `dp_epsilon` in nats, and otherwise it is one of the others, all equally likely. So the
    odds of what is sent are at most `e^eps`, whatever is true, and nobody need be trusted with it.
    OpenDP draws it, from the operating system's source of chance; its own bound on the cost is at
    most `dp_epsilon`. Asking again about the same record costs again: keep what was sent.

    Raises `InputError`, which doesn't show the answer, for one that is not a state, and for states
    or a cost as in `RandomizedResponse.for_cost`.

    >>> collect("no", ["no", "yes"], dp_epsilon=600.0)
    'no'
    """
    (sent,) = RandomizedResponse.for_cost(tuple(states), dp_epsilon).release([answer])
    return sent


def _interval(
    times_answered: int, n: int, keep_probability: float, other: float, beta: float
) -> tuple[int, int]:
    """The true counts for which `seen` answers are plausible: no tail below `beta / 2`.

    The number of answers grows stochastically with the true count, so both ends are found by
    bisection.
    """

    def too_few(count: int) -> bool:
        """Whether so many answers are implausible with so small a count."""
        return _at_least(times_answered, count, n, keep_probability, other) < beta / 2.0

    def too_many(count: int) -> bool:
        return 1.0 - _at_least(times_answered + 1, count, n, keep_probability, other) < beta / 2.0

    low, high = 0, n
    if too_few(0):
        below, above = 0, n
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if too_few(middle) else (below, middle)
        low = above
    if too_many(n):
        below, above = 0, n
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if too_many(middle) else (middle, above)
        high = below
    return min(low, high), max(low, high)


def _at_least(threshold: int, count: int, n: int, keep_probability: float, other: float) -> float:
    """`P[Bin(count, kept) + Bin(n - count, other) >= seen]`."""
    import numpy as np
    from scipy.stats import binom

    first = np.arange(count + 1)
    mass = binom.pmf(first, count, keep_probability)
    return float(mass @ binom.sf(threshold - 1 - first, n - count, other))


def _flipped(places: list[int], keep_probability: float) -> list[int]:
    """The same law for two states, by OpenDP's mechanism on a vector of bits: much faster.

    It flips each bit with probability `f / 2`, where `f = 2 (1 - kept)` is an exact double.
    """
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    size = len(places)
    answer = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=size),
        dp.discrete_distance(),
        f=2.0 * (1.0 - keep_probability),
    )
    noisy = answer(np.packbits(np.asarray(places, dtype=np.uint8)).tobytes())
    bits: list[int] = np.unpackbits(np.frombuffer(noisy, dtype=np.uint8))[:size].tolist()
    return bits


@lru_cache(maxsize=64)
def _measurement(states: int, keep_probability: float) -> Any:
    """OpenDP's randomized response on the numbers 0 to states - 1."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp.m.make_randomized_response(list(range(states)), prob=keep_probability)
