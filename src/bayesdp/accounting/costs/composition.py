"""Sound composition: add up at the DP level, convert once (theory 2.2).

BDP levels of several releases don't add up in general: their outputs depend on the same unknown
records. DP costs do, so a data set has one sum of them, and a reading converts that sum. Which
theorem speaks of a spend depends on its kind: under a Gaussian population, a spend that is
Lipschitz in the covered column costs its factor, any other the size of the group.

### 2.2 Sequential composition (corrected)

**Rule.** Compose at the DP level and convert once: mechanisms of costs `eps_1, ..., eps_k`, chosen
adaptively, together have level at most `L_pi(eps_1 + ... + eps_k)`.

**Proof.** Together they are `(eps_1 + ... + eps_k)`-DP: the probability of all answers is the
product of the conditional ones, each within its `e^eps_j`. Then 2.1. ∎

Adding BDP *levels* is allowed in two cases: class `informed`, where the conditions leave nothing
random, so probabilities multiply; and mutually independent records with class `any`, where the
class contains the informed adversary, so each level is a DP cost on the possible databases, and
those add and convert at factor 1 (3.1).

**What the literature says.** Zhao (2017, Theorem 1) lets BDP levels add up for every population.
The proof factorises `P[y1, y2 | x_i, x_K]`, but both answers depend on the same unknown records.

*Counterexample.* Two binary records, weights 9, 9, 1, 0 on (0,0), (0,1), (1,1), (1,0), and `P[Y =
1 | x] = 11^(x1 + x2) / 242`. One run has level ln 22 = 3.0910, two independent runs ln 1573 =
7.3607, which is more than 6.1821. It isn't a matter of large levels: with weights `1 - mu, mu, mu a
/ (1 - a), 0` on the same databases, `a = 0.2`, `mu = 0.9`, and `P[Y = 1 | x] = 1.5^(x1 + x2) /
4.5`, the level is 0.50078 for one run and 1.03407 for two. ([Re-proved in exact
fractions](../tests/oracles/test_counterexamples.py), as is that of 2.3.)

*Nor for uninformed adversaries of independent records:* two fair bits, randomized response with eps
3 on `X1 xor X2` (level 0), and with eps 1 on each bit (level 1): together 1.8912.

**What a ledger must keep.** A conversion may depend on the kind of mechanism (3.8), so a spend
keeps its kind, column, clipping interval and protected unit. With Gaussian records, a total reads
`factor * (sum over Lipschitz spends) + m * (sum over the others)`, for secrets inside the interval
`S` of the reading: the bounds of the covered column in the study that registers it. A Lipschitz
spend counts as such only if its clipping interval contains `S`; clipped to anything narrower it is
one of the others. *Proof:* one coupling of the unknown records serves all answers (3.8 b). Two
secrets are at most `|S|` apart, so under it the target's clipped value moves by at most `|S| <= M`,
`M` the width that a Lipschitz spend clips to, and the other ones by at most `min(|beta_j| |S|, M)
<= min(|beta_j|, 1) M`: its answers change by a factor of at most `e^(factor * eps)`. The others
change by `e^(m * eps)`, since at most `m` records move; multiply, then average. ∎ Without
"contains" it is false: clipped to a sliver of `S`, the other records move by the whole width
however small `beta` is. And `S` must not be the common part of the intervals: a later spend on a
sliver would leave a promise about nobody. A study with other bounds has another reading, to be
registered beside the first. Spends whose protected units differ don't add and are refused. The DP
sum belongs to the data set; each declared population is a reading of that same sum.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from bayesdp.accounting.costs.deltas import check_deltas
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend, as_zcdp, total_cost
from bayesdp.errors import Refusal
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.notions import ColumnCost, Cost
from bayesdp.numbers import UpperBound
from bayesdp.populations import (
    Autoregressive,
    Family,
    Gaussian,
    MarkovChain,
    Network,
    Population,
    Tree,
    parse,
)
from bayesdp.theorems import (
    NO_PURE_LEVEL,
    Bound,
    LeakageReport,
    Question,
    markov_count,
    report,
)
from bayesdp.theorems.with_delta import APPROXIMATE_DP, dp_bounds, report_with_delta


class UnspokenColumnError(Refusal):
    """A spend read a column that a reading's population says nothing about (theory 7)."""


