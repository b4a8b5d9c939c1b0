r"""Order-k chains, any adversary: a recursion over what the adversary knows.

### 3.5t Order-k chains, any adversary: recursion over contexts (new)

3.5k fails against adversaries who know something: what they know of the records beyond is evidence,
and it weighs the two laws of the next record differently. But the chain bounds that evidence, and
bounds it well once a few of the records that give it are named.

**Statement** (theorem `markov-contexts`). A stationary chain of order k with two states and
positive transitions; other records are known exactly or not at all. A *context* is a word over `0`,
`1` and `*`: what the adversary knows of the next records on one side, the nearest first, `*` for a
record that is not known. Let `W` be a finite set of words such that every infinite word begins with
exactly one of them. For tuples `u, u'` of k records let `H_w[u, u']` be at least the ratio of the
likelihoods, given `u` and given `u'`, of everything that is known beyond, whenever that begins with
`w`. Let `T(u, y)` be the probability of the next record `y`, and `uy` the tuple after it. Let
matrices `C_w >= 1` satisfy, for all `w` in `W` and symbols `s`, and all `v` in `W` that agree with
`s w` as far as both are said,

```text
C_v >= F_s(C_w),
F_z(C)[u, u'] = C[uz, u'z]                                           (the next record is known)
F_*(C)[u, u'] = sup of (r_u . phi) / (r_u' . phi),  r_u(y) ~ T(u, y) h(uy)   (it is not)
    over all h > 0 with h(t) <= H_w[t, t'] h(t')
    and all phi > 0 with phi(t) <= e^(eps [newest records differ]) C[t, t'] phi(t').
```

Let the same be given for the reversed chain, with words `w'`. For a pair `w, w'` let `K` compare
tuples `t, t'` of the records `i, ..., i + k - 1`, `K[t, t'] = C_w[t, t'] C'_w'[rev t, rev t']`, and
`G[t, t'] = (pi(t) / pi(t')) H_w[t, t'] H'_w'[rev t, rev t']`. Shorten the tuple by its last record
until the attacked record alone is left, in one of three ways each time: the record is known to be
`z` (`K[tz, t'z]`, `G[tz, t'z]`), or it is not, and then `K` becomes the sup of

```text
(r_t . phi) / (r_t' . phi),  the odds of r_t within G[t1, t0] and 1 / G[t0, t1],
    phi(ty) <= e^(eps [y differs from y']) K[ty, t'y'] phi(t'y'),
```

and `G` the sup of `(g(t0) + g(t1)) / (g(t'0) + g(t'1))` over `g` within `G`. Then `L(eps) <= eps +
ln` of the largest `K[a, a']` that is left, over all pairs `w, w'`, all ways and both values.

**Proof.** *Evidence.* What is known beyond a tuple `u` has the likelihood `h(u)`, and one more
record before it makes `h(u) = T(u, z) h(uz)` if it is known to be `z`, `h(u) = sum_y T(u, y) h(uy)`
if not. So bounds on ratios of `h` are pushed from a word to the word with one more symbol before
it. They begin with the largest ratio of two rows in a column of any product of k kernels, known
records restricted to their value, times any `h >= 0`: this is finite, because k records decide the
tuple.

*One side.* Let `phi(t)` be the mean of a log-Lipschitz `g` over what is not known beyond, given the
tuple `t` and all that is known, which begins with `w` beyond the newest record of `t`. By induction
from the far end `C_v[u, u']` bounds the ratio of these means for two tuples, if `v` begins what is
known beyond them. A known next record changes nothing in `g` and moves the window on. An unknown
one has the law `r_u`, where `h` is the evidence beyond it, and changing it along with the tuple
costs `e^eps` if it differs, and `C_w` for the law of everything beyond. The older records of the
tuple are held in `g`: they were paid for when they were new, or at the attacked record. Finite
series are parts of longer ones whose further records are not read (a stationary chain goes on in
both directions, and the tuple of the attacked record may reach beyond the end), so any solution of
the inequalities serves all lengths.

*The attacked record.* Given the tuple that begins with it both sides are independent, so changing
the tuple changes the laws beyond by `K`, and each differing record costs `e^eps`. The weight of a
tuple is `pi(t) h(t) h'(rev t)`; averaging its last record adds up weights, and makes the law `r_t`
of that record given the others. The attacked record's own `eps` is paid at the end. ∎

**In each step**, two states. `phi` matters through its values at four tuples. With `phi(u'0) = 1`
and `phi(u'1) = x` the numerator is a concave function of `x` with a break for each of its two
values, and the denominator is linear. Between two breaks the ratio is a fraction of two linear
functions, so it is monotone there, and the sup is at a break or an end; costs are first closed
under products. The evidence enters through the odds `rho` of `h` at two tuples that differ in the
newest record. If `u` and `u'` differ in a newer record than the oldest, each `rho` is in one of the
two means, which are monotone in it: ends. If they differ in the oldest only, both means share one
`rho`, and with the odds `a, b` of the rows the ratio is `1 + (a - b)(x - 1) / (1/rho + a + b x + a
b x rho)`, where now `x = phi(u1) / phi(u0)`. It is monotone in `x`: largest at the end where `(a -
b)(x - 1)` is at least 0, and there at `rho = 1 / sqrt(a b x)`, or at the end of `rho` nearest to
it.

**Which contexts.** The one whose odds are known the least is split, until all are known up to the
factor `e^0.02` or there are 1,000; at order 2, 200 where there is no time for more. The certificate
lists them, and the matrices of those that begin with an unknown record; the others follow. Pairs of
contexts are not all tried: a beginning has the largest entries of its words, and only beginnings
that matter are split.

*Values:* the activity series of 3.5k, any adversary: 0.566 at eps 0.1 and 3.917 at eps 1, where an
uninformed adversary has at most 0.5614 and 3.5913, and blocks (3.6) give 1.2788 and 7.7375 against
any. *Checked:* never below the search over all mechanisms, order 2 and 3. For k = 1 it is 3.5.

*Small costs:* those below 1e-9 are read as 1e-9, since the level grows with the cost.
"""

