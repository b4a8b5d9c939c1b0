"""Order-k chains, any adversary: the influence matrix.

Statement (theory 3.7b). Let `R_d` be the largest cross ratio of two records at distance `d` given
all the others, and `kappa_d = tanh(ln R_d / 4)` for `d = 1..k`, 0 beyond. If the matrix with
entries `kappa_|i-j|` has a spectral radius below 1, then `L(eps) <= eps max_i sum_j S_ij / S_ii`,
`S = (I - kappa)^-1`. It is linear in eps, so best for small eps and weak coupling.

Proof. Let `g` have log-oscillation `l_j` in record `j`: it starts at `eps`. Resampling an unknown
record `k` given all others keeps `E[g | x_i, x_K]`, makes `g` constant in record `k`, and raises
`l_j` by at most `ln f(e^(l_k); R_jk) <= kappa_jk l_k`. Repeated until `g` is constant in all
unknown records, the total that reaches the target is `eps` times the sum over paths that don't
return to `i`, which is `sum_j S_ij / S_ii`. Knowing more records only removes paths.
"""

from __future__ import annotations

from functools import lru_cache

from bayesdp.leakage.stationary import elimination_error
from bayesdp.leakage.tuples import influence_level, influences
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import up
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import SEVERAL_LAWS, MarkovTheorem, first_records, table_of

MOST_CELLS = 100_000


class MarkovInfluence(MarkovTheorem):
    """`L(eps) <= eps max_i sum_j S_ij / S_ii` for chains of order k (theory 3.7b)."""

    name = "markov-influence"
    statement = "an order-k chain with weak coupling: eps times the total influence on a record"
    source = "bayesdp; theory 3.7b"
    uses = "how much two records can tell about each other given all the others"
    ignores = "the signs and the order of influences, the adversary class"

    def applies(self, population: MarkovChain) -> bool:
        """Chains of order 2 and more; for order 1 the recursion is sharper."""
        return population.order > 1

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs influences that die out."""
        if population.states ** (2 * population.order) > MOST_CELLS:
            return "the order and the number of states are too large to enumerate"
        start = first_records(population)
        if start is None:
            return SEVERAL_LAWS
        if table_of(population).min() <= 0.0 or start.min() <= 0.0:
            return "a transition or the start has a zero, so a cross ratio is infinite"
        if _factor(population) is None:
            return "the influences do not die out: their matrix has no spectral radius below 1"
        return None

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """`factor * eps`."""
        factor = _factor(population)
        assert factor is not None
        return self._bound(up(factor * cost.dp_epsilon, 1), influence=factor)


@lru_cache(maxsize=64)
def _factor(population: MarkovChain) -> float | None:
    start = first_records(population)
    assert start is not None
    off = 0.0
    if population.initial == "stationary":
        off = elimination_error(population.states**population.order)
    kappa = influences(table_of(population), start, off)
    return influence_level(kappa, population.length)
