"""Graphs of records with two values: contraction where the odds of each record are known.

### 3.7c Graphs of two states: contraction where odds are known (new)

**Statement** (theorem `graph-fields`). Let every record have two possible values, 0 and 1, and let
`pi` be proportional to factors `w_k` of single records and `psi_(i, k)` of pairs, one for each
pair. Let `r_ik(u) = ln psi_ik(u, 1) / psi_ik(u, 0)` be what the factor adds to the log odds of `k`
where `x_i = u`. Without it they lie in the interval

```text
I_(i -> k) = [ o_k + sum over b of min_z r_bk(z),  o_k + sum over b of max_z r_bk(z) ],
```

`o_k = ln w_k(1) / w_k(0)`, `b` the other neighbours of `k`. Let `y_(i -> k)[u, u'] >= 0`, for `u,
u' = 1, 0` and `0, 1`, satisfy

```text
y_(i -> k)[u, u'] >= sup over L in I_(i -> k) and x in {e^s, e^-s'} of
                     ln (1 - p + x p) / (1 - q + x q),                              (1)
```

`p` and `q` with log odds `L + r_ik(u)` and `L + r_ik(u')`, `s` and `s'` the sums of `eps` and of
`y_(k -> j)[1, 0]`, or `y_(k -> j)[0, 1]`, over the other neighbours `j` of `k`. Then for every
adversary who knows each record exactly or not at all

```text
L(eps) <= eps + max over i and u, u' of sum over k of y_(i -> k)[u, u'].
```

**Proof.** *Positive tables first.* As in 3.7, by induction on the number of unknown records. A
known record is a factor of its neighbours: what it adds to their log odds is `r(z)` at its value
`z`, so the intervals still hold, and sums lose terms. Give the target `i` one copy for each
neighbour, and change its own value in `g` (`e^eps`) and its copies one by one from `u'` to `u`: all
of them between the same two values. Take the copy at `k`. Given all copies, known records and the
other unknown ones, the log odds of `k` without its factor with `i` are those of its own factor and
of one `r_bk(z)` for each other neighbour, copies among them: they lie in the interval. Over the
unknown ones the law of `x_k` is a mixture of these, so its log odds `L` lie in the interval too.
The change takes the law of `x_k` from odds `L + r(u')` to `L + r(u)`, and moves nothing else once
`x_k` is given. So with `phi(v) = E[g | x_k = v]`, copies held fixed, the mean is multiplied by `(1
- p + x p) / (1 - q + x q)` with `x = phi(1) / phi(0)`. This is monotone in `x`, so an end of the
range of `x` is the worst. And that range is within `[e^-s', e^s]`: changing `x_k` from 0 to 1 costs
its own `e^eps`, and through each other neighbour `j` at most `y_(k -> j)[1, 0]` by induction, in
the model without `i`, where (1) holds as well because the intervals of its records contain the
copies' terms.

*Zeros.* Values that the factors exclude are dropped; a record with one value left adds a constant
to the log odds of its neighbours. Then put `t > 0` in place of each zero that is left. For small
`t` the intervals lie inside those of the tables with zeros, where an end may be infinite. And the
ratio in (1) is not larger: a zero makes `p = 1` or `q = 0`, and with `p >= q` and `x >= 1` the
ratio increases in `p` and decreases in `q` (otherwise exchange the names of the values of `k`). So
the same `y` satisfies (1) for all small `t`, and the level holds for those laws. As `t -> 0` they
tend to `pi`, and so do the conditional laws given any event that is possible under `pi`. ∎

**A step in closed form.** If `rho = r(u) - r(u') >= 0`, then `p >= q`, and `x = e^s` is the worst.
With `t = L + (r(u) + r(u') + s) / 2`, the step (1) is

```text
ln(1 + 2 sinh(rho / 2) sinh(s / 2) / (cosh t + cosh((s - rho) / 2))),                  (2)
```

at the `L` of the interval that brings `t` nearest to 0. At `t = 0` it is `ln f(e^s; e^rho)` of 3.6:
so `y` is never above the messages of 3.7, and 3.7 is what is left if nothing is known about odds.
If `rho < 0`, exchange the names of the values of `k`: signs of `r` and `L` turn, and `s'` is in the
place of `s`. Factors of the same pair are multiplied first; the largest cross ratio of the product
is at most the product of theirs, so this too lowers the level.

**Which messages.** The step is increasing in the messages but, other than in 3.7, not concave:
where evidence is far from even, small costs hardly matter and larger ones do. So a guess scaled up
proves nothing. bayesdp goes up from 0 and raises each round by a hair (1e-12 of itself), until a
plain step, rounded up, raises nothing: this ends just above the least solution. Where it does not
end it goes down from `min(rho, eps (component - 1))`, which satisfies (1) for the same reasons as
in 3.7, and each step down is a proof. With more than 5,000 pairs there are two numbers, one for
each order of values, which are above all messages of theirs: as much as the kernel proves in time.

**Noisy knowledge breaks it.** Evidence about a single record shifts its odds out of the interval.
Two records, the second rare: a likelihood ratio of 100 about it costs 1.8081 where the bound for
exact knowledge is 1.6271. 3.7 covers such adversaries.

**Where it matters.** Where values are rare: disease, default, fraud. A hub of 30 contacts at a base
rate of .02 costs 18.6 `eps` (at `eps` .05) instead of 24.7 `eps` by 3.7. Near even odds, and for
large loops, both are about the same.

*Checked:* against the linear program over all mechanisms, on random models of up to five records
with rare values, loops and zeros; the messages also against (1), by a slow loop over odds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bayesdp.leakage.fields import (
    MOST_PAIRS,
    FieldMessages,
    field_messages,
    fields_level,
    uniform_level,
)
from bayesdp.leakage.state_fields import StateMessages, state_messages, states_level
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Graph, Network, Tree
from bayesdp.populations.graph import FactorTable
from bayesdp.theorems.base import Question, Theorem, too_slow

_SECONDS_OF_A_FACTOR = 6e-6
"""About what a factor takes; only which theorems are tried in the time depends on it."""

LARGEST_GRID = 400
"""Of a grid of more records, with three values or more, equal places have one number."""

Discrete = Graph | Tree | Network


class GraphFields(Theorem):
    """`L(eps) <= eps + max_i max_(u, u') sum_a y_(a -> i)[u, u']` (theory 3.7c)."""

    name = "graph-fields"
    statement = "a graphical model: what is rare, whatever is known, passes little on"
    source = "bayesdp; theory 3.7c"
    uses = "the graph, the tables, and between which odds values are whatever is known"
    ignores = "which odds go together"
    models = (Graph, Tree, Network)

    def hypothesis(self, population: Discrete, question: Question, cost: Cost) -> str | None:
        """Needs a graph that is not too large, and weights above 0 on a large grid of many values.

        Raises `OutOfTimeError` at the question's deadline.
        """
        graph = _part(population).factor_graph
        seconds = _SECONDS_OF_A_FACTOR * sum(group.count for group in graph.groups)
        if seconds > question.seconds:
            return too_slow(seconds, question)
        messages = _messages(population, question)
        return messages if isinstance(messages, str) else None

    def level(self, population: Discrete, question: Question, cost: Cost) -> Bound:
        """The level of verified messages. Messages are capped by the size of a component."""
        messages = _messages(population, question)
        assert not isinstance(messages, str)
        if isinstance(messages, StateMessages):
            level, written = states_level(messages, cost.dp_epsilon, question.deadline)
            witness: dict[str, Any] = {"messages": written} if written else {}
            return self._bound(level.epsilon, rounds=level.rounds, **witness)
        part = _part(population)
        if part is not population:  # a grid is one component
            level = uniform_level(messages, cost.dp_epsilon, population.table_size)
        elif len(messages.pairs.ends) > MOST_PAIRS and not _in_a_file(population):
            size = int(messages.graph.component_sizes.max())
            level = uniform_level(messages, cost.dp_epsilon, size)
        else:
            level = fields_level(messages, cost.dp_epsilon, question.deadline)
        return self._bound(level.epsilon, rounds=level.rounds)


def _messages(population: Discrete, question: Question) -> FieldMessages | StateMessages | str:
    """The messages of two values and pairs, or else of any; in words why there are none."""
    two = field_messages(_part(population).factor_graph)
    if not isinstance(two, str):
        return two
    laws, component = not isinstance(population, Graph), None
    part: Discrete = population
    if isinstance(population, Graph) and population.grid is not None:
        rows, columns = population.grid
        if rows * columns > LARGEST_GRID:
            if any(weight == 0 for row in population.table or () for weight in row):
                return (
                    f"a grid of more than {LARGEST_GRID} records has a zero among its weights, and "
                    "records of three or more possible values"
                )
            part = _corner(min(rows, 3), min(columns, 3), population.table or ())
            component = rows * columns
    return state_messages(part.factor_graph, laws, component, question.deadline)


def _in_a_file(population: Discrete) -> bool:
    """Whether the pairs are in a file, which the kernel does not read: it proves no level."""
    edges = population.edges if isinstance(population, Graph) else None
    return edges is not None and edges.file is not None


def _part(population: Discrete) -> Discrete:
    """Of a large grid one of 3 x 3, which has every kind of place; else the population.

    Zeros exclude no value there that they allow on a larger grid. Where they allow fewer, there are
    fewer messages, and the odds stay between the same ends.
    """
    if not isinstance(population, Graph) or population.grid is None:
        return population
    rows, columns = population.grid
    if rows * columns <= MOST_PAIRS:
        return population
    return _corner(min(rows, 3), min(columns, 3), population.table or ())


@lru_cache(maxsize=16)
def _corner(rows: int, columns: int, table: FactorTable) -> Graph:
    return Graph(grid=(rows, columns), table=table)
