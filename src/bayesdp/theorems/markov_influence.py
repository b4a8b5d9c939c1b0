"""Order-k chains, any adversary: the influence matrix.

### 3.7k Order-k chains, any adversary: the influence matrix (new)

**Statement** (theorem `markov-influence`). 3.7b holds for a chain of order k with `kappa_d =
tanh(ln R_d / 4)` for records `d = 1, ..., k` apart and 0 beyond, `R_d` the largest cross ratio of
`(x_j, x_(j+d))` given all other records, over all positions `j`, both ends included. `R_d` comes
from the transitions that hold both records; near the start also from the joint law of the first k.
All of these must be positive.

**Proof.** That of 3.7b uses of the law only that, all other records given, a change of `x_j`
reweights the law of `x_k` with an odds ratio of at most `R_jk`. In a chain of order k the law of
`x_k` given all others depends on records at most k away, and its odds are products of the
transitions that hold both records (near the start, of the joint law of the first k too): so `R_jk
<= R_|j-k|`, and it is 1 beyond k. `S_ij / S_ii` grows with each entry of `kappa`, so the bound with
`R_d` in place of `R_jk` is one too. ∎

*Certificate:* `S_ij / S_ii = x_j` solves `x = kappa_Ui + kappa_UU x`, `U` everything but `i`, and
grows with `U`. So an inner record of a long line is the worst. It is solved in a window around it
(400 records to each side, 120 in the kernel). What is missing to `x >= kappa_Ui + kappa_UU x`, by
rounding and beyond the window, is made up for by adding `r theta^|j|`, with `theta` so close to 1
that one step still loses half of the room `1 - 2 sum kappa_d`. So the bound does not grow with the
length. If there is no room but the line is short, the solution is checked against a positive vector
instead.
"""

from __future__ import annotations

from functools import lru_cache

from bayesdp.leakage.stationary import elimination_error
from bayesdp.leakage.tuples import influence_level, influences
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import (
    SEVERAL_LAWS,
    MarkovTheorem,
    first_records,
    table_of,
    too_many_cells,
)

MOST_CELLS = 100_000
"""Chains with more cells to enumerate are refused."""


class MarkovInfluence(MarkovTheorem):
    """`L(eps) <= eps max_i sum_j S_ij / S_ii` for chains of order k (theory 3.7k)."""

    name = "markov-influence"
    statement = "an order-k chain with weak coupling: eps times the total influence on a record"
    source = "bayesdp; theory 3.7k"
    uses = "how much two records can tell about each other given all the others"
    ignores = "the signs and the order of influences, the adversary class"

    def applies(self, population: MarkovChain) -> bool:
        """Chains of order 2 and more; for order 1 `markov-recursion` is sharper."""
        return population.order > 1

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs influences that die out."""
        cells = population.states ** (2 * population.order)
        if cells > MOST_CELLS:
            return too_many_cells(population, cells, MOST_CELLS)
        start = first_records(population)
        if start is None:
            return SEVERAL_LAWS
        if table_of(population).min() <= 0.0 or start.min() <= 0.0:
            return "a transition or the start has a zero, so a cross ratio is infinite"
        if _factor(population) is None:
            return "the influences do not die out: their matrix has no spectral radius below 1"
        return None

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The largest total influence on a record, times `eps`."""
        factor = _factor(population)
        assert factor is not None
        return self._bound(UpperBound(up(factor * cost.dp_epsilon, 1)), influence=factor)


@lru_cache(maxsize=64)
def _factor(population: MarkovChain) -> UpperBound | None:
    start = first_records(population)
    assert start is not None
    off = 0.0
    if population.initial == "stationary":
        off = elimination_error(population.states**population.order)
    kappa = influences(table_of(population), start, off)
    return influence_level(kappa, population.length)
