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
from bayesdp.populations import MarkovChain, Population
from bayesdp.theorems.base import Question, Theorem
from bayesdp.theorems.markov import INTERVALS, chain_of, state_chain, table_of


class MarkovRecursion(Theorem):
    """The sharp conversion for Markov chains; exact for two states (theory 3.5)."""

    name = "markov-recursion"
    statement = "a Markov chain: the sharp recursion over runs of unknown records"
    source = "bayesdp; theory 3.5"
    uses = "the transitions, the start, the length, the adversary class"
    ignores = "for more than two states: that one function must be the worst at all steps"

    def concerns(self, population: Population) -> bool:
        """Whether the theorem is about this model at all."""
        return isinstance(population, MarkovChain)

    def refusal(self, question: Question, cost: Cost) -> str | None:
        """Needs given transitions, and a chain that is short or forgets; and affordable work."""
        population = chain_of(question)
        if question.adversary == "informed":
            return None
        if population.transition is None:
            return INTERVALS
        if population.order > 1:
            return _order_refusal(question, cost.dp_epsilon)
        if population.states > 2:
            refused = too_dear(question, "program", "seconds")
            if refused is not None:
                return refused
        if _level(question, cost.dp_epsilon) is None:
            return (
                "the chain is long and does not forget its past (it is periodic, absorbing or "
                "nearly so), so its tail can't be closed"
            )
        return None

    def expected_seconds(self, question: Question) -> float:
        """None for two states; for tuples the count of programs of a round, for some hundreds."""
        population = chain_of(question)
        if question.adversary == "informed" or population.transition is None:
            return 0.0
        if population.order > 1:
            return float(population.states ** (2 * population.order)) * SECONDS_PER_PAIR
        return 0.0 if population.states == 2 else engine_seconds(question, "program")

    def bound(self, question: Question, cost: Cost) -> Bound:
        """The sharp level; `eps` against an informed adversary."""
        if question.adversary == "informed":
            return self._bound(cost.dp_epsilon)
        population = chain_of(question)
        if population.order > 1:
            level = _tuple_level(population, cost.dp_epsilon, question.deadline)
            assert level is not None
            return self._bound(level, order=population.order)
        found = _level(question, cost.dp_epsilon)
        assert found is not None
        if found.closed is not None:
            # Known beforehand, it closes a side as soon as the evidence there has settled.
            return self._bound(found.epsilon, found.attained, steps=0, closed=found.closed)
        return self._bound(found.epsilon, found.attained, steps=found.steps, tail=found.tail)


SECONDS_PER_PAIR = 0.03
"""About what each ordered pair of tuples takes for one level."""


def engine_seconds(question: Question, method: str) -> float:
    """The estimate of a step-by-step method; 0 where it has no engine and is refused at once."""
    engine = state_chain(question)
    return 0.0 if engine is None else engine.seconds(method)


def too_dear(question: Question, method: str, option: str) -> str | None:
    """Why a step-by-step method is not tried: no engine, or more work than the question allows."""
    engine = state_chain(question)
    if engine is None:
        return "the chain has several stationary laws"
    seconds = engine.seconds(method)
    if seconds > question.seconds:
        return (
            f"it would take about {seconds:.2g} s for one level, and {question.seconds:g} s are "
            f"allowed: ask for more with {option}"
        )
    return None


def _order_refusal(question: Question, dp_epsilon: float) -> str | None:
    population = chain_of(question)
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


def _level(question: Question, dp_epsilon: float) -> _Level | None:
    population = chain_of(question)
    if population.states == 2:
        return _two_states(
            population, question.adversary == "uninformed", dp_epsilon, question.deadline
        )
    return _many_states(
        population, question.adversary == "uninformed", dp_epsilon, question.deadline
    )


@lru_cache(maxsize=64)
def _two_states(
    population: MarkovChain, uninformed: bool, dp_epsilon: float, deadline: Deadline
) -> _Level | None:
    (a, b), (c, d) = population.transition
    first, second = population.start
    found = two_state_level(
        ((a, b), (c, d)),
        (first, second),
        stationary=population.initial == "stationary",
        length=population.length,
        dp_epsilon=dp_epsilon,
        uninformed=uninformed,
        deadline=deadline,
    )
    if found is None:
        return None
    tail = list(found.tail) if found.tail is not None else None
    if tail is None or found.settled:
        return _Level(found.epsilon, found.attained, found.steps, tail)
    side = [[0.0, tail[0]], [tail[1], 0.0]]
    return _Level(found.epsilon, found.attained, found.steps, tail, [side, side])


@lru_cache(maxsize=64)
def _many_states(
    population: MarkovChain, uninformed: bool, dp_epsilon: float, deadline: Deadline
) -> _Level | None:
    if dp_epsilon == 0.0:
        return _Level(0.0, 0.0, 0)
    question = Question(population, "uninformed" if uninformed else "any")
    engine = state_chain(question)
    found = engine.level(dp_epsilon, "program", deadline) if engine is not None else None
    if found is None:
        return None
    return _Level(found.epsilon, 0.0, found.steps, closed=found.closed)
