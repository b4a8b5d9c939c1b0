"""Stationary Markov chains with positive transitions: the published ratio bound.

### 3.4 Markov chain, ratio bound

**Statement** (theorem `markov-ratio`). If the start is stationary and all entries of `P` are
positive, `L(eps) <= eps + 4 ln gamma` with `gamma = max P / min P`. It says nothing for targets of
`4 ln gamma` or less.

**Proof.** By 3.6, `L(eps) <= 4 asinh(r sinh(t))` with `t = eps / 4`, `r = sqrt(R)`, `1 <= r <=
gamma`. And `sinh(t + ln r) = (r e^t - e^-t / r) / 2 >= r sinh(t)` because `r >= 1/r`, so `L(eps) <=
4 t + 4 ln r <= eps + 4 ln gamma`. ∎ 3.6 is never worse, holds for every start, and tolerates
columns of zeros; this bound is kept for comparison.

*Source:* Lange et al. (PVLDB 2025).
"""

from __future__ import annotations

import math

from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import NOT_STATIONARY, MarkovTheorem


class MarkovRatio(MarkovTheorem):
    """`L(eps) <= eps + 4 ln gamma` for stationary chains, all `P > 0` (theory 3.4)."""

    name = "markov-ratio"
    statement = "a stationary chain with positive transitions: at most eps + 4 ln(max P / min P)"
    source = "Lange et al., PVLDB 2025; theory 3.4"
    uses = "the largest and the smallest transition probability"
    ignores = "everything else about the transitions"

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs a stationary start and only positive transition probabilities."""
        if population.order != 1:
            return "the bound is for chains of order 1"
        if population.initial != "stationary":
            return NOT_STATIONARY
        if min(min(row) for row in population.transition) == 0.0:
            return "a transition probability is 0, so max P / min P is infinite"
        return None

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """`eps + 4 ln gamma`."""
        gamma = max(map(max, population.transition)) / min(map(min, population.transition))
        level = UpperBound(up(cost.dp_epsilon + 4.0 * math.log(up(gamma, 4)), 8))
        return self._bound(level, gamma=gamma)
