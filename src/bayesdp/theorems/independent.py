"""Independent records: BDP is DP.

Statement (theory 3.1). If the records are mutually independent, `L(eps) = eps` against every
adversary.

Proof. Given `x_i` and `x_K` the unknown records follow their prior law whatever `x_i` is, so
`E[g | x_i, x_K]` averages `g` over the same law for both secrets, and `g` changes by at most
`e^eps` under the average. Equality: a mechanism that reads record `i` alone.
"""

from __future__ import annotations

from bayesdp.leakage.zcdp import group_renyi
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Independent
from bayesdp.theorems.base import Question, Theorem


class IndependentRecords(Theorem):
    """`L(eps) = eps` for mutually independent records (theory 3.1)."""

    name = "independent"
    statement = "independent records: the BDP level is the DP level"
    source = "Yang, Sato & Nakagawa, SIGMOD 2015; theory 3.1"
    uses = "independence"
    ignores = "nothing"
    models = (Independent,)
    covers_vague_knowledge = True

    def level(self, population: Independent, question: Question, cost: Cost) -> Bound:
        """`eps`."""
        return self._bound(cost.dp_epsilon)

    def approximate(
        self, question: Question, dp_epsilon: float, dp_delta: float
    ) -> tuple[float, float] | None:
        """`(eps, delta)` itself: the average over the unknown records is the same on both sides."""
        return (dp_epsilon, dp_delta)

    def renyi(self, question: Question, cost: Cost, alpha: float) -> float | None:
        """The mechanisms' own: the unknown records follow one law, whatever the secret is."""
        return group_renyi(1, cost, alpha)
