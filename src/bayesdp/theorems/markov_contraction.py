"""Markov chains: the contraction bound in closed form.

Statement (theory 3.6). Let `R` be the largest cross ratio of two rows of the transition matrix,
`max (P_uw P_vw') / (P_vw P_uw')`. For every length, start and adversary,

    sinh(L / 4) <= sqrt(R) sinh(eps / 4),   that is   L(eps) <= 4 asinh( sqrt(R) sinh(eps / 4) ).

Proof. On one side of the target, let the effect of the target on everything beyond the next record
be at most `C` in ratio. Whatever is known beyond it weighs the next record's law by some `h >= 0`.
Two rows reweighted by the same `h` have likelihood ratios within a factor `R` of each other, and a
function with `max / min <= c` has averages under two such laws within
`f(c; R) = ((1 + sqrt(c R)) / (sqrt c + sqrt R))^2` (two points, by extremality). The next record
itself contributes `e^eps`, so `C <= f(e^eps C; R)`; iterating from 1 stays below the fixed point,
which is `sinh(eps/4 + ln(C)/2) = sqrt(R) sinh(eps/4)`. Two sides and the target's own `eps`:
`L = eps + 2 ln C`. A time reversal has the same `R`, since its rows differ from `P`'s columns by
factors that cancel. An inhomogeneous chain takes the largest `R`.

Order k. Blocks of k records, cut from record 1, form a chain of order 1; a mechanism that is
eps-DP in records is k eps-DP in blocks, and a secret of one record is one of its block. So
`L(eps) <= 4 asinh( sqrt(R) sinh(k eps / 4) )` with the `R` of the chain on blocks. A last, partial
block is a block of which some records are not read.

Intervals. If the transitions are only known to lie between bounds, the largest `R` between them
serves, because `R` is all that the proof uses; the start does not matter.

With delta (theory 3.10). For `(eps, delta)`-DP mechanisms the ratio `C` becomes a map
`G <= C G' + D`: a record's own change is `(e^eps, delta)`, and passing a reweighting turns `(c, d)`
into `(f(c; R), d h)`, `h = (sqrt R - sqrt C)^2 / (R - 1)` at `C = f(c; R)`, the largest
hockey-stick divergence of a reweighting. Maps chain to
`(C1 C2, D1 + C1 D2)`, in the order that gives less.
"""

from __future__ import annotations

import math
from functools import lru_cache

from bayesdp.leakage.approximate import chain_level, group
from bayesdp.leakage.tuples import block_interval_ratio, block_ratio
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UNIT, largest, up
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question, Theorem
from bayesdp.theorems.markov import interval_ratio, table_of, tightened

MOST_TUPLES = 512


class MarkovContraction(Theorem):
    """`L(eps) <= 4 asinh(sqrt(R) sinh(eps / 4))` (theory 3.6)."""

    name = "markov-contraction"
    statement = "a Markov chain: at most 4 asinh(sqrt(R) sinh(eps/4)), R the largest cross ratio"
    source = "bayesdp; theory 3.6"
    uses = "the largest cross ratio of two rows of the transitions"
    ignores = "the rest of the transitions, the start, the length, the adversary class"
    models = (MarkovChain,)
    covers_vague_knowledge = True

    def hypothesis(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs a finite cross ratio: no zero that one row has and another has not."""
        if population.states**population.order > MOST_TUPLES:
            return f"the chain on blocks of {population.order} records has too many states"
        if math.isinf(largest_ratio(population)):
            return "some rows of the transitions have zeros that others don't: R is infinite"
        return None

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The closed form."""
        ratio = largest_ratio(population)
        block = up(population.order * cost.dp_epsilon, 1 if population.order > 1 else 0)
        return self._bound(contraction_level(ratio, block), R=ratio, block=population.order)

    def approximate(
        self, question: Question, dp_epsilon: float, dp_delta: float
    ) -> tuple[float, float] | None:
        """The chain of both sides' influences and the target's own change (theory 3.10)."""
        if question.adversary == "informed":
            return (dp_epsilon, dp_delta)
        population = self._population(question)
        if population.order != 1:
            dp_epsilon, dp_delta = group(population.order, dp_epsilon, dp_delta)
        ratio = largest_ratio(population)
        blocks = -(-population.length // population.order)
        return chain_level(ratio, dp_epsilon, dp_delta, blocks)


@lru_cache(maxsize=64)
def largest_ratio(population: MarkovChain) -> float:
    """The largest cross ratio of a chain, of its blocks, or between its interval bounds."""
    if population.transition is None:
        low, high = tightened(population)
        if population.order > 1:
            return block_interval_ratio(low, high)
        return interval_ratio(low, high)
    if population.order > 1:
        return block_ratio(table_of(population))
    return cross_ratio(population.transition)


def cross_ratio(transition: tuple[tuple[float, ...], ...]) -> float:
    """The largest cross ratio of two rows, rounded up; infinite with unshared zeros; at least 1."""
    widest = 0.0
    for u, first in enumerate(transition):
        for second in transition[:u]:
            ratios = []
            for p, q in zip(first, second, strict=True):
                if (p == 0.0) != (q == 0.0):
                    return math.inf
                if p != 0.0:
                    ratios.append(math.log(p) - math.log(q))
            widest = largest(widest, largest(*ratios) + largest(*(-ratio for ratio in ratios)))
    if widest == 0.0:
        return 1.0
    # Beyond the doubles nothing is passed on: as good as zeros that are not shared.
    return up(math.exp(widest + 3200.0 * UNIT), 8) if widest < 700.0 else math.inf


def contraction_level(ratio: float, dp_epsilon: float) -> float:
    """`4 asinh(sqrt(R) sinh(eps / 4))`, rounded up; never above `sqrt(R) eps`."""
    quarter = dp_epsilon / 4.0
    if quarter > 300.0:
        return up(dp_epsilon + 2.0 * math.log(ratio), 64)
    return up(4.0 * math.asinh(math.sqrt(ratio) * math.sinh(quarter)), 64)
