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

from functools import lru_cache

from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.states import StatesLevel
from bayesdp.notions import Bound, Cost
from bayesdp.populations import MarkovChain, Population
from bayesdp.theorems.base import Question, Theorem
from bayesdp.theorems.markov import INTERVALS, chain_of, state_chain
from bayesdp.theorems.markov_recursion import engine_seconds, too_dear


class MarkovThreshold(Theorem):
    """The recursion with one cost for all pairs of states: fast for many states (theory 3.6)."""

    name = "markov-threshold"
    statement = "a Markov chain of many states: the recursion with the largest cost for all pairs"
    source = "bayesdp; theory 3.6 (threshold variant), after Cao et al., ICDE 2017"
    uses = "the transitions, the start, the length, the adversary class"
    ignores = "that some pairs of states are closer to each other than others"

    def concerns(self, population: Population) -> bool:
        """Chains of order 1 with more than two states; for two it is the recursion itself."""
        return isinstance(population, MarkovChain) and (
            population.states > 2 and population.order == 1
        )

    def refusal(self, question: Question, cost: Cost) -> str | None:
        """Needs given transitions, and a chain that is short or forgets; and affordable work."""
        if question.adversary == "informed":
            return None
        if chain_of(question).transition is None:
            return INTERVALS
        refused = too_dear(question, "threshold", "seconds")
        if refused is not None:
            return refused
        if _level(question, cost.dp_epsilon) is None:
            return (
                "the chain is long and does not forget its past (it is periodic, absorbing or "
                "nearly so), so its tail can't be closed"
            )
        return None

    def expected_seconds(self, question: Question) -> float:
        """The engine's estimate."""
        if question.adversary == "informed" or chain_of(question).transition is None:
            return 0.0
        return engine_seconds(question, "threshold")

    def bound(self, question: Question, cost: Cost) -> Bound:
        """The level; `eps` against an informed adversary."""
        if question.adversary == "informed":
            return self._bound(cost.dp_epsilon)
        found = _level(question, cost.dp_epsilon)
        assert found is not None
        if found.closed is not None:
            return self._bound(found.epsilon, steps=0, closed=found.closed)
        return self._bound(found.epsilon, steps=found.steps)


def _level(question: Question, dp_epsilon: float) -> StatesLevel | None:
    population = chain_of(question)
    return _cached(population, question.adversary == "uninformed", dp_epsilon, question.deadline)


@lru_cache(maxsize=64)
def _cached(
    population: MarkovChain, uninformed: bool, dp_epsilon: float, deadline: Deadline
) -> StatesLevel | None:
    if dp_epsilon == 0.0:
        return StatesLevel(0.0, 0, True)
    engine = state_chain(Question(population, "uninformed" if uninformed else "any"))
    return None if engine is None else engine.level(dp_epsilon, "threshold", deadline)