SECONDS = 1.0
"""The seconds that a theorem may take for one level, by its estimate, unless more is allowed."""
PATIENCE = 10.0
"""A theorem is stopped after this many times its seconds, which a busy machine may need."""


def level(
    reading: Reading,
    spends: Sequence[Spend],
    search: Deadline | None = None,
    *,
    seconds: float = SECONDS,
) -> UpperBound:
    """The level of a reading over all spends of a data set, in nats of its notion, rounded up.

    With a delta, it is an epsilon at the reading's delta. Costs may then have been chosen in view
    of earlier answers, if the level was kept to the reading's total throughout (theory 2.6). More
    `seconds` for a theorem never make it higher. Raises `Refusal` for Gaussian spends under a
    reading without a delta, `UnreadDeltaError` for spends whose own deltas it has no room for, and
    `UnspokenColumnError` if a spend read a column that the reading doesn't speak about.
    """
    if reading.notion == "dp":
        return dp_bound(reading, spends).epsilon
    answer = converted(reading, spends, search=search, seconds=seconds, best_only=True)
    return answer.best.epsilon


def dp_bound(reading: Reading, spends: Sequence[Spend], *, fixed: bool = False) -> Bound:
    """The DP level of spends at the reading's delta, with what proves it (theory 2.5).

    Deltas of the mechanisms are within what the reading sets aside for them, and Gaussian spends
    have the rest of its delta (theory 2.6b). `fixed` is as for `converted`. Raises `Refusal` for
    Gaussian spends under a reading without a delta, and `UnreadDeltaError` and `LedgerError` where
    deltas don't fit or costs don't add up.
    """
    cost = total_cost(spends)
    check_deltas(reading, cost)
    delta = reading.rest
    pure = Bound(
        APPROXIMATE_DP,
        UpperBound(cost.dp_epsilon),
        "upper",
        "theory 2.2" if cost.dp_delta == 0.0 else "theory 2.6b",
        delta=UpperBound(cost.dp_delta),
    )
    if cost.rho > 0.0 and delta == 0.0:
        raise Refusal(f"{reading.words()}: {NO_PURE_LEVEL}")
    if delta == 0.0 or not spends:
        return pure
    total = None if fixed else reading.total
    with_orders = [
        *dp_bounds(cost, delta, total=total),
        *dp_bounds(zcdp_cost(spends), delta, "zcdp", total),
    ]
    if cost.dp_delta > 0.0:
        # Each has a share of the rest, and the mechanisms' own deltas come on top.
        whole = UpperBound(reading.delta)
        with_orders = [replace(bound, delta=whole) for bound in with_orders]
    return min(
        [*([pure] if cost.rho == 0.0 else []), *with_orders], key=lambda bound: bound.epsilon
    )


def zcdp_cost(spends: Sequence[Spend]) -> Cost:
    """The total cost of the spends, every pure one counted as zCDP."""
    return total_cost([as_zcdp(spend) for spend in spends])


