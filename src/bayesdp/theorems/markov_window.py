"""Order-k chains, any adversary: follow one changed record while it is in the window.

Statement (theory 3.5w, new). A stationary chain of order k with positive transitions. For a record
of age `j` in a tuple of k consecutive records (age 0 is the newest) let `R_j` be the largest cross
ratio between it and the next `k - j` records given the rest of the tuple, `R_j'` the same with time
reversed, `R*` the largest cross ratio between a record and the k records on both its sides, and `R`
that of blocks. With `f` as in theory 3.6 let

    E_j  = min( f(e^eps E_0; R_j) E_{j+1},  f(e^((k-j) eps) E; R_j) ),   E_k = 1,
    E    = f(e^(k eps) E; R)                                            (theory 3.6 for blocks),

`E_j'` the same with `R_j'`, and `B = max_j E_j E'_{k-1-j}`. Then against every adversary

    L(eps) <= eps + ln min( B_1,  f(e^((k-1) eps) E^2; R*) B ),
    B_k = B,  B_s = f(e^eps B_{s+1}; R*) B_{s+1}.

Proof. (1) One side, the tuple of the last k records given, one of its records, of age `j`, changed;
`E_j` is to bound the largest change of the average of a log-Lipschitz function over everything
beyond. If the next record is known, the changed one ages: `E_{j+1}`. If not, its law given the
tuple and all evidence beyond is reweighted by the change with odds within `R_j`: whatever the
evidence `h` is, once the next `k - j` records are given it no longer depends on the changed one, so
the odds are averages of ratios of products of transitions. As a function of the next record the
average varies by at most `e^eps E_0` (that record changes alone and is then of age 0). So passing
to the other law costs `f(e^eps E_0; R_j)`; the same next record in both, the changed one has aged:
`E_{j+1}`. Or reveal the next `k - j` records together: their joint law is reweighted within `R_j`,
they vary by `e^((k-j) eps) E`, and given them the change is forgotten. Starting from no records
beyond, induction on the length of the side gives any super-solution of these inequalities.

(2) Both sides. Given a segment of k records around the target, the sides are independent, and a
change of one of its records costs at most `B`. While the revealed segment is shorter, reveal a
neighbour: its law is reweighted within `R*`, because given all 2k records around the changed one
nothing else depends on it; it varies by `e^eps B_{s+1}`, and then the change is seen in a longer
segment. Or reveal k - 1 neighbours together. The target itself pays `eps`.

A stationary chain is part of a longer one, so ends need no care. Knowing more never hurts: known
records take part in the evidence.
"""

from __future__ import annotations

import math
from functools import lru_cache

from bayesdp.leakage.tuples import block_ratio
from bayesdp.leakage.windows import MOST_CELLS, WindowRatios, window_level, window_ratios
from bayesdp.notions import Bound, Cost
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import NOT_STATIONARY, MarkovTheorem, table_of


class MarkovWindow(MarkovTheorem):
    """One changed record followed through the window of an order-k chain (theory 3.5w)."""

    name = "markov-window"
    statement = "a stationary order-k chain: one changed record, followed until it is forgotten"
    source = "bayesdp; theory 3.5w"
    uses = "how much one record can tell about those after, before and around it"
    ignores = "which evidence is possible, and the adversary class"

    def applies(self, population: MarkovChain) -> bool:
        """Chains of order 2 and more; for order 1 it is the contraction bound."""
        return population.order > 1

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs positive transitions, a stationary start, and windows of a bounded size."""
        if population.initial != "stationary":
            return NOT_STATIONARY
        if population.states ** (2 * population.order + 1) > MOST_CELLS:
            return "the order and the number of states are too large to enumerate"
        if _ratios(population) is None:
            return "a transition probability is 0, so a cross ratio is infinite"
        return None

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The level of the last window."""
        ratios = _ratios(population)
        assert ratios is not None
        level = 0.0 if cost.dp_epsilon == 0.0 else window_level(ratios, cost.dp_epsilon)
        return self._bound(level)


@lru_cache(maxsize=64)
def _ratios(population: MarkovChain) -> WindowRatios | None:
    table = table_of(population)
    if table.min() <= 0.0:
        return None
    block = block_ratio(table)
    return None if math.isinf(block) else window_ratios(table, block)
