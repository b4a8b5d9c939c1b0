r"""Markov chains: the contraction bound in closed form.

### 3.6 Markov chain, contraction bound (new)

**Statement** (theorem `markov-contraction`). Let `R` be the largest cross ratio of two rows, `max
P[u][w] P[v][w'] / (P[v][w] P[u][w'])`. For every length and start

```text
sinh(L / 4) <= sqrt(R) sinh(eps / 4),   so
L(eps) <= 4 asinh(sqrt(R) sinh(eps / 4)) <= sqrt(R) eps,   and for a target
eps = 4 asinh(sinh(target / 4) / sqrt(R)).
```

`R` is infinite if a zero is not shared by all rows (columns of zeros are dropped first). A chain
whose matrix changes over time takes the largest `R`.

**Proof.** *One step.* Let `p, q` be two rows reweighted by the same evidence: `p(w) / q(w)` varies
by a factor of at most `R`, because evidence cancels in cross ratios. Let `phi` vary by a factor of
at most `c`. The ratio `p . phi / q . phi` is quasi-linear in `phi`, so its maximum over `1 <= phi
<= c` is at a corner, `phi = c` on a set `A` and 1 elsewhere. The odds of `A` are `x` under `q` and
at most `R x` under `p`, which gives at most

```text
(1 + x)(1 + c R x) / ((1 + R x)(1 + c x))
  = (s + 1 + c R) / (s + R + c),      s = 1/x + c R x >= 2 sqrt(c R).
```

As `1 + c R >= R + c`, it falls in `s`, so the maximum is `f(c; R) = ((1 + sqrt(c R)) / (sqrt(c) +
sqrt(R)))^2`; for infinite `R` it is `c`. *Induction.* By (**), `C_l <= f(e^eps C_(l-1); R)` with
`C_0 = 1`. `f` increases in `c`, so all `C_l` stay below the fixed point. *Fixed point.* With `x =
sqrt(C)`, `k = e^(eps/2)` and `r = sqrt(R)` it reads `k x^2 + r (1 - k) x - 1 = 0`; with `y =
sqrt(k) x` that is `y - 1/y = r (sqrt(k) - 1/sqrt(k))`. *Both sides.* The time reversal has the same
`R`: its entries are those of `P`, transposed, times factors of one index each, which cancel. By
(\*), `L <= eps + 2 ln C`, and `e^(L/4) = sqrt(k) x = y`. *Linear bound.* The slope of `asinh(r sinh
t)` is `r cosh t / sqrt(1 + r^2 sinh^2 t) <= r` for `r >= 1`. ∎

The proof uses of the evidence only that it is a weight on single records, so the bound also holds
when the adversary has noisy knowledge of each record, and for two states it is then attained in
long chains (choose the evidence so that `x = 1 / sqrt(c R)` at each step). It does not hold for
joint side information: knowing `X1 xor X2` of fair independent bits costs `2 eps`.

**Order-k chains (new).** Blocks of k records, cut from record 1, form a chain of order 1. A
mechanism that is eps-DP in records is k eps-DP in blocks, and a secret about one record is one
about its block. So with the cross ratio `R` of the chain on blocks `L(eps) <= 4 asinh(sqrt(R)
sinh(k eps / 4))`. A last, incomplete block is one of which some records are not read.
*Adversaries:* one who knows some records of a block has evidence about it that is a weight on
single blocks, which is all that the proof asks of evidence. (Searched over all mechanisms, seven
binary records: never below, at least 21 % above.)

**Intervals (new).** If every entry of `P` is only known to lie in an interval, take the largest `R`
between the bounds, after narrowing them to what the rest of the row leaves: `R` is all that the
proof uses, for every start. For order k the entries of a block row are products of k transitions,
and so are their bounds. For two states and order 1 there is a sharper bound, 3.5i; intervals are of
no use for the other theorems, because they bound neither the reversal nor reweighted rows. The
family (below) of all chains within the intervals is what the level speaks of.

*Values:* two symmetric states, `gamma = 7.54`, class `any`:

| eps | 3.5, exact | 3.6 | 3.4 |
|---|---|---|---|
| 0.05 | 0.3748 | 0.3765 | 8.1309 |
| 0.25 | 1.7048 | 1.8225 | 8.3309 |
| 1 | 4.7316 | 5.6007 | 9.0809 |
| 3 | 8.6474 | 10.0967 | 11.0809 |
"""

