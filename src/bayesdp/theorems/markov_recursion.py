r"""Markov chains: the sharp recursion.

### 3.5 Markov chain of two states, sharp recursion (new)

**Statement** (theorem `markov-recursion`). In the frame for Markov chains, with its (\*) and
(\*\*), let `C_0 = 1` and, for a run of `l` records with evidence `h`,

```text
C_l[u, u'] = max of (row[u] . phi) / (row[u'] . phi)  over phi > 0 with (**).
```

For two states `L(eps)` *equals* the maximum of `eps + ln C_left[u, u'] + ln C_right[u, u']` over
the pair `u != u'`, the same on both sides, and over all runs and boundaries that fit: a free end on
a side means that `l` is the number of records on that side, a known boundary takes one record more
than `l`, and only values of positive probability count. No positivity and no stationarity are
needed. The class `uninformed` has free ends only; for `informed` there is nothing unknown and
`L(eps) = eps`.

**Proof.** *Upper bound:* induction on `l` with (**), then (\*). *One step:* with two states `phi`
matters only through `t = phi(1) / phi(0)`, which ranges over `[1 / (e^eps C[0, 1]), e^eps C[1,
0]]`. The ratio `(row[u][0] + row[u][1] t) / (row[u'][0] + row[u'][1] t)` is a Moebius function of
`t`, monotone on `t > 0`, so its maximum is at an end of that interval: one Moebius map for each
step. *Attained:* suppose that `g'` attains `C[1, 0]` for the run of `l - 1`. Then `g = e^(eps [w =
1]) g'` is log-Lipschitz and its average has `phi(1) / phi(0) = e^eps C[1, 0]`, the upper end; the
lower end likewise. So the recursion is attained on each side, and (\*) with equality ends the
proof. *Zeros:* a value of the next record that the evidence excludes has weight 0 in both rows and
drops out; if the rows have disjoint supports the ratio is `e^eps C`, so the level degrades to `n
eps` at worst. ∎

**Closing the tail.** Long runs need not be followed to the end. Let `Q` be the kernel (`P` or `T`)
and `h` the evidence after `l` steps, so that `h_(l+1) = Q h_l`. As the rows of `Q` are
probabilities, `max h_l / min h_l` never increases. Suppose that it is at most `w` for all kinds of
ends at `l = r`, with `h_r > 0`. Let `F(C)` be one step with `h = 1`, its result multiplied by
`w^2`. If some `C+ >= C_r` satisfies `F(C+) <= C+`, then `C_l <= C+` for every `l >= r`. *Proof:*
writing `h` between `min h` and `w min h` changes each of the two averages `row[u] . phi` by a
factor between `1/w` and `w`, so one true step is at most `F`; `F` is monotone; induction on `l`. ∎
Periodic and reducible chains may never settle; the level is then the least of the other theorems.

**Small eps.** For a symmetric chain `[[p, q], [q, p]]` with second eigenvalue `lambda = p - q` and
an uninformed adversary in a long chain, `L(eps) = 2 asinh(gamma sinh(eps / 2))` with `gamma =
max(p, q) / min(p, q)`. *Proof:* let `p >= q` (else relabel every other record). With free ends
`C[0, 1] = C[1, 0] = C` is the fixed point of `C = (q + p k C) / (p + q k C)`, `k = e^eps`, that is
`q k C^2 + p (1 - k) C - q = 0`. With `y = sqrt(k) C` this is `y - 1/y = gamma (sqrt(k) -
1/sqrt(k))`, and `y = e^(L/2)` because both sides contribute: `L = eps + 2 ln C`. ∎ Its slope at 0
is `gamma = (1 + |lambda|) / (1 - |lambda|)`.

### 3.5m Markov chain of many states, sharp recursion (new)

**Statement** (theorem `markov-recursion`, many states). In the same frame let `C_0 = 1` and, for a
run of `l` records with evidence `h`,

```text
C_l[u, u'] = sup of (row[u] . phi) / (row[u'] . phi)  over phi > 0 with phi(v) <= c(v, v') phi(v'),
c(v, v')   = e^eps C_(l-1)[v, v'],   v != v'.
```

Then `L(eps) <= eps + max over u != u' of ln C_left[u, u'] + ln C_right[u, u']`, over all runs and
boundaries that fit, for every number of states, every start, and with zeros.

**Proof.** The upper bound of 3.5 for two states, word for word: induction with (\*\*), then (\*).
It is not an equality in general, because `phi` ranges over all that the pairwise costs allow,
and one function `g` need not attain the extreme `phi` at all steps. ∎ The slack is usually below 2
%; brute force found 17 % at worst (one-sided 35 %).

**A linear program for each pair and step.** Normalised by `row[u'] . phi = 1` it has `S` variables
and a constraint for each pair of states. An optimal vertex has `S - 1` tight constraints that form
a spanning tree. While `eps` and `l` drift, one tree often stays optimal; its flows are then solved
for directly, for all pairs at once, and HiGHS is asked only where they no longer prove what the
tree's own `phi` attains.

*Dual certificate.* No solver is trusted. Any flows `y(v, w) >= 0` prove

```text
p . phi <= max over v of (p(v) - sum_w y(v, w) + sum_w c(w, v) y(w, v)) / q(v)  *  q . phi,
```

because adding `y(v, w) (c(v, w) phi(w) - phi(v)) >= 0` to `p . phi` leaves a combination of the
`phi(v)` with these numerators. That number, rounded up, is what is used; never more than the
threshold bound (3.6t). A state that neither row reaches has costs that mean nothing, and no flow
may use them: to and from it the largest of the other costs is taken. With it every admissible `phi`
on the other states extends to that state, by its smallest value, so the constraints through it are
true ones.

**Closing the tail.** As for two states, with one difference: the evidence from the left tends to
the stationary law `s`, not to 1. Take for either side its limit, `h* = 1` or `h* = s`. The ratio
`max(h_l / h*) / min(h_l / h*)` never increases: `Q h* = h*`, and the entries of `h_(l+1) / h*` are
averages of those of `h_l / h*` with weights `Q(v, w) h*(w) / h*(v)`. If it is at most `w` at `l =
r`, then `F`, one step with `h*` and its result multiplied by `w^2`, covers every later step of
every run, and `F(C+) <= C+` with `C+ >= C_r` ends the proof as before: one row of weights changes
by a factor of at most `w` after normalisation, and so does the other.

*How exact is `s`?* It is found by elimination without a subtraction (Grassmann, Taksar and Heyman
1985). Each elimination makes a relative error of at most `(S + 4)` units of rounding in every rate
of the remaining chain. By the Markov chain tree theorem every stationary probability is a ratio of
sums of products of `S - 1` rates, so relative errors of size `d` in all rates change it by at most
`2 (S - 1) d`, to first order. Over `S` eliminations that is at most `4 S^2 (S + 4)` units, for tiny
probabilities as for large ones. (Solved with subtractions, a state of probability 1e-18 may come
out as impossible, and the pairs that leak most are skipped.) A second bound needs no analysis of
the algorithm: if a power `P^k` has the largest cross ratio `R`, it contracts Hilbert's distance by
`tanh(ln R / 4)` (Birkhoff 1957), so a law `t` is off by at most the distance from `t` to `t P^k`,
divided by `1 - tanh(ln R / 4)`. The smaller one is charged to every row that uses `s`. Where no
power contracts by half the chain does not forget, and no tail is closed.

*Reversible chains.* If detailed balance holds up to rounding, both sides have the same rows and one
is followed. The difference, one rounding for each step, is charged. *Underflow.* Evidence that is
possible but too small for a double is not taken for impossible: such a chain has no level by this
theorem.

### 3.5k Order-k chains, uninformed adversaries (new)

**Statement** (theorem `markov-recursion`, order k). A stationary chain of order k; the adversary
knows no record. Let tuples of k consecutive records be states, with the kernel that adds one record
and drops one, and its reversal. On each side let `C_0 = 1` and

```text
C_l[u, u'] = sup of (row[u] . phi) / (row[u'] . phi)  over phi > 0 with phi(v) <= c(v, v') phi(v'),
c(v, v')   = e^(eps [the added records of v and v' differ]) C_(l-1)[v, v'].
```

Let `C_right, C_left` be at least all `C_l`, and `d(t, t')` the number of records in which two
tuples differ. Then `e^(L(eps))` is at most the largest, over values `a != a'` of a record, of

```text
sup of E[phi | first record a] / E[phi | first record a']
    over phi(t) <= e^(eps d(t, t')) C_right[t, t'] C_left[t, t'] phi(t'),
```

the expectations over the tuple that starts at the target.

**Proof.** *One side.* Let `phi(v)` be the mean of a log-Lipschitz `g` over everything beyond, given
that the last k records are `v`. Rows `u, u'` of the kernel may have disjoint supports, which does
no harm: a linear program compares whatever is there. From `v` to `v'` the added record changes by
itself, a factor of `e^eps` if it differs; the other records of the tuple are held in `g` and were
paid for when they were added (or at the target); then the law of everything beyond changes, by
`C_(l-1)[v, v']` by induction. *The target.* Average over the tuple `x_i, ..., x_(i+k-1)`. Given it,
both sides are independent. From `t` to `t'` the records of the tuple change one after the other,
the target included: `e^(eps d)`; then each side's law: `C_right C_left`. *Length.* A shorter
stationary chain is a longer one of which some records are not read, so one super-solution `F(C) <=
C`, `C >= 1`, serves all lengths and needs no evidence, since all ends are free. ∎

Each step pays for the new record only, where blocks (3.6) pay for k at once. For k = 1 it is 3.5
with free ends.

*Values:* the activity series, order 2 (P(1 | 00, 01, 10, 11) = .09046, .62085, .32124, .72792,
older record first): 0.5614 at eps 0.1 and 3.5913 at eps 1; blocks give 1.2788 and 7.7375, the
first-order model 0.3903 and 3.4819. *Checked:* up to seven binary records, never below the search
over all mechanisms; up to 23 % above.

*Small costs:* those below 1e-9 are read as 1e-9, since the level grows with the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bayesdp.leakage.chain import two_state_level
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.tuples import (
    LEAST_COST,
    MOST_TUPLES,
    TupleLevel,
    uninformed_tuple_level,
)
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import NOT_NEGATIVE, ZERO, LowerBound, UpperBound
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question
from bayesdp.theorems.markov import (
    REMEMBERS,
    MarkovTheorem,
    engine_level,
    engine_seconds,
    exceeds_time_limit,
    table_of,
)


class MarkovRecursion(MarkovTheorem):
    """The sharp conversion for Markov chains; exact for two states (theory 3.5)."""

    name = "markov-recursion"
    statement = "a Markov chain: the sharp recursion over runs of unknown records"
    source = "bayesdp; theory 3.5"
    uses = "the transitions, the start, the length, the adversary class"
    ignores = "for more than two states: that one function must be the worst at all steps"

    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """Needs affordable work, and a chain that is short or forgets."""
        if population.order > 1:
            return _order_refusal(population, question, cost.dp_epsilon)
        if population.states > 2:
            refused = exceeds_time_limit(population, question, "program")
            if refused is not None:
                return refused
        return REMEMBERS if _level(population, question, cost.dp_epsilon) is None else None

    def seconds_for(self, population: MarkovChain, question: Question) -> float:
        """0 for two states; else the estimated time of the linear programs."""
        if population.transition is None:
            return 0.0
        if population.order > 1:
            return float(population.states ** (2 * population.order)) * SECONDS_PER_PAIR
        return 0.0 if population.states == 2 else engine_seconds(population, question, "program")

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The recursion's level: exact for two states, for more and for order k an upper bound."""
        if population.order > 1:
            on_tuples = _tuple_level(population, cost.dp_epsilon, question.deadline)
            assert on_tuples is not None
            return self._bound(on_tuples.epsilon, order=population.order, closed=on_tuples.closed)
        proved = _level(population, question, cost.dp_epsilon)
        assert proved is not None
        closed = {} if proved.closed is None else {"closed": proved.closed}
        return self._bound(proved.epsilon, proved.attained, steps=proved.steps, **closed)


