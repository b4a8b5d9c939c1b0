"""Discrete graphical models: the influence matrix, linear in the cost.

### 3.7b Discrete graphical models: the influence matrix (new)

**Statement** (theorem `graph-influence`). Let `R_jk` be at least the largest cross ratio of `(x_j,
x_k)` given all other records: the product over the factors that hold both of their largest cross
ratio in `j` and `k`. Let `kappa_jk = tanh(ln R_jk / 4)`, with zero diagonal. If the spectral radius
of `kappa` is below 1,

```text
L(eps) <= eps max over i of sum_j S_ij / S_ii,      S = (I - kappa)^-1.
```

**Proof.** Let `g` have the log-oscillation `l_j` in coordinate `j`: `g` changes by a factor of at
most `e^(l_j)` if only `x_j` does. At first all are `eps`. Let `k` be unknown, and replace `g` by
its mean over `x_k` given all other records. This keeps `E[g | x_i, x_K]`, and makes `l_k = 0`. If
`x_j` changes, `g` changes by `e^(l_j)` pointwise, and the law of `x_k` is reweighted with odds
ratio at most `R_jk`, which by 3.6 and (2) changes the mean by a log of at most

```text
ln f(e^(l_k); R_jk) = 4 artanh(tanh(l_k / 4) kappa_jk) <= kappa_jk l_k,
```

since `artanh(kappa tanh(x))` is concave in `x >= 0` with slope `kappa` at 0. So an update takes
`l_k` away and hands `kappa_jk l_k` to each `j`. Update all unknown records `U` again and again, in
rounds: what is passed on inside `U` dies out, since `kappa_UU` too has spectral radius below 1, and
in the limit the mean depends on `x_i` and `x_K` only. The log-oscillation in `x_i` has become at
most `eps (1 + kappa_iU (I + kappa_UU + kappa_UU^2 + ...) 1)`. All terms are non-negative, so it is
largest if `U` is everything but `i`, and there the inverse of a block matrix gives `kappa_iU (I -
kappa_UU)^-1 = S_iU / S_ii`. *Zeros:* as in 3.7. Here a pair counts as finite only if, given the
other members, all its pairs of allowed values are possible or none is; the members of a factor that
belong to finite pairs then are free, and the same change of the tables keeps their cross ratios. ∎

**Certified** by a positive vector: `(I - kappa_UU) t >= 1` with `t > 0`, checked with outward
rounding, proves that `I - kappa_UU` is an M-matrix and `(I - kappa_UU)^-1 1 <= t` (multiply by the
inverse, which is non-negative). Up to 1500 records there is such a `t` for each `i`; above, one
vector `s` for the whole matrix gives the row sums `S 1 <= s`, and `S_ii >= 1 + (kappa^2)_ii +
(kappa^3)_ii + (kappa^4)_ii` because `S` is the sum of all powers and none has negative entries.

Linear in `eps`, so at its best for small `eps` and weak coupling, and silent for strong coupling;
3.7 is never silent. The lower of the two is reported.

*Checked:* with 3.7, on the same models.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from bayesdp.leakage.contraction import MOST_WRITTEN, MOST_WRITTEN_OF_NODES
from bayesdp.leakage.influence import influence_factor, influence_matrix
from bayesdp.leakage.walk import row_sums
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import Graph, Network, Tree
from bayesdp.populations.factors import FactorGraph
from bayesdp.theorems.base import Question, Theorem
from bayesdp.theorems.zeros import ZEROS, has_zeros

DiscreteModel = Graph | Tree | Network


class GraphInfluence(Theorem[DiscreteModel]):
    """`L(eps) <= eps max_i sum_j S_ij / S_ii`, `S = (I - kappa)^-1` (theory 3.7b)."""

    name = "graph-influence"
    statement = "a graphical model of weak couplings: a factor from the matrix of influences"
    source = "bayesdp; theory 3.7b"
    uses = "the largest cross ratio of every pair of records given all others"
    ignores = "the rest of the tables, and that influences shrink as costs grow"
    models = (Graph, Tree, Network)

    def failed_hypothesis(
        self, population: DiscreteModel, question: Question, cost: Cost
    ) -> str | None:
        """Needs influences that die out."""
        if _factor(population) is not None:
            return None
        if has_zeros(population):
            return ZEROS
        return (
            "the couplings are too strong: the spectral radius of the influence matrix is not "
            "below 1, or too close to it to be told"
        )

    def level(self, population: DiscreteModel, question: Question, cost: Cost) -> Bound:
        """The largest total influence on a record, times `eps`."""
        proved = _factor(population)
        assert proved is not None
        factor, evidence = proved
        level = cost.dp_epsilon if factor == 1.0 else up(factor * cost.dp_epsilon, 1)
        return self._bound(UpperBound(level), factor=factor, **evidence)


_KNOWN: WeakKeyDictionary[FactorGraph, tuple[float, dict[str, Any]] | None] = WeakKeyDictionary()


def _factor(population: DiscreteModel) -> tuple[float, dict[str, Any]] | None:
    """The factor of a population's graph, computed once."""
    graph = population.factor_graph
    most = MOST_WRITTEN if isinstance(population, Graph) else MOST_WRITTEN_OF_NODES
    if graph not in _KNOWN:
        proved = influence_factor(influence_matrix(graph))
        if proved is not None:
            evidence = proved[1]
            evidence |= row_sums(evidence.pop("row_sums")[graph.tied], most)
        _KNOWN[graph] = proved
    return _KNOWN[graph]
