"""What the theorems about Markov chains share: hypotheses, views of the chain, and its engine.

### 3.4f Markov chains: the frame for 3.4 to 3.6

Let `X_1, ..., X_n` be a Markov chain with transition matrix `P`, stationary law or any other start,
and let `(i, K)` be an adversary. Given `x_i` and `x_K`, records beyond the nearest known record on
either side have a law that doesn't depend on `x_i`, and the unknown runs to the right and left of
`i` are independent of each other. Let `C_right[u, u']` be the supremum, over functions `g` of the
right-hand run that are log-Lipschitz in its records, of `E[g | x_i = u, x_K] / E[g | x_i = u',
x_K]`, and `C_left` likewise. Then

```text
leakage from u to u'  <=  eps + ln C_left[u, u'] + ln C_right[u, u'].        (*)
```

*Proof:* go from `u` to `u'` in three steps: change the record itself (a factor `e^eps`, pointwise),
then the law of the right-hand run (at most `C_right`, for each fixed left-hand run), then the law
of the left-hand run. ∎ Equality holds for the product of a maximal function of each run and `e^eps`
on `x_i = u`: such a product is log-Lipschitz in every record.

Consider the right-hand side with `l` unknown records. The *evidence* from beyond is a function `h`
of the next record: `h = 1` if the run ends freely, else the probability of the known boundary. The
law of the next record `w` given `x_i = u` is `row[u][w]`, proportional to `P[u][w] h(w)`. Average
`g` over the rest of the run given `w`: the result `phi(w)` satisfies

```text
phi(w) <= e^eps C[w, w'] phi(w'),      C for the run of l - 1 records.       (**)
```

The left-hand side is the same with `row[u][w]` proportional to `P[w][u] alpha(w)`, where `alpha` is
the law of that record given the boundary, or its unconditional law if the run is free. Where the
chain has a positive stationary law `s` and `T` is its time reversal, `P[w][u] alpha(w) = s(u)
T[u][w] alpha(w) / s(w)`: so it is the same form with the kernel `T` and the evidence `alpha / s`,
whatever the start.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.states import StateChain, StatesLevel
from bayesdp.leakage.stationary import stationary_law
from bayesdp.leakage.tuples import tuple_kernel
from bayesdp.notions import Cost
from bayesdp.numbers import ZERO, UpperBound, largest, up
from bayesdp.populations import MarkovChain
from bayesdp.theorems.base import Question, Theorem, too_slow

INTERVALS = (
    "the transitions are given as intervals, and it needs numbers: for intervals there are "
    "markov-contraction and, for two states and order 1, markov-intervals"
)


NOT_STATIONARY = "the chain does not start in its stationary law"
SEVERAL_LAWS = "the chain has several stationary laws"
REMEMBERS = (
    "the chain is long and does not forget its past (it is periodic, absorbing or nearly so), so "
    "its tail can't be closed"
)


def too_many_cells(population: MarkovChain, cells: int, most: int) -> str:
    """Why a theorem that enumerates `cells` cells of the chain refuses: it takes `most`."""
    return (
        f"{population.states} states and order {population.order} have {cells} cells to enumerate, "
        f"more than {most}: declare a lower order or merge states"
    )


class MarkovTheorem(Theorem[MarkovChain]):
    """A theorem about Markov chains whose transitions are given."""

    models = (MarkovChain,)

    @abstractmethod
    def failed(self, population: MarkovChain, question: Question, cost: Cost) -> str | None:
        """The failed hypothesis about a chain with given transitions, or `None`."""

    def failed_hypothesis(
        self, population: MarkovChain, question: Question, cost: Cost
    ) -> str | None:
        """Needs given transitions, and the theorem's own hypotheses."""
        if population.transition is None:
            return INTERVALS
        return self.failed(population, question, cost)


def table_of(population: MarkovChain) -> Floats:
    """The transitions as an array with `order + 1` axes."""
    return np.asarray(population.transition, dtype=float)


def first_records(population: MarkovChain) -> Floats | None:
    """The law of the first k records, with k axes; `None` where stationarity does not fix it."""
    states, order = population.states, population.order
    if population.initial != "stationary":
        return np.asarray(population.initial, dtype=float)
    law = stationary_law(tuple_kernel(table_of(population)))
    return None if law is None else law.reshape((states,) * order)