def converted(
    reading: Reading,
    spends: Sequence[Spend],
    *,
    fixed: bool = False,
    search: Deadline | None = None,
    seconds: float = SECONDS,
    best_only: bool = False,
) -> LeakageReport:
    """The report behind `level`, for a BDP reading: every theorem's word on these spends.

    With a delta, `fixed` says that the costs don't depend on any answer, as those of one release
    don't: their level is then lower than what a ledger must count on, unless they use its total. A
    theorem may take `seconds` by its estimate. `search` is the deadline of a search that asks for
    many levels: each theorem is then stopped after `seconds`, else after `PATIENCE` times that. In
    a search, and where it is asked for the `best_only`, other levels may be higher than need be.
    Raises `Refusal`, `UnreadDeltaError` and `UnspokenColumnError` as `level` does.
    """
    check_deltas(reading, total_cost(spends))
    for spend in spends:
        if reading.dataset and spend.dataset != reading.dataset:
            continue  # of the same people: the ledger holds it against a reading of that data set
        unspoken = sorted(set(spend.reads) - set(reading.covers) - set(reading.independent))
        if unspoken:
            raise UnspokenColumnError(
                f"The query '{spend.query}' reads {', '.join(unspoken)}, about which this reading "
                f"says nothing: {reading.words()}. {THREE_WAYS_OUT}"
            )
    question = Question(
        population_of(reading),
        reading.adversary,
        reading.secrets,
        seconds,
        NEVER if search is None else search,
        PATIENCE * seconds if search is None else None,
        has_other_values=bool(reading.independent),
    )
    cost = cost_for(reading, spends)
    if reading.delta == 0.0:
        if cost.rho > 0.0:
            raise Refusal(f"{reading.words()}: {NO_PURE_LEVEL}")
        answer = report(question, cost, search=best_only or search is not None)
        return _with_mechanism(question, answer, reading, spends)
    answer = report_with_delta(
        question,
        cost,
        reading.delta,
        zcdp_cost=cost_for(reading, [as_zcdp(spend) for spend in spends]),
        total=None if fixed else reading.total,
    )
    return answer if cost.rho > 0.0 else _with_mechanism(question, answer, reading, spends)


def _with_mechanism(
    question: Question, answer: LeakageReport, reading: Reading, spends: Sequence[Spend]
) -> LeakageReport:
    """The report, and the bound of the mechanism itself where all spends have the same mechanism.

    With a single spend of another mechanism, or on another column, only conversions count: so a
    level never falls when a spend is added.
    """
    mechanisms = {spend.mechanism for spend in spends}
    population = question.population
    if len(mechanisms) != 1 or not isinstance(population, MarkovChain) or not population.complete:
        return answer
    (mechanism,) = mechanisms
    if any(spend.reads != reading.covers or len(spend.reads) != 1 for spend in spends):
        return answer
    if any(spend.block is not None for spend in spends):
        return answer
    if markov_count.refusal(population, mechanism) is not None:
        return answer
    bounds = (*answer.bounds, markov_count.bound(question, answer.cost, mechanism))
    # Nothing is gained where a conversion is as good: it needs to know less.
    return replace(answer, bounds=tuple(sorted(bounds, key=lambda bound: bound.epsilon)))


THREE_WAYS_OUT = (
    "A level holds only for columns that the population speaks about. Three ways out: name the "
    "column in population.covers (and vouch for a population that describes it); declare it public "
    "(it is then not protected); or declare it independent (given a record's own covered columns, "
    "it tells nothing about other records)."
)


def population_of(reading: Reading) -> Population:
    """The population of a BDP reading."""
    return _parsed(reading.population_text or "{}")


def keep_population(reading: Reading, population: Population) -> None:
    """Spare `population_of` from reading again what was just read: the reading's own population.

    Only where every record is a node and its numbers are tuples, so that nobody can change them.
    """
    if isinstance(population, Network | Tree):
        _JUST_READ[reading.population_text] = population
        population_of(reading)
        _JUST_READ.pop(reading.population_text, None)


_JUST_READ: dict[str, Network | Tree] = {}
"""By the text of a reading's population, for the moment in which `_parsed` takes it over."""


@lru_cache(maxsize=64)
def _parsed(text: str) -> Population:
    just_read = _JUST_READ.get(text)
    if just_read is not None:
        _ = just_read.factor_graph  # made once, and the copy has it too
        return just_read.model_copy(update={"source": "", "covers": ()})
    return parse(json.loads(text))


