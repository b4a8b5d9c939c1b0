"""Groups of at most m dependent records: the level is m times the DP cost.

### 3.2 Clusters, and the unknown population

**Statement** (theorem `cluster-size`). If the records fall into mutually independent clusters of at
most `m`, then `L(eps) <= m eps`. If nothing else is known this is exact, even if all correlations
are arbitrarily close to 0.

**Proof.** Given `x_i, x_K`, the records outside the cluster of `i` have a law that doesn't depend
on `x_i`. Couple the unknown ones inside the cluster in any way: at most `m` records change, so `g`
changes by a factor of at most `e^(m eps)` pointwise, and so does its average. *Exact:* let one
cluster be, with probability `p`, all `a`; with probability `p`, all `a'`; and otherwise independent
noise that never hits `a` or `a'`. As `p -> 0` the correlations tend to 0, but given `x_1 = a` all
records are `a`, and given `x_1 = a'` all are `a'`. The log-Lipschitz `g(x) = e^(eps * number of a
among the records)` has the ratio `e^(m eps)`. ∎ *Vague knowledge* of single records (weights on
their values) leaves the clusters independent, and inside them the first part asks nothing of the
laws: `m eps` stays.

**Nothing known at all** (model `unknown`) is one cluster of `n`: `n eps`. No useful accuracy is
then possible. *Statement:* if `M` is epsilon-BDP for *every* population and answers `f` with
`P[error >= alpha] <= beta` for some `beta < 1 / (e^epsilon + 1)`, then `alpha > |f(D) - f(D')| / 2`
for any two databases `D, D'`. *Proof:* let `pi` be either of the two, with probability 1/2 each,
and let `i` be a record in which they differ: its value tells which database it is. Were `alpha` at
most `|f(D) - f(D')| / 2`, the events "the error is below alpha" for `D` and for `D'` would be
disjoint sets of answers. The first has probability at least `1 - beta` under `D` and at most `beta`
under `D'`, so `1 - beta <= e^epsilon beta`, that is `beta >= 1 / (e^epsilon + 1)`. ∎

*Source:* Lange, Guerra-Balboa, Parra-Arnau and Strufe (PVLDB 2025).

**With zCDP costs** and with a delta: 3.10. Against an informed adversary only the target changes:
`L(eps) = eps`.
"""

from __future__ import annotations

from bayesdp.leakage.zcdp import group_renyi
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import NOT_NEGATIVE, LowerBound, UpperBound, times_above
from bayesdp.populations import Clusters, Independent, Population, Unknown
from bayesdp.theorems.base import Question, Theorem

IMPOSSIBLE = (
    "nothing is known about who depends on whom, so no mechanism can be both BDP and accurate: at "
    "a useful level its error exceeds half the range of the query (theory 3.2)"
)


class ClusterSize(Theorem[Population]):
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
        """All models except independent records, where the theorem `independent` gives the same."""
        return not isinstance(population, Independent)

    def level(self, population: Population, question: Question, cost: Cost) -> Bound:
        """`m eps`, without any hypothesis: every population has a largest group."""
        size = question.group_size
        if question.informed:
            return self._bound(UpperBound(cost.dp_epsilon), size=size)
        nothing_else = isinstance(population, Clusters | Unknown)
        evidence = {"note": IMPOSSIBLE} if isinstance(population, Unknown) else {}
        level = times_above(size, cost.dp_epsilon)
        attained = LowerBound(level) if nothing_else else NOT_NEGATIVE
        return self._bound(level, attained, size=size, **evidence)

    def renyi(self, question: Question, cost: Cost, alpha: float) -> UpperBound | None:
        """Group privacy: `m eps + alpha m^2 rho` (theory 3.10)."""
        return group_renyi(question.group_size, cost, alpha)