@lru_cache(maxsize=8)
def _engine(population: MarkovChain, uninformed: bool) -> StateChain | None:
    """The method for a chain of order 1; `None` where the stationary law is not unique."""
    start = first_records(population)
    if start is None:
        return None
    return StateChain(
        table_of(population),
        start,
        stationary=population.initial == "stationary",
        length=population.length,
        uninformed=uninformed,
    )


def engine_seconds(population: MarkovChain, question: Question, method: str) -> float:
    """The estimate of a step-by-step `method`; 0 where the chain is refused at once.

    The methods are `"program"`, by linear programs, and `"threshold"`, by a quicker bound.
    """
    engine = _engine(population, question.adversary == "uninformed")
    return 0.0 if engine is None else engine.seconds(method)


def exceeds_time_limit(population: MarkovChain, question: Question, method: str) -> str | None:
    """Why a step-by-step `method`, `"program"` or `"threshold"`, is not tried.

    There is no unique law, or more work than the question allows.
    """
    engine = _engine(population, question.adversary == "uninformed")
    if engine is None:
        return SEVERAL_LAWS
    seconds = engine.seconds(method)
    if seconds > question.seconds:
        return too_slow(seconds, question)
    return None


def engine_level(
    population: MarkovChain, question: Question, dp_epsilon: float, method: str
) -> StatesLevel | None:
    """The level by the `method` `"program"` or `"threshold"`, at the cost `dp_epsilon` in nats.

    `None` where the tail of the chain can't be closed.
    """
    uninformed = question.adversary == "uninformed"
    return _engine_level(population, uninformed, dp_epsilon, method, question.deadline)


@lru_cache(maxsize=128)
def _engine_level(
    population: MarkovChain, uninformed: bool, dp_epsilon: float, method: str, deadline: Deadline
) -> StatesLevel | None:
    if dp_epsilon == 0.0:
        return StatesLevel(ZERO, 0, True)
    engine = _engine(population, uninformed)
    return None if engine is None else engine.level(dp_epsilon, method, deadline)


def tightened(population: MarkovChain) -> tuple[Floats, Floats]:
    """Interval bounds, narrowed to what the row's other entries leave; rounded outward.

    A row whose bounds admit the sum 1 only within the tolerance stays as it was declared.
    """
    low = np.asarray(population.transition_lower, dtype=float)
    high = np.asarray(population.transition_upper, dtype=float)
    others_high = high.sum(axis=-1, keepdims=True) - high
    others_low = low.sum(axis=-1, keepdims=True) - low
    slack = 1e-15 * low.shape[-1]
    fits = np.array(
        [
            math.fsum([*least, -1.0]) <= 0.0 <= math.fsum([*most, -1.0])
            for least, most in zip(
                low.reshape(-1, low.shape[-1]), high.reshape(-1, high.shape[-1]), strict=True
            )
        ]
    ).reshape((*low.shape[:-1], 1))
    return (
        np.where(fits, np.maximum(low, 1.0 - others_high - slack), low).clip(0.0, 1.0),
        np.where(fits, np.minimum(high, 1.0 - others_low + slack), high).clip(0.0, 1.0),
    )


def interval_ratio(low: Floats, high: Floats) -> UpperBound:
    """The largest cross ratio of two rows over all tables between the bounds, rounded up."""
    rows = low.shape[0]
    with np.errstate(divide="ignore"):
        log_low, log_high = np.log(low), np.log(high)
    widest = 0.0
    for first, second in product(range(rows), repeat=2):
        if first != second:
            widest = largest(widest, _widest(log_low, log_high, first, second))
    return UpperBound(math.inf if widest > 700.0 else up(math.exp(widest + 1e-12), 8))


def _widest(log_low: Floats, log_high: Floats, first: int, second: int) -> float:
    """The largest `ln (P_uw P_vw' / (P_vw P_uw'))` over different `w`, `w'`."""
    # A column that is 0 in both rows carries no evidence; any other possible 0 may be unshared.
    alive = ~(np.isneginf(log_high[first]) & np.isneginf(log_high[second]))
    low, high = log_low[:, alive], log_high[:, alive]
    if np.isneginf(low[[first, second]]).any():
        return math.inf
    sums: NDArray[np.float64] = (high[first] - low[second])[:, None] + (high[second] - low[first])[
        None, :
    ]
    np.fill_diagonal(sums, -np.inf)
    return largest(0.0, sums)