from __future__ import annotations

import math
from functools import lru_cache

from bayesdp.leakage.tuples import block_interval_ratio, block_ratio
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UNIT, UpperBound, largest, up
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question, Theorem
from bayesdp.theorems.markov import interval_ratio, table_of, tightened

MOST_TUPLES = 512
"""Chains with more tuples of states are refused."""


class MarkovContraction(Theorem[MarkovChain]):
    """`L(eps) <= 4 asinh(sqrt(R) sinh(eps / 4))` (theory 3.6)."""

    name = "markov-contraction"
    statement = "a Markov chain: at most 4 asinh(sqrt(R) sinh(eps/4)), R the largest cross ratio"
    source = "bayesdp; theory 3.6"
    uses = "the largest cross ratio of two rows of the transitions"
    ignores = "the rest of the transitions, the start, the length, the adversary class"
    models = (MarkovChain,)
    covers_vague_knowledge = True

    def failed_hypothesis(
        self, population: MarkovChain, question: Question, cost: Cost
    ) -> str | None:
        """Needs a finite cross ratio: where a row has a zero, all rows have it."""
        if population.states**population.order > MOST_TUPLES:
            return f"the chain on blocks of {population.order} records has too many states"
        if math.isinf(largest_ratio(population)):
            return "some rows of the transitions have zeros that others don't: R is infinite"
        return None

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The closed form; for order k that of blocks of k records, at k times the cost."""
        ratio = largest_ratio(population)
        block = up(population.order * cost.dp_epsilon, 1 if population.order > 1 else 0)
        return self._bound(contraction_level(ratio, block), R=ratio, block=population.order)


@lru_cache(maxsize=64)
def largest_ratio(population: MarkovChain) -> UpperBound:
    """The largest cross ratio of a chain, of its blocks, or between its interval bounds."""
    if population.transition is None:
        low, high = tightened(population)
        if population.order > 1:
            return block_interval_ratio(low, high)
        return interval_ratio(low, high)
    if population.order > 1:
        return block_ratio(table_of(population))
    return cross_ratio(population.transition)


def cross_ratio(transition: tuple[tuple[float, ...], ...]) -> UpperBound:
    """The largest cross ratio of two rows, rounded up: at least 1, infinite with unshared zeros.

    `R = max P[u][w] P[v][w'] / (P[v][w] P[u][w'])` over rows and columns of `transition`.
    """
    widest = 0.0
    for u, first in enumerate(transition):
        for second in transition[:u]:
            ratios = []
            for p, q in zip(first, second, strict=True):
                if (p == 0.0) != (q == 0.0):
                    return UpperBound(math.inf)
                if p != 0.0:
                    ratios.append(math.log(p) - math.log(q))
            widest = largest(widest, largest(*ratios) + largest(*(-ratio for ratio in ratios)))
    if widest == 0.0:
        return UpperBound(1.0)
    # A ratio too large for a double counts as infinite, as with zeros that are not shared.
    widened = widest + 3200.0 * UNIT
    return UpperBound(up(math.exp(widened), 8) if widest < 700.0 else math.inf)


def contraction_level(ratio: float, dp_epsilon: float) -> UpperBound:
    """`4 asinh(sqrt(R) sinh(eps / 4))` in nats, rounded up; never above `sqrt(R) eps`.

    `ratio` is `R`, at least 1 and finite. Source: theory 3.6.
    """
    quarter = dp_epsilon / 4.0
    if quarter > 300.0:
        return UpperBound(up(dp_epsilon + 2.0 * math.log(ratio), 64))
    return UpperBound(up(4.0 * math.asinh(math.sqrt(ratio) * math.sinh(quarter)), 64))
