"""Groups of at most m dependent records: the level is m times the DP cost.

Statement (theory 3.2). If records depend on each other only inside groups of at most `m`, then
`L(eps) <= m eps` against every adversary, and `L(eps) = eps` against an informed one. If nothing
else is known about the groups, `L(eps) = m eps` exactly, even as correlations tend to 0 (Lange et
al., PVLDB 2025).

Proof. Let the secret change from `x_i` to `x_i'`. Records outside the group follow the same law in
both cases; records of the group change from some values to others, at most `m` of them the target
included, so `g` changes by at most `e^(m eps)` between any two databases that agree outside the
group, and so do its averages. An informed adversary knows the others: only the target changes.
Equality: `m` identical records.

With zCDP costs (theory 3.10). Two databases that differ in `m` records have a Rényi divergence of
at most `m eps + alpha m^2 rho` (Bun & Steinke 2016, Proposition 1.9), and the outputs for the two
secrets are mixtures of such pairs with the same weights.

Impossibility (same source). If nothing is known and all `n` records may depend on each other,
`m = n`: an `epsilon`-BDP mechanism whose error exceeds `alpha` with probability at most `beta`,
`beta < 1 / (e^epsilon + 1)`, has `alpha` above half the largest change of the query between any two
databases. No useful accuracy is possible, and no better theorem will come.
"""

from __future__ import annotations

from bayesdp.leakage.approximate import group
from bayesdp.leakage.zcdp import group_renyi
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import times
from bayesdp.populations import Clusters, Independent, Population, Unknown
from bayesdp.theorems.base import Question, Theorem

IMPOSSIBLE = (
    "nothing is known about who depends on whom, so no mechanism can be both BDP and accurate: at "
    "a useful level its error exceeds half the range of the query (theory 3.2)"
)


class ClusterSize(Theorem):
    """`L(eps) <= m eps` for groups of at most `m` dependent records (theory 3.2)."""

    name = "cluster-size"
    statement = "groups of at most m dependent records: at most m times the DP level"
    source = "Lange et al., PVLDB 2025; theory 3.2"
    uses = "how many records may depend on each other"
    ignores = "how strongly, and in which pattern, they do"
    models = (Population,)
    covers_vague_knowledge = True
    treats_informed = True

    def applies(self, population: Population) -> bool:
        """All but independent records, of which `independent` says the same."""
        return not isinstance(population, Independent)

    def level(self, population: Population, question: Question, cost: Cost) -> Bound:
        """`m eps`, without a hypothesis: every population has a largest group."""
        size = question.group_size
        if question.informed:
            return self._bound(cost.dp_epsilon, size=size)
        nothing_else = isinstance(population, Clusters | Unknown)
        evidence = {"note": IMPOSSIBLE} if isinstance(population, Unknown) else {}
        level = times(size, cost.dp_epsilon)
        return self._bound(level, level if nothing_else else 0.0, size=size, **evidence)

    def approximate(
        self, question: Question, dp_epsilon: float, dp_delta: float
    ) -> tuple[float, float] | None:
        """Group privacy: `(m eps, delta (e^(m eps) - 1) / (e^eps - 1))` (theory 3.10)."""
        if question.adversary == "informed":
            return (dp_epsilon, dp_delta)
        found = group(question.population.group_size, dp_epsilon, dp_delta)
        return found if found[1] < 1.0 else None

    def renyi(self, question: Question, cost: Cost, alpha: float) -> float | None:
        """Group privacy: `m eps + alpha m^2 rho` (theory 3.10)."""
        return group_renyi(question.group_size, cost, alpha)
