r"""Markov chains of two states between bounds: the sharp recursion for all of them.

### 3.5i Markov chains of two states between bounds (new)

**Statement** (theorem `markov-intervals`). A stationary chain of order 1 with two states and one
matrix at all steps, of which only bounds are known: `a = P(0, 1)` and `b = P(1, 0)` lie in a box
inside `0 < a, b < 1`. Other records are known exactly or not at all. Call a chain positive if `a +
b <= 1`. For positive chains let the strongest corner have the least `a` and `b`, and the weakest
the largest (independent records, if those are not positive); for all others the other way round.
With `a, b` of the strongest corner, `d = |1 - a - b|` and `x >= 1` let

```text
G(x; S) = 1 + max over s in S of d s (x - 1) / (((1 - a) s + a) (b s x + 1 - b))     (positive)
G(x; S) = 1 + max over s in S of d s (x - 1) / (((1 - a) s x + a) (b s + 1 - b))     (others)
```

and let a step with odds of evidence in `S` map a pair `(C01, C10)` to

```text
(G(k C01; S), G(k C10; S / (k C10)))   (positive)       k = e^eps
(G(k C10; S / (k C10)), G(k C01; S))   (others).
```

Let `S_l` lie between the odds `h(0) / h(1)` at both corners, `h` the probabilities to reach a
known value `v` in `l` steps. If from `(1, 1)` all steps with `S_1, S_2, ...` stay at or below `C`,
for both `v` and for `S = {1}`, then every chain of the box, of every length, has `L(eps) <= eps + 2
ln C`. For uninformed adversaries `S = {1}` alone counts, and then the bound is that of the
strongest corner itself.

**Proof.** *One step.* A matrix maps odds `t` to `p(t) = ((1 - a) t + a) / (b t + 1 - b)`, so that
`p(1) = 1`. In logarithms, `u = ln t`, the slope of `ln p` is `p'(u) = (1 - a - b) t / (((1 - a) t +
a) (b t + 1 - b))`. For positive chains it falls in `a` and in `b`, at every `t`: up to a positive
factor,

```text
d/da (1 - a - b) / (t + a (1 - t))    = - (1 - b + b t)     < 0
d/db (1 - a - b) / (1 - b + b t)      = - ((1 - a) t + a)   < 0.
```

For others put `a' = 1 - a`, `b' = 1 - b`: the slope is minus that of the positive chain `(b', a')`
at `t`, so its size falls in `a'` and `b'`. So at every `t` the strongest corner has the steepest
slope of all chains of its kind, and the weakest the flattest. *Evidence.* The odds `s` of `h`
become `p(s)` with each record, from 0 or infinity on. Because `p(1) = 1` a slope of one sign means:
what is above 1 stays above it, or changes side each time; and a steeper slope keeps `ln s` farther
from 0, by induction. So the odds of every chain lie between those of both corners, or between 1 and
those of the strongest. *Ratios.* By 3.5 the ratio of means given 0 and given 1 after one more
record is `p(s x) / p(s)` for a positive chain, `x = k C01` the largest ratio of `phi(0)` to
`phi(1)`; given 1 and given 0 it is `p(s) / p(s / x)`, `x = k C10`. For others both are turned
over, and come from the other entry. The logarithm of either is the integral of `|p'|` over an
interval of length `ln x`, so it is at most that of the strongest corner on the same interval: `p(s
x) / p(s) = G` or its inverse. Both `G` and the step grow with `x` and with `C`; induction on the
length of the run. *Both sides.* A stationary chain of two states is its own reversal, so both sides
have the same bounds, and by (\*) `L <= eps + 2 ln max(C01, C10)`. A mixture of kinds does not
occur: a box is a set of chains, each of which is of one kind at all steps. ∎

**One matrix at all steps** is needed. Where matrices change, the chain is not its own reversal, and
the evidence of a free end is not 1 after a matrix with another stationary law. Take five records
that leave 0 with probability 0.05 at each step, and 1 with 0.5, 0.05, 0.05 and 0.5, from the
stationary law of the first step: an uninformed adversary learns 9.6048 at eps 3, and the level of
the box is 8.7871. Of such chains 3.6 speaks. A belief that mixes several chains is not covered
either (3.11).

**In each step** the maximum is at `s = sqrt(a (1 - b) / ((1 - a) b x))`, or at the end of `S`
nearest to it. *The tail:* let all odds from some record on lie between `1/w` and `w`. A pair `C+`
that is at least the pair reached there, and that a step with `S = [1/w, w]` does not raise, bounds
all longer runs, and the runs with a free end.

**Cutting the box.** Evidence is the only thing in which the bound goes beyond the corner's own
level. So the box is halved, again and again, until every part stays within what is claimed: parts
away from the strongest corner have flatter slopes and stay within it at once. The levels found so
are within 0.001 % of the worst corner's own level in long chains; that this corner *is* the worst
chain is what all searches say, and is proved here for uninformed adversaries only. The certificate
has the level alone; the kernel cuts the box itself, in balls.

*Short chains.* The bound is for all lengths. For a given short length the worst chain need not be a
corner: evidence from the ends fades sooner in a chain that forgets sooner.

*Values:* the 95 % region of the activity series, `a` in [0.1107, 0.1245] and `b` in [0.2889,
0.3206]: 4.212, 4.299 and 3.062 times the noise of independent records at levels 0.5, 1 and 5; by
the largest cross ratio (3.6) 4.436, 4.403 and 3.542.

*Checked:* never below the levels of random chains of random boxes, of both kinds, by 3.5 and by the
search over all mechanisms.

*Small costs:* those below 1e-9 are read as 1e-9, since the level grows with the cost.
"""