def cost_for(reading: Reading, spends: Sequence[Spend]) -> Cost:
    """The spends as a `Cost` in the sense of the reading's theorems.

    A Gaussian population's Lipschitz theorems speak of one covered column, and of secrets in the
    reading's interval. A spend counts as Lipschitz if it is so in that column and its clipping
    interval contains the reading's; every other one is of kind `any`. The kinds add up, because one
    shift coupling serves both: a spend of kind `any` pays for all records of the group anyway.

    *Why containing is enough.* Two secrets of an interval of width W differ by at most W. Clipped
    to an interval of width M >= W around it, the target moves by at most W <= M, and an unknown
    record with coefficient beta by at most min(|beta| W, M) <= min(|beta|, 1) M: so the density
    changes by no more than the factor times the cost says (theory 2.2, 3.8 b). Clipped to a
    narrower interval, another record may move by M although |beta| is small, and nothing is saved.

    Where records are vectors, the Lipschitz spends on their columns are kept apart (theory 3.8 f).
    A family may have members of any kind, so nothing counts as Lipschitz there.
    """
    population = population_of(reading)
    if isinstance(population, Family):
        return _all_alike(total_cost(spends))
    if not isinstance(population, Gaussian | Autoregressive):
        return total_cost(spends)
    if isinstance(population, Gaussian) and population.columns is not None:
        return _vector_cost(reading, population.columns, spends)
    moved, others = _split(reading, spends)
    cost, alike = total_cost(moved), _all_alike(total_cost(others))
    return replace(cost, any=alike.any, rho_any=alike.rho_any)


def _all_alike(cost: Cost) -> Cost:
    """The cost of mechanisms of which nothing is known but their cost."""
    return Cost.of(cost.dp_epsilon, rho=cost.rho)


def _vector_cost(reading: Reading, columns: Sequence[str], spends: Sequence[Spend]) -> Cost:
    """One entry for each column and clipping interval, its width rounded down."""
    groups: dict[tuple[str, tuple[float, float]], list[Spend]] = {}
    others: list[Spend] = []
    for spend in spends:
        column, interval = spend.column, spend.interval
        known = column in columns and column in reading.covers
        if spend.kind == "lipschitz" and known and column is not None and interval is not None:
            groups.setdefault((column, interval), []).append(spend)
        else:
            others.append(spend)
    by_column = []
    for (column, (low, high)), group in sorted(groups.items()):
        total = total_cost(group)
        width = math.nextafter(high - low, 0.0)
        by_column.append(
            ColumnCost(
                column,
                width,
                total.lipschitz,
                total.slack,
                total.rho_lipschitz,
                total.rho_slack,
            )
        )
    return replace(_all_alike(total_cost(others)), by_column=tuple(by_column))


SecretsInterval = tuple[float, float] | Mapping[str, tuple[float, float]]
"""Where secret values lie: one interval, or one for each column where records are vectors."""


def secrets_needed(
    reading: Reading, spends: Sequence[Spend], *, seconds: float = SECONDS
) -> SecretsInterval | None:
    """The interval of secret values without which the level of these spends does not hold.

    `None` where it holds for all of them. A theorem may take `seconds` for the level, which is that
    of the population of `reading`. Raises `Refusal` where the `spends` have no level.
    """
    if reading.notion == "dp":
        return None
    return secrets_of(reading, converted(reading, spends, seconds=seconds))


def secrets_of(reading: Reading, answer: LeakageReport) -> SecretsInterval | None:
    """The interval of secret values without which a report's best level does not hold.

    `None` where the level rests on no theorem about bounded secrets: it holds for all of them.
    """
    best, cost = answer.best, answer.cost
    if "bounds" in best.evidence and cost.by_column:
        return {name: (low, high) for name, (low, high) in best.evidence["bounds"].items()}
    if "factor" not in best.evidence or cost.lipschitz == cost.rho_lipschitz == 0.0:
        return None
    return reading.interval


def _split(reading: Reading, spends: Sequence[Spend]) -> tuple[list[Spend], list[Spend]]:
    """The spends that are Lipschitz in the covered column on the reading's interval; the others."""
    moved = [spend for spend in spends if _is_lipschitz(reading, spend)]
    return moved, [spend for spend in spends if not _is_lipschitz(reading, spend)]


def _is_lipschitz(reading: Reading, spend: Spend) -> bool:
    if spend.kind != "lipschitz" or reading.covers != (spend.column,):
        return False
    if spend.interval is None or reading.interval is None:
        return False
    low, high = reading.interval
    return spend.interval[0] <= low and high <= spend.interval[1]
