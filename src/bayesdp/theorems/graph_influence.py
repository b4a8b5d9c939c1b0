"""Discrete graphical models: the influence matrix, linear in the cost.

Statement (theory 3.7b). Let `R_jk` be the largest cross ratio of records `j` and `k` given all
others (the product over the factors that hold both), `kappa_jk = tanh(ln R_jk / 4)`, `kappa_jj =
0`. If the spectral radius of `kappa` is below 1, then for every adversary

    L(eps) <= eps max_i sum_j S_ij / S_ii,     S = (I - kappa)^-1.

Proof. Let `g` have log-oscillation `l_j` in coordinate `j`; at the start all are `eps`. Replace
`g` by its mean over an unknown record `k` given all others: `E[g | x_i, x_K]` stays, `l_k` becomes
0, and `l_j` rises by at most `ln f(e^(l_k); R_jk)`, since changing `x_j` reweights the law of
`x_k` with odds ratio `R_jk`. And `tanh(ln f / 4) = tanh(l_k / 4) tanh(ln R / 4)`, so that is at
most `kappa_jk l_k`. Updating all unknown records `U` over and over, the oscillations that are
passed on die out, and what arrives at `i` is `eps (1 + kappa_iU (1 + kappa_UU + kappa_UU^2 + ..)
1) = eps (1 + kappa_iU (I - kappa_UU)^-1 1)`. It increases with `U`; for `U` all but `i` it is `eps
sum_j S_ij / S_ii` by the inverse of a block matrix.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from bayesdp.leakage.influence import influence_factor, influence_matrix
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import up
from bayesdp.populations import Graph, Network, Tree
from bayesdp.populations.factors import FactorGraph
from bayesdp.theorems.base import Question, Theorem

Discrete = Graph | Tree | Network


class GraphInfluence(Theorem):
    """`L(eps) <= eps max_i sum_j S_ij / S_ii`, `S = (I - kappa)^-1` (theory 3.7b)."""

    name = "graph-influence"
    statement = "a graphical model of weak couplings: a factor from the matrix of influences"
    source = "bayesdp; theory 3.7b"
    uses = "the largest cross ratio of every pair of records given all others"
    ignores = "the rest of the tables, and that influences shrink as costs grow"
    models = (Graph, Tree, Network)

    def hypothesis(self, population: Discrete, question: Question, cost: Cost) -> str | None:
        """Needs influences that die out."""
        if _factor(population.factor_graph) is not None:
            return None
        return (
            "the couplings are too strong: the spectral radius of the influence matrix is not "
            "below 1, or too close to it to be told"
        )

    def level(self, population: Discrete, question: Question, cost: Cost) -> Bound:
        """The factor times the cost."""
        proved = _factor(population.factor_graph)
        assert proved is not None
        factor, evidence = proved
        level = cost.dp_epsilon if factor == 1.0 else up(factor * cost.dp_epsilon, 1)
        return self._bound(level, factor=factor, **evidence)


_KNOWN: WeakKeyDictionary[FactorGraph, tuple[float, dict[str, Any]] | None] = WeakKeyDictionary()


def _factor(graph: FactorGraph) -> tuple[float, dict[str, Any]] | None:
    """The factor of a graph, computed once."""
    if graph not in _KNOWN:
        _KNOWN[graph] = influence_factor(influence_matrix(graph))
    return _KNOWN[graph]