from __future__ import annotations

import math
from functools import lru_cache

from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.intervals import LARGEST_COST, Box, box_level
from bayesdp.leakage.tuples import LEAST_COST
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import ZERO, UpperBound
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question, Theorem
from bayesdp.theorems.markov import NOT_STATIONARY, tightened

LEAST_TRANSITION = 1e-8
"""Bounds closer than this to 0 or 1 are refused: ratios could leave the doubles."""


class MarkovIntervals(Theorem[MarkovChain]):
    """Chains of two states whose transitions lie between bounds (theory 3.5i)."""

    name = "markov-intervals"
    statement = "a two-state chain between bounds: the sharp recursion for all chains between them"
    source = "bayesdp; theory 3.5i"
    uses = "the bounds of the transitions, the adversary class"
    ignores = "the length, and that evidence and transitions are those of the same chain"
    models = (MarkovChain,)

    def applies(self, population: MarkovChain) -> bool:
        """Transitions between bounds; for given ones it is `markov-recursion`."""
        return population.transition is None

    def failed_hypothesis(
        self, population: MarkovChain, question: Question, cost: Cost
    ) -> str | None:
        """Needs order 1, two states, transitions away from 0 and 1, and a stationary start."""
        if population.order > 1:
            return "it is for chains of order 1"
        if population.states != 2:
            return f"it is for two states, and the chain has {population.states}"
        if population.initial != "stationary":
            return NOT_STATIONARY
        box = _box(population)
        if min(*box, *(1.0 - bound for bound in box)) < LEAST_TRANSITION:
            return f"a transition probability may be below {LEAST_TRANSITION:g}"
        if cost.dp_epsilon > LARGEST_COST:
            return f"the cost is above {LARGEST_COST:g}"
        if _level(population, question, cost) is None:
            return "what is known of distant records fades too slowly in some chain between bounds"
        return None

    def seconds_for(self, population: MarkovChain, question: Question) -> float:
        """About what a box takes that must be cut."""
        return 0.05 if population.states == 2 and population.order == 1 else 0.0

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """A level that no chain between the bounds exceeds."""
        level = _level(population, question, cost)
        assert level is not None
        return self._bound(level, target=level)


def _box(population: MarkovChain) -> Box:
    """Bounds on the probabilities to leave a state, rounded outward."""
    low, high = tightened(population)
    ends = []
    for here, other in ((0, 1), (1, 0)):
        least = min(float(low[here, other]), 1.0 - float(high[here, here]))
        most = max(float(high[here, other]), 1.0 - float(low[here, here]))
        ends += [math.nextafter(least, 0.0), math.nextafter(most, 1.0)]
    return Box(*ends)


def _level(population: MarkovChain, question: Question, cost: Cost) -> UpperBound | None:
    if cost.dp_epsilon == 0.0:
        return ZERO
    dp_epsilon = max(cost.dp_epsilon, LEAST_COST)
    uninformed = question.adversary == "uninformed"
    return _box_level(_box(population), dp_epsilon, uninformed, question.deadline)


@lru_cache(maxsize=128)
def _box_level(
    box: Box, dp_epsilon: float, uninformed: bool, deadline: Deadline
) -> UpperBound | None:
    return box_level(box, dp_epsilon, uninformed=uninformed, deadline=deadline)
