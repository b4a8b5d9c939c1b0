"""Graphs of records: contraction where the odds of each record are known.

### 3.7c Graphs: contraction where odds are known (new)

**Statement** (theorem `graph-fields`). Let `pi` be proportional to factors `phi_a(x_a) >= 0`, and
let values that some factor excludes be dropped. For a member `k` of a factor `a` let

```text
h_(a, k)(v, w) = sum over the other factors b at k of  max over z of ln phi_b(v, z) / phi_b(w, z),
```

factors of `k` alone among them, `z` the other members of `b`. Take a factor `a`, a member `i` of
it, and two values `u` and `u'` of `i`. Let some other members of `a` be known, but not all, and let
`z` run over the settings of the rest. Write `alpha(z) = phi_a(u, z)` and `beta(z) = phi_a(u', z)`
with the known values put in. *Evidence* is a function `nu > 0` of `z` with

```text
ln nu(z) / nu(w) <= H(z, w) = sum over k with z_k != w_k of h_(a, k)(z_k, w_k).
```

A threshold splits the settings into `A`, where `alpha / beta` is above it, and `B`, where it is
below; neither is empty. Let `P` be the sum of `alpha nu` over `A`, divided by that over `B`, and
`Q` the same of `beta nu`. Let numbers `y_(a -> i)[u, u'] >= 0` satisfy, for every choice of known
members, their values, and the threshold,

```text
y_(a -> i)[u, u'] >= sup over evidence of ln (1 + e^s P) (1 + Q) / ((1 + P) (1 + e^s Q)),    (1)
s = sum over k of  max over v, w of  eps + sum over b at k, b != a, of y_(b -> k)[v, w],
```

`k` the unknown members, `v != w` values that `k` has in some setting of `A` and in some of `B`.
Then for every adversary who knows each record exactly or not at all

```text
L(eps) <= eps + max over i and u, u' of sum over a at i of y_(a -> i)[u, u'].
```

Loops are allowed, and so are any number of values and factors of any size. The smaller of the
supremum in (1) and `eps (component - 1)` will do in its place, `component` being the number of
records that are tied to `i`, itself included. With zeros the closed form below, with what is said
there of them, stands in the place of the supremum. The level depends on how `pi` is written as
factors.

**Proof.** *Positive tables first.* In a *smaller model* some records are known: each of them is
given a value in all of its factors, perhaps different ones, and the others in none. There `y`
satisfies (1) too: choices of known members are fewer, `h` is a maximum over fewer settings, and
`s` has fewer terms. Let the target `i` have one copy for each of its factors. *Claim:* changing its
copy in `a` from `u'` to `u`, all other copies being fixed anyhow, multiplies the mean of `g` by at
most `e^y`, `y = y_(a -> i)[u, u']`. The theorem follows: change the own value of `i` in `g`
(`e^eps`) and then its copies one by one, all of them between the same two values.

The claim is proved by induction on the number of unknown records. If no other member of `a` is
unknown, nothing changes. Otherwise let `z` be those that are, `nu(z)` the sum over all other
unknown records of the product of all factors but `a`, and `G(z) = E[g | z]`, which the copy in `a`
does not move. Each term of the sum changes by at most `e^H(z, w)` where `w` becomes `z`, one
record after the other, so `nu` is evidence. The means are those of `G` under the laws `p ~ alpha
nu` and `q ~ beta nu`. Let `lambda >= 1` be their quotient, `c = p - lambda q`, and `A` the settings
with `c > 0`: those where `alpha / beta` is above a threshold. If `A` is empty or everything,
`lambda = 1`. Otherwise let `z` be in `A` and `w` outside. Change `w` into `z`, member by member.
The own value of `k` costs `e^eps`; its copy in `a` does nothing, since all of `a` is given; its
copy in another factor `b` costs at most `e^y_(b -> k)[z_k, w_k]`, by induction in the smaller model
where `i` and the rest of `a` are given. So `G(z) <= e^s G(w)`, and with `m` the least `G` outside
of `A`

```text
0 = sum of c G <= m (e^s c(A) + c(B)),   so   lambda <= (e^s p(A) + p(B)) / (e^s q(A) + q(B)),
```

which is (1) for `P = p(A) / p(B)` and `Q = q(A) / q(B)`. ∎

**A step in closed form.** The fraction in (1) increases in `P` and decreases in `Q`. bayesdp takes
its largest value for `P <= P+`, `Q >= Q-` and `P / Q <= R`, where

```text
P+ = min( sum over A of alpha(z) / sum over w in B of alpha(w) e^-H(z, w),
          1 / sum over B of alpha(w) / sum over z in A of alpha(z) e^H(z, w) ),
Q- = the same of beta with A and B exchanged, inverted,
R  = min( P+ / Q-,  max of alpha / beta over all settings / min of it,
          M_A(alpha / beta) M_B(beta / alpha) ).
```

In the first bound each `alpha(z) nu(z)` is divided by all of `B`, in the second all of `A` by each
`alpha(w) nu(w)`; if `A` or `B` is a single setting, as for a pair of records with up to three
values, it is attained. `M_A(alpha / beta)` bounds the sum of `alpha nu` over `A` by that of `beta
nu`. Split `A` into upper settings, `m` of them, and lower ones, and give each upper one an equal
share of each lower one: the quotient is at most the largest of the groups'. A group's quotient,
with `t_w = nu(w) / nu(z) >= e^-H(z, w)` free, is largest at the least `t` or as some `t_w` grows
without end:

```text
M_A = min over splits of the largest of  alpha(w) / beta(w), w lower, and of, z upper,
      (alpha(z) + sum of alpha(w) e^-H(z, w) / m) / (beta(z) + sum of beta(w) e^-H(z, w) / m).
```

Now `P = e^(l + r / 2)` and `Q = e^(l - r / 2)` with `r = ln R`, `l` in an interval, and with `t = l
+ s / 2` the logarithm in (1) is

```text
ln(1 + 2 sinh(r / 2) sinh(s / 2) / (cosh t + cosh((s - r) / 2))),                      (2)
```

at the `l` that brings `t` nearest to 0. At `t = 0` it is `ln f(e^s; R)` of 3.6. So where factors
have the same members as in 3.7, `y` is never above the messages of 3.7, and 3.7 is what is left if
nothing is known about odds. Of a factor whose other members have more than 27 settings only `R` is
used, over all settings. With the supremum in (1) itself, by linear programs at given `Q`, in the
messages of the record that has the level, the level of 198 of 200 random models is within 2 % of
this one, in most of them the same, and nowhere more than 9 % below it.

**Two values and pairs.** `A` is one of the two values of `k`, `H` is an interval of its odds, and
`r` is the change of the log odds: (2) is then the supremum in (1).

**Factors are merged first:** those of the same members, and those whose members another factor has
too, with the first such. This nearly always lowers the level; where it does not, 3.7 may be lower.

**Zeros.** Put `t > 0` in place of each zero that is left, and let it tend to 0. So `0 / 0` is 1 in
`h`; settings are ordered by `alpha / beta` with `t` in it; an infinite `H` makes `e^-H` 0 and
`e^H` infinite; and a quotient that may then tend to anything, as `0 / 0`, is infinite in an upper
bound and 0 in a lower one. A setting where both weights are 0 is left out if `H` is finite against
one where `alpha > 0` and one where `beta > 0`. Such a `z` may have changes of values that no other
setting has, so take `A` and `B` in the proof without it: `p(z)` and `q(z)` are at most `t` times a
constant, whatever the evidence and the smaller model, and `G(z) <= e^(n eps) m` for `n` records, so
`lambda` is at most the fraction without `z` and a term that tends to 0 with `t`; where nothing else
is in `A` or in `B` it is at most 1 and such a term. Thus, as `t -> 0`, `ln lambda` is at most the
step with zeros, and what tends to 0. Let `y` be at least all steps with zeros, and `eta > 0`. For
small `t` it is enough that messages are at least the steps and `eta`, and the steps of `y + eta` at
`eps' = eps - d eta`, `d` the most factors at a record, are no larger than those of `y` at `eps`. So
`L(eps') <= eps + sum of (y + eta)` holds for those laws, and for their limit `pi`, including all
conditional laws given events that are possible. As `eta -> 0` it holds for `eps`: if `g` is a
mechanism for `eps`, its power `g^(eps' / eps)` is one for `eps'`, and tends to `g`. ∎

**Which messages.** The step is increasing in the messages but, other than in 3.7, not concave:
where evidence is far from even, small costs hardly matter and larger ones do. So a guess scaled up
proves nothing. bayesdp goes up from 0 and raises each round by a hair (1e-12 of itself), until a
plain step, rounded up, raises nothing: this ends just above the least solution. Where it does not
end it goes down from `min(r, eps (component - 1))`, which is enough for the same reasons as in 3.7,
and each step down is a proof. Large graphs have fewer numbers, each above many messages: as
much as the kernel proves in time. For two values they are two, one for each order of values; for
more, equal factors have the same number where the record that changes has the same factors.

**Noisy knowledge breaks it.** Evidence about a single record shifts its odds out of the interval.
Two records, the second rare: a likelihood ratio of 100 about it costs 1.8081 where the bound for
exact knowledge is 1.6271. 3.7 covers such adversaries.

**Where it matters.** Where values are rare: disease, default, fraud. A hub of 30 contacts at a base
rate of .02 costs 18.6 `eps` (at `eps` .05) instead of 24.7 `eps` by 3.7. Near even odds, for large
loops, and where a few relatives tell a value for certain (genotypes), both are about the same.

*Checked:* against the linear program over all mechanisms, on random models of up to five records
with rare values, loops, zeros, two and three states and factors of three; the messages also
against (1), by a slow loop over odds; the closed form against random evidence.
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
from bayesdp.leakage.state_fields import (
    StateMessages,
    preparation_seconds,
    state_messages,
    states_level,
)
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Graph, Network, Tree
from bayesdp.populations.graph import FactorTable
from bayesdp.theorems.base import Question, Theorem, too_slow

_SECONDS_OF_A_FACTOR = 6e-6
"""About what a factor takes; only which theorems are tried in the time depends on it."""

LARGEST_GRID = 400
"""Of a grid of more records, with three values or more, a part has every kind of pair: 4 x 4."""

Discrete = Graph | Tree | Network


class GraphFields(Theorem[Discrete]):
    """`L(eps) <= eps + max_i max_(u, u') sum_a y_(a -> i)[u, u']` (theory 3.7c)."""

    name = "graph-fields"
    statement = "a graphical model: what is rare, whatever is known, passes little on"
    source = "bayesdp; theory 3.7c"
    uses = "the graph, the tables, and between which odds values are whatever is known"
    ignores = "which odds go together"
    models = (Graph, Tree, Network)

    def failed_hypothesis(self, population: Discrete, question: Question, cost: Cost) -> str | None:
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
            part = _corner(min(rows, 4), min(columns, 4), population.table or ())
            component = rows * columns
    seconds = preparation_seconds(part.factor_graph, laws)
    if seconds > question.seconds:
        return too_slow(seconds, question)
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
