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
factors that cancel.
"""

from __future__ import annotations

import math

from bayesdp.leakage.rounding import UNIT, up
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain, Population
from bayesdp.theorems.base import Bound, Question, Theorem


class MarkovContraction(Theorem):
    """`L(eps) <= 4 asinh(sqrt(R) sinh(eps / 4))` (theory 3.6)."""

    name = "markov-contraction"
    statement = "a Markov chain: at most 4 asinh(sqrt(R) sinh(eps/4)), R the largest cross ratio"
    source = "bayesdp; theory 3.6"
    uses = "the largest cross ratio of two rows of the transitions"
    ignores = "the rest of the transitions, the start, the length, the adversary class"

    def concerns(self, population: Population) -> bool:
        """Whether the theorem is about this model at all."""
        return isinstance(population, MarkovChain)

    def refusal(self, question: Question, cost: Cost) -> str | None:
        """Needs a finite cross ratio: no zero that one row has and another has not."""
        population = question.population
        assert isinstance(population, MarkovChain)
        if question.adversary != "informed" and math.isinf(cross_ratio(population.transition)):
            return "some rows of the transitions have zeros that others don't: R is infinite"
        return None

    def bound(self, question: Question, cost: Cost) -> Bound:
        """The closed form; `eps` against an informed adversary."""
        if question.adversary == "informed":
            return self._bound(cost.dp_epsilon, "exact")
        population = question.population
        assert isinstance(population, MarkovChain)
        ratio = cross_ratio(population.transition)
        return self._bound(contraction_level(ratio, cost.dp_epsilon), R=ratio)


def cross_ratio(transition: tuple[tuple[float, ...], ...]) -> float:
    """The largest cross ratio of two rows, rounded up; infinite with unshared zeros; at least 1."""
    largest = 0.0
    for u, first in enumerate(transition):
        for second in transition[:u]:
            ratios = []
            for p, q in zip(first, second, strict=True):
                if (p == 0.0) != (q == 0.0):
                    return math.inf
                if p > 0.0:
                    ratios.append(math.log(p) - math.log(q))
            largest = max(largest, max(ratios) - min(ratios))
    if largest == 0.0:
        return 1.0
    return up(math.exp(largest + 3200.0 * UNIT), 8)


def contraction_level(ratio: float, dp_epsilon: float) -> float:
    """`4 asinh(sqrt(R) sinh(eps / 4))`, rounded up; never above `sqrt(R) eps`."""
    quarter = dp_epsilon / 4.0
    if quarter > 300.0:
        return up(dp_epsilon + 2.0 * math.log(ratio), 64)
    return up(4.0 * math.asinh(math.sqrt(ratio) * math.sinh(quarter)), 64)