SECONDS_PER_PAIR = 0.03
"""The seconds that each ordered pair of tuples takes for one level, about."""


def _order_refusal(population: MarkovChain, question: Question, dp_epsilon: float) -> str | None:
    if question.adversary != "uninformed":
        return (
            "for chains of higher order the recursion is for uninformed adversaries only; what "
            "others know about older records is evidence that it does not bound"
        )
    if population.initial != "stationary":
        return "for chains of higher order the recursion is for stationary chains only"
    if population.states**population.order > MOST_TUPLES:
        return f"the chain has more than {MOST_TUPLES} tuples of {population.order} records"
    if _tuple_level(population, dp_epsilon, question.deadline) is None:
        return "the chain on tuples does not forget its past: its tail can't be closed"
    return None


@lru_cache(maxsize=64)
def _tuple_level(
    population: MarkovChain, dp_epsilon: float, deadline: Deadline
) -> TupleLevel | None:
    if dp_epsilon == 0.0:
        return TupleLevel(ZERO, [])
    if dp_epsilon < LEAST_COST:
        return _tuple_level(population, LEAST_COST, deadline)
    return uninformed_tuple_level(table_of(population), dp_epsilon, deadline)


@dataclass(frozen=True, slots=True)
class _Level:
    epsilon: UpperBound
    attained: LowerBound
    steps: int
    closed: list[Any] | None = None
    """The logarithms that close the right side and the left; `None` if the chain ends before."""


def _level(population: MarkovChain, question: Question, dp_epsilon: float) -> _Level | None:
    if population.states == 2:
        uninformed = question.adversary == "uninformed"
        return _two_states(population, uninformed, dp_epsilon, question.deadline)
    level = engine_level(population, question, dp_epsilon, "program")
    if level is None:
        return None
    return _Level(level.epsilon, NOT_NEGATIVE, level.followed, level.closed)


@lru_cache(maxsize=64)
def _two_states(
    population: MarkovChain, uninformed: bool, dp_epsilon: float, deadline: Deadline
) -> _Level | None:
    (a, b), (c, d) = population.transition
    first, second = population.start
    level = two_state_level(
        ((a, b), (c, d)),
        (first, second),
        stationary=population.initial == "stationary",
        length=population.length,
        dp_epsilon=dp_epsilon,
        uninformed=uninformed,
        deadline=deadline,
    )
    if level is None:
        return None
    if level.tail is None:
        return _Level(level.epsilon, level.attained, level.steps)
    side = [[0.0, level.tail[0]], [level.tail[1], 0.0]]
    # A tail closed before the evidence had settled might close the kernel's runs too early.
    steps = level.steps if level.settled else 0
    return _Level(level.epsilon, level.attained, steps, [side, side])
