"""Independent records: BDP is DP.

### 3.1 Independent records

**Statement** (theorem `independent`). For mutually independent records `L(eps) = eps`. Exact.

**Proof.** The unknown records have the same law given `x_i` and given `x_i'`, and under that law
`g(x_i, .) <= e^eps g(x_i', .)` pointwise. At least eps: the floor in 2.1. ∎ So it stays if the
adversary has vague knowledge of single records: that reweights records one by one, and they stay
independent.

**Corrected.** The hypothesis is *mutual* independence. Tschantz et al. (2020, Definition 4) ask
that `X_i` be independent of each `X_j` given the others; the degenerate law `X1 = X2 = X3`
satisfies that, and a 1-DP count leaks 3 there.
"""

from __future__ import annotations

from bayesdp.leakage.zcdp import group_renyi
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound
from bayesdp.populations import Independent
from bayesdp.theorems.base import Question, Theorem


class IndependentRecords(Theorem[Independent]):
    """`L(eps) = eps` for mutually independent records (theory 3.1)."""

    name = "independent"
    statement = "independent records: the BDP level is the DP level"
    source = "Yang, Sato & Nakagawa, SIGMOD 2015; theory 3.1"
    uses = "independence"
    ignores = "nothing"
    models = (Independent,)
    covers_vague_knowledge = True

    def level(self, population: Independent, question: Question, cost: Cost) -> Bound:
        """The DP cost itself."""
        return self._bound(UpperBound(cost.dp_epsilon))

    def renyi(self, question: Question, cost: Cost, alpha: float) -> UpperBound | None:
        """The mechanisms' own cost: the law of the unknown records doesn't depend on the secret."""
        return group_renyi(1, cost, alpha)
