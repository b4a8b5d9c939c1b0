"""Markov chains of more than two states: the recursion with one cost for all pairs.

Statement (theory 3.6, threshold variant). In the recursion of theory 3.5 replace the costs
`c(v, v')` by the largest of them, `c`. One step is then

    C[u, u'] = max over sets A of states of (1 + (c - 1) p(A)) / (1 + (c - 1) q(A)),

`p` and `q` the laws of the next record given `u` and `u'`; the best set is a threshold of `p / q`.

Proof. A larger cost admits more functions, so the value only grows. With one cost the constraint is
`max g <= c min g`; a linear-fractional function on that set is largest at an extreme point, where
`g` takes two values, `c` on a set `A` and 1 off it; exchanging states shows that `A` is a threshold
of `p / q`. (The same function stands behind temporal privacy leakage: Cao et al., ICDE 2017.)
"""

from __future__ import annotations

from bayesdp.notions import Bound, Cost
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import (
    REMEMBERS,
    MarkovTheorem,
    engine_level,
    engine_seconds,
    exceeds_time_limit,
)


class MarkovThreshold(MarkovTheorem):
    """The recursion with one cost for all pairs of states: fast for many states (theory 3.6)."""

    name = "markov-threshold"
    statement = "a Markov chain of many states: the recursion with the largest cost for all pairs"
    source = "bayesdp; theory 3.6 (threshold variant), after Cao et al., ICDE 2017"
    uses = "the transitions, the start, the length, the adversary class"
    ignores = "that some pairs of states are closer to each other than others"

    def applies(self, population: MarkovChain) -> bool:
        """Chains of order 1 with more than two states; for two it is the recursion itself."""
        return population.states > 2 and population.order == 1

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs affordable work, and a chain that is short or forgets."""
        refused = exceeds_time_limit(population, question, "threshold")
        if refused is not None:
            return refused
        level = engine_level(population, question, cost.dp_epsilon, "threshold")
        return REMEMBERS if level is None else None

    def seconds_for(self, population: MarkovChain, question: Question) -> float:
        """The engine's estimate."""
        if population.transition is None:
            return 0.0
        return engine_seconds(population, question, "threshold")

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The engine's level."""
        level = engine_level(population, question, cost.dp_epsilon, "threshold")
        assert level is not None
        if level.closed is not None:
            return self._bound(level.epsilon, steps=0, closed=level.closed)
        return self._bound(level.epsilon, steps=level.steps)
