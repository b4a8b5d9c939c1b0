"""Which extra knowledge would buy less noise, for whoever chooses what to declare.

Less noise means: the same BDP level from a larger DP budget. If a budget `eps` has the level `L`
here, and with more knowledge a budget `eps' > eps` has it, the noise shrinks by `1 - eps / eps'`.

Nothing is guessed. A piece of advice either follows from the declared population (another adversary
class, another kind of mechanism), or it names a condition under which it holds ("if all
correlations are equal"), or it says *up to*: no outcome of finding out can do better. Where
nothing else is known the last kind rests on `L(eps) >= eps` (theory 2.1): an `eps'` with the level
`L` is at most `L`, so the noise shrinks by at most `1 - eps / L`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bayesdp.notions import Adversary, Cost, Secrets
from bayesdp.numbers import UpperBound
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Gaussian,
    MarkovChain,
    Population,
    Tree,
    Unknown,
)
from bayesdp.theorems import LeakageReport, Question, best_bound

LEAST = 0.005
"""Advice that saves less than this share of the noise is not given."""

ASSUMED_CORRELATION = 0.1
"""The correlation that advice on Gaussian records takes as an example."""
ASSUMED_CLUSTER = 10
"""The size of the clusters that advice takes as an example."""
_SECONDS = 0.05
"""The time that theorems may take, by their estimate, when they are asked for advice."""
_STOP_AFTER = 1.0
"""Theorems are asked only if they should take `_SECONDS`, so a busy machine advises the same."""
_TRIALS = 6
"""The most levels that are computed to find the cost which a change would buy."""
_CLOSE = 5e-4
"""Costs this close, relative to them, are the same for advice."""
_LARGEST = 10_000
"""With more dependent records than this the theorems aren't asked again, except for series."""

_MOST_TUPLES = 4
"""Chains with more tuples of states are not asked about against other adversaries."""
_MOST_MEMBERS = 8
"""Families with more members are given no advice about each of them."""