from __future__ import annotations

from functools import lru_cache

from bayesdp.leakage.context_levels import (
    LARGEST_COST,
    LEAST_TRANSITION,
    ContextLevel,
    context_level,
    fewer,
)
from bayesdp.leakage.contexts import MOST_ORDER, Sides, sides_of
from bayesdp.leakage.deadline import Deadline, OutOfTimeError
from bayesdp.leakage.tuples import LEAST_COST
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import ZERO
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import NOT_STATIONARY, REMEMBERS, MarkovTheorem, table_of


class MarkovContexts(MarkovTheorem):
    """Order-k chains of two states against adversaries who know any records (theory 3.5t)."""

    name = "markov-contexts"
    statement = "a stationary order-k chain of two states: recursion over what is known nearby"
    source = "bayesdp; theory 3.5t"
    uses = "the transitions, and which evidence they let other records give"
    ignores = "the length, the adversary class, and that evidence is of one kind at all steps"

    def applies(self, population: MarkovChain) -> bool:
        """Chains of order 2 and more; for order 1 it is `markov-recursion`."""
        return population.order > 1

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs two states, positive transitions, a stationary start, and a chain that forgets."""
        if population.states != 2:
            return f"it is for two states, and the chain has {population.states}"
        if population.initial != "stationary":
            return NOT_STATIONARY
        if population.order > MOST_ORDER:
            return f"it is for chains of order {MOST_ORDER} at most"
        if table_of(population).min() <= 0.0:
            return "a transition probability is 0, so evidence can exclude a record"
        if table_of(population).min() < LEAST_TRANSITION:
            return f"a transition probability is below {LEAST_TRANSITION:g}"
        if population.order * cost.dp_epsilon > LARGEST_COST:
            return f"the order times the cost is above {LARGEST_COST:g}"
        level = _level(population, cost.dp_epsilon, question.deadline)
        return REMEMBERS if level is None else None

    def seconds_for(self, population: MarkovChain, question: Question) -> float:
        """About what one level takes, with many contexts."""
        return 0.25 * 8.0**population.order / 64.0 if population.states == 2 else 0.0

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The level of the worst pair of contexts."""
        level = _level(population, cost.dp_epsilon, question.deadline)
        assert level is not None
        if not level.closed:
            return self._bound(ZERO)
        words = [list(side) for side in level.words]
        return self._bound(level.epsilon, contexts=words, closed=level.closed, target=level.epsilon)


@lru_cache(maxsize=16)
def _sides(population: MarkovChain) -> Sides | None:
    return sides_of(table_of(population))


def _level(population: MarkovChain, dp_epsilon: float, deadline: Deadline) -> ContextLevel | None:
    """With all contexts; when the time is out, with few, where those take a fraction of a second.

    Raises `OutOfTimeError` for chains of higher order than two.
    """
    dp_epsilon = max(dp_epsilon, LEAST_COST) if dp_epsilon > 0.0 else 0.0
    try:
        return _with_all(population, dp_epsilon, deadline)
    except OutOfTimeError:
        if population.order > 2:
            raise
        return _with_few(population, dp_epsilon)


@lru_cache(maxsize=64)
def _with_all(
    population: MarkovChain, dp_epsilon: float, deadline: Deadline
) -> ContextLevel | None:
    if dp_epsilon == 0.0:
        return ContextLevel(ZERO, ((), ()), [], 0.0)
    sides = _sides(population)
    return None if sides is None else context_level(sides, dp_epsilon, deadline)


@lru_cache(maxsize=64)
def _with_few(population: MarkovChain, dp_epsilon: float) -> ContextLevel | None:
    sides = _sides(population)
    return None if sides is None else context_level(fewer(sides), dp_epsilon)
