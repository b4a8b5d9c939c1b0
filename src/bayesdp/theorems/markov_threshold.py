"""Markov chains of more than two states: the recursion with one cost for all pairs.

### 3.6t Markov chain of many states, threshold variant (new)

**Statement** (theorem `markov-threshold`). Between 3.5m and 3.6: in 3.5m replace the costs `c(v,
v')` by the largest of them, `c`. One step is then

```text
C[u, u'] = max over sets A of states of (1 + (c - 1) p(A)) / (1 + (c - 1) q(A)),
p = row[u], q = row[u'],
```

and the best `A` is a threshold of `p / q`: sort, cumulate, take the best. *Proof:* a larger cost
admits more functions. With one cost the constraint is `max phi <= c min phi`; a linear-fractional
function is largest at a corner, `phi = c` on `A` and 1 elsewhere; at the optimum `A` holds the
states with `p(v) - C q(v) > 0`. ∎ It needs no linear program. The same function is behind temporal
privacy leakage (Cao et al., ICDE 2017). Even for two states it may lie above 3.5, where the two
costs differ.
"""

from __future__ import annotations

from typing import Any

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
    """The recursion with one cost for all pairs of states: fast for many states (theory 3.6t)."""

    name = "markov-threshold"
    statement = "a Markov chain of many states: the recursion with the largest cost for all pairs"
    source = "bayesdp, after Cao et al., ICDE 2017; theory 3.6t"
    uses = "the transitions, the start, the length, the adversary class"
    ignores = "that some pairs of states are closer to each other than others"

    def applies(self, population: MarkovChain) -> bool:
        """Chains of order 1 with more than two states; for two `markov-recursion` is as quick."""
        return population.states > 2 and population.order == 1

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs affordable work, and a chain that is short or forgets."""
        refused = exceeds_time_limit(population, question, "threshold")
        if refused is not None:
            return refused
        level = engine_level(population, question, cost.dp_epsilon, "threshold")
        return REMEMBERS if level is None else None

    def seconds_for(self, population: MarkovChain, question: Question) -> float:
        """The estimate of the step-by-step method."""
        if population.transition is None:
            return 0.0
        return engine_seconds(population, question, "threshold")

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The level of the step-by-step method."""
        level = engine_level(population, question, cost.dp_epsilon, "threshold")
        assert level is not None
        closed: dict[str, Any] = {} if level.closed is None else {"closed": level.closed}
        return self._bound(level.epsilon, steps=level.followed, **closed)
