"""Two-state Markov chains: the sharp recursion.

Statement (theory 3.5). Given the records that the adversary knows, only the nearest one on each
side of the target matters, and the two sides are independent given the target. For one side, moving
away from the target with kernel `T` over a run of `l` unknown records that ends free or at a known
value `b`, let `rows_l[u, .]` be proportional to `T[u, .] h_{l-1}`, with `h_0 = 1` (free) or
`T[., b]` (known) and `h_l = T h_{l-1}`, and

    C_l[u, u'] = sup { rows_l[u] . g / rows_l[u'] . g  :  g > 0, g(v) <= c(v, v') g(v') },
    c(v, v') = e^eps C_{l-1}[v, v'] off the diagonal,  C_0 = 1.

Then `L(eps) <= eps + max over (u, u') of ln C_left[u, u'] + ln C_right[u, u']`, over all runs and
boundaries that fit. For two states equality holds, for every start and with zeros.

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
"""

from __future__ import annotations

from functools import lru_cache

from bayesdp.leakage.chain import MAX_STEPS, ChainLevel, two_state_level
from bayesdp.notions import Cost, Tightness
from bayesdp.populations import MarkovChain, Population
from bayesdp.theorems.base import Bound, Question, Theorem


class MarkovRecursion(Theorem):
    """The exact conversion for two-state Markov chains (theory 3.5)."""

    name = "markov-recursion"
    statement = "a two-state Markov chain: the sharp recursion over runs of unknown records"
    source = "bayesdp; theory 3.5"
    uses = "the transitions, the start, the length, the adversary class"
    ignores = "nothing"

    def concerns(self, population: Population) -> bool:
        """Whether the theorem is about this model at all."""
        return isinstance(population, MarkovChain)

    def refusal(self, question: Question, cost: Cost) -> str | None:
        """Needs two states, and a chain that is short or that forgets its past."""
        population = question.population
        assert isinstance(population, MarkovChain)
        if population.states != 2:
            return f"the chain has {population.states} states: this version handles two"
        if question.adversary != "informed" and _level(question, cost.dp_epsilon) is None:
            return (
                f"the chain has more than {MAX_STEPS} records and does not forget its past (it is "
                "periodic, absorbing or nearly so), so its tail can't be closed"
            )
        return None

    def bound(self, question: Question, cost: Cost) -> Bound:
        """The sharp level; `eps` against an informed adversary."""
        if question.adversary == "informed":
            return self._bound(cost.dp_epsilon, "exact")
        level = _level(question, cost.dp_epsilon)
        assert level is not None
        tail = list(level.tail) if level.tail is not None else None
        tight: Tightness = "exact" if level.exact else "upper"
        return self._bound(level.epsilon, tight, steps=level.steps, tail=tail)


def _level(question: Question, dp_epsilon: float) -> ChainLevel | None:
    population = question.population
    assert isinstance(population, MarkovChain)
    (a, b), (c, d) = population.transition
    first, second = population.start
    return _cached_level(
        ((a, b), (c, d)),
        (first, second),
        population.initial == "stationary",
        population.length,
        dp_epsilon,
        question.adversary == "uninformed",
    )


@lru_cache(maxsize=64)
def _cached_level(
    transition: tuple[tuple[float, float], tuple[float, float]],
    start: tuple[float, float],
    stationary: bool,
    length: int,
    dp_epsilon: float,
    uninformed: bool,
) -> ChainLevel | None:
    return two_state_level(
        transition,
        start,
        stationary=stationary,
        length=length,
        dp_epsilon=dp_epsilon,
        uninformed=uninformed,
    )
