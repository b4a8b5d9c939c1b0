"""Markov chains: the sharp recursion.

Statement (theory 3.5). Given the records that the adversary knows, only the nearest one on each
side of the target matters, and the two sides are independent given the target. For one side, moving
away from the target with kernel `T` over a run of `l` unknown records that ends free or at a known
value `b`, let `rows_l[u, .]` be proportional to `T[u, .] h_{l-1}`, with `h_0 = 1` (free) or
`T[., b]` (known) and `h_l = T h_{l-1}`, and

    C_l[u, u'] = sup { rows_l[u] . g / rows_l[u'] . g  :  g > 0, g(v) <= c(v, v') g(v') },
    c(v, v') = e^eps C_{l-1}[v, v'] off the diagonal,  C_0 = 1.

Then `L(eps) <= eps + max over (u, u') of ln C_left[u, u'] + ln C_right[u, u']`, over all runs and
boundaries that fit. For two states equality holds, for every start and with zeros; for more it is
an upper bound (each step may choose its own worst function), and each step is a small linear
program, certified from a dual solution.

Proof. `rows_l[u]` is the law of the first unknown record given the target `u` and the boundary.
Given that record's value `v`, the rest of the run depends on `v` only, so averaging a log-Lipschitz
function over the rest gives a function of `v` whose ratio between `v` and `v'` is at most `e^eps`
(the record itself) times `C_{l-1}[v, v']` (the rest): induction on `l`. The same argument for the
target adds its own `eps` and multiplies both sides. Equality for two states: the sup of a ratio of
two linear forms in `g(0)/g(1)` sits at an end of its interval; choosing the end by the sign of the
determinant at every record gives one product-form `g`, which attains all steps at once.

Tail. Runs of length `R` and more are closed by `C+ >= C_R` with `F(C+) <= C+`, where `F` is one
step with the limiting evidence, inflated by `(max h_R / min h_R)^2`: the Hilbert distance of the
evidence to its limit never grows, so `F` covers every later step, and by induction `C_l <= C+`.

Order k, uninformed adversaries (theory 3.5k). The state is the tuple of the last k records. Moving
one step adds one record, so `c(v, v') = e^(eps [new records differ]) C_{l-1}[v, v']`: the others
have been paid for. At the target the next k - 1 records are revealed together with it: given the
tuple, both sides are independent, the target pays `eps` and so does each other record of the tuple
that differs, times both sides' `C` for the two tuples; a last linear program averages over the
tuples that each secret allows. Shorter stationary chains are longer ones of which some records are
not read, so the closed limit serves for every length. Costs below 1e-9 are read as 1e-9: the level
grows with the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bayesdp.leakage.chain import two_state_level
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.tuples import LEAST_COST, MOST_TUPLES, uninformed_tuple_level
from bayesdp.notions import Bound, Cost
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
        """None for two states; for tuples the count of programs of a round, for some hundreds."""
        if population.transition is None:
            return 0.0
        if population.order > 1:
            return float(population.states ** (2 * population.order)) * SECONDS_PER_PAIR
        return 0.0 if population.states == 2 else engine_seconds(population, question, "program")

    def level(self, population: MarkovChain, question: Question, cost: Cost) -> Bound:
        """The sharp level."""
        if population.order > 1:
            level = _tuple_level(population, cost.dp_epsilon, question.deadline)
            assert level is not None
            return self._bound(level, order=population.order)
        proved = _level(population, question, cost.dp_epsilon)
        assert proved is not None
        if proved.closed is not None:
            # Known beforehand, it closes a side as soon as the evidence there has settled.
            return self._bound(proved.epsilon, proved.attained, steps=0, closed=proved.closed)
        return self._bound(proved.epsilon, proved.attained, steps=proved.steps, tail=proved.tail)


SECONDS_PER_PAIR = 0.03
"""About what each ordered pair of tuples takes for one level."""


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
def _tuple_level(population: MarkovChain, dp_epsilon: float, deadline: Deadline) -> float | None:
    if dp_epsilon == 0.0:
        return 0.0
    if dp_epsilon < LEAST_COST:
        return _tuple_level(population, LEAST_COST, deadline)
    return uninformed_tuple_level(table_of(population), dp_epsilon, deadline)


@dataclass(frozen=True, slots=True)
class _Level:
    epsilon: float
    attained: float
    steps: int
    tail: list[float] | None = None
    closed: list[Any] | None = None
    """What closes both sides, where nobody gets there from below."""


def _level(population: MarkovChain, question: Question, dp_epsilon: float) -> _Level | None:
    if population.states == 2:
        uninformed = question.adversary == "uninformed"
        return _two_states(population, uninformed, dp_epsilon, question.deadline)
    level = engine_level(population, question, dp_epsilon, "program")
    return None if level is None else _Level(level.epsilon, 0.0, level.steps, closed=level.closed)


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
    tail = list(level.tail) if level.tail is not None else None
    if tail is None or level.settled:
        return _Level(level.epsilon, level.attained, level.steps, tail)
    side = [[0.0, tail[0]], [tail[1], 0.0]]
    return _Level(level.epsilon, level.attained, level.steps, tail, [side, side])
