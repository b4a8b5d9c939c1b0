"""Stationary Markov chains with positive transitions: the published ratio bound.

Statement (theory 3.4; Lange et al., PVLDB 2025). For a chain that starts in its stationary law and
has only positive transition probabilities, with `gamma = max P / min P`,
`L(eps) <= eps + 4 ln gamma`.

Proof. It follows from theory 3.6: the largest cross ratio `R` of two rows is at most `gamma^2`, and
`sinh(L/4) <= sqrt(R) sinh(eps/4)` with `sqrt(R) <= gamma` and `gamma sinh(x) <= sinh(x + ln gamma)`
give `L/4 <= eps/4 + ln gamma`. Kept for comparison: it never wins, and for targets below
`4 ln gamma` it says nothing.
"""

from __future__ import annotations

import math

from bayesdp.notions import Bound, Cost
from bayesdp.numbers import up
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
        return self._bound(up(cost.dp_epsilon + 4.0 * math.log(up(gamma)), 8), gamma=gamma)
