"""Trees, adversaries who know no record: the recursion along edges.

Statement (theory 3.5, trees). For neighbours `i` and `k` of a tree let `rows[u, .]` be the law of
`x_k` given `x_i = u` (the transition, or the reversed one if `k` is the parent of `i`), and let

    C_(k -> i)[u, u'] = sup { rows[u] . g / rows[u'] . g  :  g > 0, g(v) <= c(v, v') g(v') },
    c(v, v') = e^eps product over the other neighbours l of k of C_(l -> k)[v, v']   for v != v'.

Against an uninformed adversary `L(eps) <= eps + max over i and possible u, u' of the sum over the
neighbours `k` of `i` of `ln C_(k -> i)[u, u']`. With two states everywhere equality holds.

Proof. Given `x_i` the branches at its neighbours are independent, and the law of `x_k` is
`rows[x_i]` since nothing is known beyond. Change the record itself (`e^eps`), then the branches
one by one. Given `x_k = v` the mean of `g` over the rest of the branch is a function of `v` whose
ratio between `v` and `v'` is at most `c(v, v')`: the record itself, and then its further branches
one by one, by induction. Equality: for two states the sup sits at an end of the interval for `g(0)
/ g(1)`. Which end depends on the sign of one determinant for each edge and on the direction of the
change at `i`, so the choices along the branches fit together in one `g`, a product over the
records, which attains all of them.
"""

from __future__ import annotations

from bayesdp.leakage.tree import MOST_CELLS, marginals_fit, tree_attained, tree_level
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Network, Tree
from bayesdp.theorems.base import Question, Theorem


class TreeRecursion(Theorem):
    """The sharp conversion for trees against uninformed adversaries (theory 3.5)."""

    name = "tree-recursion"
    statement = "a tree, and an adversary who knows no record: the sharp recursion along its edges"
    source = "bayesdp; theory 3.5, trees"
    uses = "the tree, its laws and transitions, and that the adversary knows no record"
    ignores = "nothing"
    models = (Tree, Network)

    def applies(self, population: Tree | Network) -> bool:
        """Trees, and networks in which no record has two parents."""
        return isinstance(population, Tree) or population.as_tree is not None

    def hypothesis(self, population: Tree | Network, question: Question, cost: Cost) -> str | None:
        """Needs an adversary who knows no record (or every other one)."""
        if question.adversary == "any":
            return "it speaks of uninformed adversaries only: those who know no record"
        tree = _tree(population)
        if tree.records * max(tree.sizes) ** 2 > MOST_CELLS:
            return "the tree has too many records and states to be followed edge by edge"
        if not marginals_fit(tree):
            return "some possible values are so rare that doubles can't hold their probabilities"
        return None

    def level(self, population: Tree | Network, question: Question, cost: Cost) -> Bound:
        """The level, exact for two states."""
        asked = _tree(population), cost.dp_epsilon, question.deadline
        return self._bound(tree_level(*asked), tree_attained(*asked))


def _tree(population: Tree | Network) -> Tree:
    tree = population if isinstance(population, Tree) else population.as_tree
    assert tree is not None
    return tree
