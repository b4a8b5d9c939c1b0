"""Discrete graphical models: contraction through factors, loops allowed.

Statement (theory 3.7). Let the law be proportional to a product of factors `phi_a(x_a)`, and let
`R_(a, i)` be the largest cross ratio of factor `a` seen from its member `i`, `max phi_a(u, z)
phi_a(u', z') / (phi_a(u', z) phi_a(u, z'))` over possible values `u, u'` of `i` and settings `z,
z'` of the others; a zero that only one of two rows has makes it infinite. If `F >= 1` satisfies

    F_(a -> i) >= f(c; R_(a, i)),
    c = product over k in a without i of ( e^eps product over b at k, b != a, of F_(b -> k) )

for all `a` and `i`, then `L(eps) <= eps + max_i sum over a at i of ln F_(a -> i)`, for every
adversary. Here `f(c; R) = ((1 + sqrt(c R)) / (sqrt c + sqrt R))^2`, and `f(c; inf) = c`.

Proof. What the adversary knows is deleted from the graph, which lowers cross ratios. Give record
`i` one copy for each of its factors and change the copies from `u` to `u'` one by one. Changing
the copy in `a` multiplies the law of the other members `z` of `a` by a function whose largest
ratio is at most `R_(a, i)`, and, given `z`, moves nothing else. Let `phi(z) = E[g | z]` with all
copies of `i` held fixed. From `z` to `z'`, change one member `k` at a time: its own value costs
`e^eps`, and each of its copies in a factor `b != a` the influence of `b` on `k` in the graph
without `i` and the members of `a` (the copy in `a` does nothing: the members of `a` are all
given). So `phi` varies by at most the `c` in the statement, and its mean by at most `f(c; R)` (the
one step of 3.6). By induction on the number of unknown records every influence is at most the
message, since `f` increases in `c` and fewer records mean fewer terms. Zeros: 3.7 gives the
perturbation that makes all tables positive and raises no finite cross ratio. Messages may be
capped at `(component - 1) eps` throughout: that many records move.

With delta (theory 3.10) the influences are affine maps `(f(c; R), h d)`; see
`leakage/graph_delta.py`.
"""

from __future__ import annotations

from bayesdp.leakage.contraction import graph_level
from bayesdp.leakage.graph_delta import approximate_graph_level
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import up
from bayesdp.populations import Graph, Network, Tree
from bayesdp.theorems.base import Question, Theorem


class GraphContraction(Theorem):
    """`L(eps) <= eps + max_i sum_a ln F_(a -> i)`, messages on factors (theory 3.7)."""

    name = "graph-contraction"
    statement = "a graphical model: each factor passes on a change contracted by its cross ratio"
    source = "bayesdp; theory 3.7"
    uses = "the graph and the largest cross ratios of its factors"
    ignores = "the rest of the tables, and which side information is possible"
    models = (Graph, Tree, Network)
    covers_vague_knowledge = True

    def level(self, population: Graph | Tree | Network, question: Question, cost: Cost) -> Bound:
        """The level of verified messages. Messages are capped by the size of a component."""
        level = graph_level(population.factor_graph, cost.dp_epsilon, question.deadline)
        return self._bound(
            level.epsilon,
            record=level.record,
            rounds=level.rounds,
            largest_ln_R=None if level.largest_log_ratio > 1e300 else level.largest_log_ratio,
        )

    def approximate(
        self, question: Question, dp_epsilon: float, dp_delta: float
    ) -> tuple[float, float] | None:
        """`(epsilon, delta)` for `(dp_epsilon, dp_delta)`-DP mechanisms (theory 3.10)."""
        if question.adversary == "informed":
            return dp_epsilon, dp_delta
        population = question.population
        assert isinstance(population, Graph | Tree | Network)
        epsilon, delta = approximate_graph_level(
            population.factor_graph, dp_epsilon, dp_delta, question.deadline
        )
        return None if delta >= 1.0 else (up(epsilon, 1), delta)
