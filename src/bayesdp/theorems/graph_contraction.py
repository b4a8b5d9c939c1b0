"""Discrete graphical models: contraction through factors, loops allowed.

### 3.7 Discrete graphical models: contraction through factors (new)

**Statement** (theorem `graph-contraction`). Let `pi(x)` be proportional to a product of factors
`phi_a(x_a) >= 0`. For a factor `a` and a member `i` let `R_(a, i)` be the largest cross ratio

```text
phi_a(u, z) phi_a(u', z') / (phi_a(u', z) phi_a(u, z'))
```

over values `u, u'` of `i` and settings `z, z'` of the other members. Cells that are 0 in both rows
are skipped; a zero that only one of two rows has makes `R` infinite; values that some factor
excludes altogether are dropped first. With `f` from 3.6, let messages `F_(a -> i) >= 1` satisfy

```text
F_(a -> i) >= f(c; R_(a, i)),                                                       (1)
c = product over k in a, k != i, of  e^eps * product over b at k, b != a, of F_(b -> k).
```

Then `L(eps) <= eps + max over i of the sum over a at i of ln F_(a -> i)`, for every adversary.
Loops are allowed.

**Proof.** *Positive tables first.* Records that the adversary knows are deleted, their values put
into the tables: that only removes terms and lowers cross ratios. What remains is a model of the
same kind with an unknown set `U` and the target `i`; the statement is by induction on the size of
`U`. Give `i` one copy for each of its factors. Changing `x_i` from `u` to `u'` means changing its
own value in `g` (`e^eps`, pointwise) and its copies one by one. Take the copy in `a`, and let `z`
be the other members of `a`. The change multiplies the law of `z` by a function with largest ratio
`R_(a, i)` at most, up to normalisation, and moves nothing else once `z` is given. So with `phi(z) =
E[g | z]`, all copies of `i` held fixed, the means before and after differ by a factor of at most
`f(c; R_(a, i))` if `c` bounds `phi(z) / phi(z')`: this is the one step of 3.6. To bound it, change
one member `k` of `z` after the other, all other members of `a` and all copies of `i` being given.
The own value of `k` costs `e^eps`. Its copy in `a` does nothing. A copy in `b != a` costs at most
the influence of `b` on `k` in the model without `i` and `a`'s members, which is smaller, so that by
induction it is at most `F_(b -> k)`: the messages satisfy (1) in the smaller model too, since `f`
increases in `c` and in `R`, and `c` loses terms. Hence `c` is as in (1).

*Zeros.* Let the values that were dropped be out of the domain. If `R_(a, i)` is finite, all rows of
`i` in `phi_a` have the same support. So, with `J` the members of `a` with finite `R`, the support
is a product: all values for the members in `J`, times a set `S` of settings of the rest. Choose `s`
in `S`, and for a setting `s'` outside put `phi_a(z_J, s') = t phi_a(z_J, s)`. For `t > 0` the table
is positive and every cross ratio seen from a member of `J` is one that was there before; the other
`R` were infinite. So (1) holds for the changed model, and the level too. As `t -> 0` its law tends
to `pi`, and so do the conditional laws given any event that is possible under `pi`. ∎

**Which messages.** (1) reads `Phi(y) <= y` for `y = ln F`. As

```text
tanh(ln f(c; R) / 4) = tanh(ln c / 4) tanh(ln R / 4),                               (2)
```

`Phi` is increasing and, in each entry, concave. It has at most one finite positive fixed point: if
`y*` and `y` are two and `m < 1` is the largest number with `m y <= y*`, then `y* >= Phi(m y) > m
Phi(y) = m y` in every entry that isn't 0, because `eps > 0` enters `c`. Iterating from `F = 1`
approaches it *from below*, and where one stops is not a bound. So bayesdp scales its guess up and
checks `Phi(y) <= y` with all roundings outward. Where a guess fails, or the graph is large, it goes
down from above: `y = ln R` satisfies (1), because `f(c; R) <= R`; so does the fixed point for the
largest `R` and the most neighbours, used for all messages; and if `y` satisfies (1), so does
`min(y, Phi(y))`, because `Phi(min(y, Phi(y))) <= Phi(y)` and `<= y`. Each step down is a proof, so
one may stop anywhere. *Caps:* an influence moves at most the other records of the component, so it
is at most `e^(eps (component - 1))`. The induction goes through with `min(f(c; R), cap)` in place
of `f`, which makes the cap a solution where `R` is infinite.

**Finite for every eps:** `L(eps) <= eps + max_i sum_a ln R_(a, i)`, whatever the number of records.
A chain gives 3.6, a Bayesian network has its families as factors, an Ising model with coupling `J`
has `R = e^(4J)`. As in 3.6, the adversary may also have noisy knowledge of single records: that is
one more factor of one member, with `R = 1`.

*Checked:* against the search over all mechanisms on random models of up to five records with
factors of up to three, loops, zeros, two or three states. The messages are also held against (1)
by a separate slow loop.
"""

from __future__ import annotations

from typing import Any

from bayesdp.leakage.contraction import MOST_WRITTEN, MOST_WRITTEN_OF_NODES, graph_level
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Graph, Network, Tree
from bayesdp.theorems.base import Question, Theorem


class GraphContraction(Theorem[Graph | Tree | Network]):
    """`L(eps) <= eps + max_i sum_a ln F_(a -> i)`, messages on factors (theory 3.7)."""

    name = "graph-contraction"
    statement = "a graphical model: each factor passes on a change contracted by its cross ratio"
    source = "bayesdp; theory 3.7"
    uses = "the graph and the largest cross ratios of its factors"
    ignores = "the rest of the tables, and which side information is possible"
    models = (Graph, Tree, Network)
    covers_vague_knowledge = True
    ends_early = True

    def level(self, population: Graph | Tree | Network, question: Question, cost: Cost) -> Bound:
        """The level of verified messages. Messages are capped by the size of a component."""
        most = MOST_WRITTEN if isinstance(population, Graph) else MOST_WRITTEN_OF_NODES
        graph, beaten = population.factor_graph, question.beaten
        level = graph_level(graph, cost.dp_epsilon, question.deadline, most, beaten)
        witness: dict[str, Any] = {} if level.messages is None else {"messages": level.messages}
        return self._bound(
            level.epsilon,
            record=level.record,
            rounds=level.rounds,
            largest_ln_R=None if level.largest_log_ratio > 1e300 else level.largest_log_ratio,
            **witness,
        )
