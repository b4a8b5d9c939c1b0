"""Trees, adversaries who know no record: the recursion along edges.

### 3.5r Trees, uninformed adversaries: sharp recursion (new)

**Statement** (theorem `tree-recursion`). The records form a tree, or several independent ones: a
root has a law, every other record a transition from its parent. The adversary knows no record. For
neighbours `i` and `k` let `rows[u, .]` be the law of `x_k` given `x_i = u`: the transition if `k`
is a child of `i`, and proportional to `law_k(v) T[v][u]` if `k` is the parent and `T` the
transition from `k` to `i`. Let

```text
C_(k -> i)[u, u'] = sup of (rows[u] . phi) / (rows[u'] . phi)
                    over phi > 0 with phi(v) <= c(v, v') phi(v'),
c(v, v')          = e^eps * product over the other neighbours l of k of C_(l -> k)[v, v'],  v != v'.
```

Then `L(eps) <= eps + max over i and possible u, u' of the sum over the neighbours k of i of ln C_(k
-> i)[u, u']`. If all records have two states, this is an equality. One pass from the leaves up and
one down give all `C`: linear time.

**Proof.** The branches at the neighbours of `i` are independent given `x_i`, and nothing beyond is
known, so `x_k` follows `rows[x_i]`. Change the record itself (`e^eps`, pointwise), then the law of
one branch after the other. Let `phi(v)` be the mean of `g` over the rest of the branch at `k`,
given `x_k = v` and the other branches. From `v` to `v'` it changes by `e^eps` for the record itself
and then, one by one, by `C_(l -> k)[v, v']` for each further branch, by induction on the size of
the branch. *Equality:* with two states `phi` matters only through `phi(1) / phi(0)`, and the
maximum is at an end of its interval (3.5). Which end depends on the sign of one determinant for
each edge and on the direction of the change before it. So, starting at `i`, every edge has its
direction, and the `g` that multiplies `e^eps [x_k = the favoured value]` over all records attains
every `C` at once: the mean over further branches is a product, with the ratio `c` in the wanted
direction. *Zeros:* a value that `x_k` can't take has weight 0 in all rows; `phi` may be given there
the value that it has at a possible one, so that value may be left out, or its costs set to the
largest of the others. ∎

More than two states: each step is a linear program, which bayesdp bounds from above by a feasible
dual (3.5m), or by its threshold bound (3.6t) where there would be very many. The result is then an
upper bound.

*Checked:* two states: equal to the search over all mechanisms on random trees and forests of up to
five records, with zeros; three states: never below it.
"""

from __future__ import annotations

from bayesdp.leakage.tree import MOST_CELLS, marginals_fit, tree_attained, tree_level
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Network, Tree
from bayesdp.theorems.base import Question, Theorem


class TreeRecursion(Theorem[Tree | Network]):
    """The sharp conversion for trees against uninformed adversaries (theory 3.5r)."""

    name = "tree-recursion"
    statement = "a tree, and an adversary who knows no record: the sharp recursion along its edges"
    source = "bayesdp; theory 3.5r"
    uses = "the tree, its laws and transitions, and that the adversary knows no record"
    ignores = "nothing"
    models = (Tree, Network)

    def applies(self, population: Tree | Network) -> bool:
        """Trees, and networks in which no record has two parents."""
        return isinstance(population, Tree) or population.as_tree is not None

    def failed_hypothesis(
        self, population: Tree | Network, question: Question, cost: Cost
    ) -> str | None:
        """Needs an adversary who knows no record, or all other records."""
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