@dataclass(frozen=True, slots=True)
class Advice:
    """`knowledge` would buy `less_noise` (a fraction of the noise, rounded down).

    `at_best` marks an upper limit (rounded up): it may buy less, or nothing.
    """

    knowledge: str
    less_noise: float
    at_best: bool = False

    def words(self) -> str:
        """One line for people."""
        if not self.at_best:
            return f"{self.knowledge}: {self.less_noise:.1%} less noise"
        if self.less_noise >= 1.0:  # rounded up, so nothing is said
            return f"{self.knowledge}: it is not known how much less noise, if any"
        return f"{self.knowledge}: at most {self.less_noise:.1%} less noise, perhaps none"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp leakage --json` prints it."""
        return {
            "knowledge": self.knowledge,
            "less_noise": self.less_noise,
            "at_best": self.at_best,
        }


def advice(population: Population, report: LeakageReport) -> tuple[Advice, ...]:
    """How much noise more knowledge would save, the most certain first; empty if none would.

    `report` is the answer of `leakage` for this population. Only theorems that are quick for this
    population are asked again, so the true saving may be larger.
    """
    dp_epsilon, level = report.cost.dp_epsilon, report.best.epsilon
    if dp_epsilon == 0.0 or level <= dp_epsilon or report.adversary == "informed":
        return ()
    here = _Known(population, report)
    offers = [
        *_mechanism(here),
        *_adversary(here),
        *_model(here),
    ]
    if report.best.tight != "exact" or isinstance(population, Clusters | Unknown):
        offers.append(_limit(_whole_law(population), dp_epsilon, level))
    worth = [offer for offer in offers if offer is not None and offer.less_noise >= LEAST]
    return tuple(sorted(worth, key=lambda offer: offer.at_best))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known: the population and the report about it."""

    population: Population
    report: LeakageReport

    @property
    def small(self) -> bool:
        """Whether asking again is quick."""
        series = self.population.structure == "series"
        return series or self.population.group_size <= _LARGEST

    def if_known(
        self,
        knowledge: str,
        population: Population | None = None,
        *,
        adversary: Adversary | None = None,
        secrets: Secrets | None = None,
        lipschitz: bool = False,
    ) -> Advice | None:
        """The noise saved if this were known instead; `None` if that can't be computed."""
        question = Question(
            population or self.population,
            adversary or self.report.adversary,
            secrets or self.report.secrets,
            _SECONDS,
            stop_after=_STOP_AFTER,
        )
        cost = self.report.cost
        if lipschitz:
            cost = Cost(lipschitz=UpperBound(cost.dp_epsilon), slack=cost.slack)
        saved = _saved(question, cost, self.report.best.epsilon)
        return None if saved is None else Advice(knowledge, saved)


def _saved(question: Question, cost: Cost, level: float) -> float | None:
    """`1 - 1/x` for a budget `x` times as large that is certified to have at most this level."""

    def at(times: float) -> float:
        return best_bound(question, _times(cost, times)).epsilon

    low, high = 1.0, level / cost.dp_epsilon  # above it no budget has the level
    at_low = at(low)
    if at_low > level or not math.isfinite(high):
        return None
    at_high = at(high)
    if at_high <= level:
        return _down(1.0 - 1.0 / high)
    # Most levels are proportional to the budget. Slightly less, so that rounding doesn't matter.
    guess = level / at_low * (1.0 - 1e-13)
    for _ in range(_TRIALS):
        if high - low < _CLOSE * low:
            break
        if not low < guess < high:
            guess = (low + high) / 2.0
        value = at(guess)
        if value <= level:
            low, at_low = guess, value
        else:
            high, at_high = guess, value
        slope = (high - low) / (at_high - at_low)
        guess = (low + (level - at_low) * slope) * (1.0 + _side(value, level) * _CLOSE / 4.0)
    return _down(1.0 - 1.0 / low)


def _side(value: float, level: float) -> float:
    """The direction in which to leave the secant, so that the other end moves as well."""
    return 1.0 if value <= level else -1.0


def _times(cost: Cost, factor: float) -> Cost:
    """A cost to ask about: all parts multiplied by `factor`, and no bound of what was spent."""
    columns = tuple(
        replace(
            spent,
            dp_epsilon=UpperBound(spent.dp_epsilon * factor),
            slack=UpperBound(spent.slack * factor),
        )
        for spent in cost.by_column
    )
    any_, lipschitz, slack = (
        UpperBound(part * factor) for part in (cost.any, cost.lipschitz, cost.slack)
    )
    return Cost(any_, lipschitz, slack, columns)


def _limit(knowledge: str, dp_epsilon: float, level: float) -> Advice | None:
    """The most that any knowledge can save, because `L(eps) >= eps`."""
    if math.isinf(level):
        return None
    return Advice(knowledge, _up(1.0 - dp_epsilon / level), at_best=True)


def _down(fraction: float) -> float:
    return math.floor(fraction * 1000.0 + 1e-9) / 1000.0


def _up(fraction: float) -> float:
    return math.ceil(fraction * 1000.0 - 1e-9) / 1000.0


# -- what the question could say ---------------------------------------------------------------


def _mechanism(here: _Known) -> Iterator[Advice | None]:
    if not isinstance(here.population, Gaussian | Autoregressive) or not here.small:
        return
    cost, secrets = here.report.cost, here.report.secrets
    if cost.any > 0.0 and not cost.by_column:
        yield here.if_known(
            "that the mechanism is Lipschitz in the clipped values, as sums and means are "
            "(--kind lipschitz)" + ("" if secrets == "bounded" else _AND_BOUNDED),
            lipschitz=True,
            secrets="bounded",
        )
    elif secrets == "unbounded":
        yield here.if_known(
            "that secret values lie inside the clipping interval (--secrets bounded)",
            secrets="bounded",
        )


_AND_BOUNDED = " and that secret values lie inside the clipping interval (--secrets bounded)"


def _adversary(here: _Known) -> Iterator[Advice | None]:
    population = here.population
    matters = isinstance(population, MarkovChain | Tree) and here.small
    if isinstance(population, MarkovChain) and population.order > 1:
        matters = population.states**population.order <= _MOST_TUPLES
    if here.report.adversary == "any" and matters:
        yield here.if_known(
            "that the adversary knows none of the other records (--adversary uninformed)",
            adversary="uninformed",
        )


# -- what the population could say -------------------------------------------------------------


def _model(here: _Known) -> Iterator[Advice | None]:
    population = here.population
    if isinstance(population, Unknown):
        yield from _clusters_instead(here, population.records)
    elif isinstance(population, Clusters):
        yield from _correlations_instead(here, population.size)
    elif isinstance(population, Family):
        yield from _members(here, population)
    elif isinstance(population, MarkovChain):
        yield from _chain(here, population)
    elif isinstance(population, Gaussian) and population.max_correlation is not None:
        yield from _covariance(here, population.group_size, population.max_correlation)


def _clusters_instead(here: _Known, records: int) -> Iterator[Advice | None]:
    size = ASSUMED_CLUSTER if records > ASSUMED_CLUSTER else records - 1
    if size >= 1:
        yield here.if_known(
            f"that records depend on each other only inside clusters of at most {size}",
            Clusters(size=size),
        )


def _correlations_instead(here: _Known, size: int) -> Iterator[Advice | None]:
    if size < 2:
        return
    yield here.if_known(
        "for sums and means, that the records of a cluster are jointly Gaussian with equal "
        f"variances, if no correlation exceeds {ASSUMED_CORRELATION:g}",
        Gaussian(size=size, max_correlation=ASSUMED_CORRELATION),
        lipschitz=True,
        secrets="bounded",
    )


def _covariance(here: _Known, size: int, rho: float) -> Iterator[Advice | None]:
    """What the covariance would buy: between equal correlations and a single pair.

    With equal correlations `rho >= 0` and `k` known records the others' coefficients on the target
    are `rho / (1 + k rho)`, so the factor is `1 + (m - 1) rho`, at `k = 0`. If `rho` is attained at
    all, that pair alone gives `1 + rho`, and no covariance gives less (variances being equal).
    """
    cost, level = here.report.cost, here.report.best.epsilon
    if cost.lipschitz == 0.0 or cost.any > 0.0 or here.report.secrets != "bounded" or rho == 0.0:
        return
    moved = (size - 1) * cost.slack
    equal, pair = ((1.0 + k * rho) * cost.lipschitz + moved for k in (size - 1, 1))
    if level > equal:
        yield Advice(
            f"the covariance instead of the largest correlation, if all are equal to {rho:g}",
            _down(1.0 - equal / level),
        )
    if level > pair:
        yield Advice(
            "the covariance instead of the largest correlation, if that is attained (most if by "
            "one pair only)",
            _up(1.0 - pair / level),
            at_best=True,
        )


def _members(here: _Known, family: Family) -> Iterator[Advice | None]:
    if not here.small or len(family.members) > _MOST_MEMBERS:
        return
    for position, member in enumerate(family.members):
        yield here.if_known(
            f"which member of the family is right, if it is member {position}", member
        )


def _chain(here: _Known, chain: MarkovChain) -> Iterator[Advice | None]:
    if chain.transition is None:
        yield here.if_known(
            "the transitions instead of bounds on them, if they lie in the middle", middle(chain)
        )
    elif chain.order > 1:
        simpler = _first_order(chain)
        if simpler is not None:
            yield here.if_known(
                "that only the latest record matters, with the pairs as they are (order 1), if "
                "that is true",
                simpler,
            )


def middle(chain: MarkovChain) -> MarkovChain:
    """The chain whose rows all lie at the same fraction of the way between their bounds.

    For a chain that is declared with `transition_lower` and `transition_upper`.
    """
    import numpy as np

    low, high = (np.asarray(bounds) for bounds in (chain.transition_lower, chain.transition_upper))
    room = (high - low).sum(axis=-1, keepdims=True)
    part = (1.0 - low.sum(axis=-1, keepdims=True)) / np.where(room > 0.0, room, 1.0)
    rows = low + part * (high - low)
    return MarkovChain(
        transition=rows / rows.sum(axis=-1, keepdims=True),
        order=chain.order,
        initial=chain.initial,
        length=chain.length,
    )


def _first_order(chain: MarkovChain) -> MarkovChain | None:
    """The chain of order 1 with the same law of two neighbours, if all neighbours have one law."""
    import numpy as np

    from bayesdp.theorems.markov import first_records, table_of

    law = first_records(chain) if chain.initial == "stationary" else None
    if law is None:
        return None
    pairs = (law[..., None] * table_of(chain)).sum(axis=tuple(range(chain.order - 1)))
    rows = pairs.sum(axis=1, keepdims=True)
    if not np.all(rows > 0.0):
        return None
    return MarkovChain(transition=pairs / rows, length=chain.length)


def _whole_law(population: Population) -> str:
    if isinstance(population, Clusters | Unknown):
        return "a model of who depends on whom, and how strongly"
    return "whatever else may be known about these records, at best that they are independent"
