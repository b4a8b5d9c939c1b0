"""Perturbed answers: what their collection costs, and what they say about the records.

Each answer is the record's own state with the probability `p = e^eps / (e^eps + k - 1)`, and else
one of the other `k - 1` states, each with `q = 1 / (e^eps + k - 1)`: the odds of an answer under
two states are at most `p / q = e^eps`. Theory 2.9 proves what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, agree, ball, require, watched
from bayesdp.kernel.costs.queries import labels
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.columns import Columns, Discrete, Impute, Value
from bayesdp.statements.costs import CollectedStep
from bayesdp.statements.results import CollectedResult
from bayesdp.statements.spends import COLLECTED

MOST_EFFORT = 200_000
"""The most that the number of states times the root of the number of records may be."""

_REACH = 5
"""Roots of the number of trials from the mean of a binomial law up to which it is summed."""

_OUTSIDE = arb(2) ** -69
"""What two binomial laws have beyond that, at most: `4 e^-50` is less."""

_DRIFT = arb(2) ** -48
"""How far the probability of the true answer may be off where answers were drawn: in doubles."""


def chances(epsilon: float, states: int) -> tuple[arb, arb]:
    """The probability of the true answer, and of each other one."""
    odds = ball(Fraction(epsilon)).exp()
    together = odds + (states - 1)
    return odds / together, 1 / together


def estimate(answers: int, records: int, epsilon: float, states: int) -> arb:
    """The unbiased number of records in a state that `answers` of all `records` name."""
    kept, other = chances(epsilon, states)
    return (answers - records * other) / (kept - other)


class Evidence:
    """What `answers` of all `records` say about how many records hold a state.

    The number of answers is a sum of two binomial numbers, of the records that hold the state and
    of the others, and grows in law with how many hold it. So the numbers that are too small to be
    plausible are those below some number, and those too large those above another.
    """

    def __init__(self, answers: int, records: int, epsilon: float, states: int) -> None:
        self.answers, self.records = answers, records
        self.kept, self.other = chances(epsilon, states)

    def too_few(self, count: int, allowed: Fraction) -> bool:
        """Whether with at most `count` holders so many answers are less likely than `allowed`."""
        tail = _at_least(self.answers, count, self.records, self.kept, self.other)
        return bool(tail + self.records * _DRIFT <= ball(allowed))

    def too_many(self, count: int, allowed: Fraction) -> bool:
        """Whether with at least `count` holders so few answers are less likely than `allowed`."""
        others = self.records - self.answers
        tail = _at_least(others, count, self.records, 1 - self.kept, 1 - self.other)
        return bool(tail + self.records * _DRIFT <= ball(allowed))


def _at_least(least: int, count: int, records: int, kept: arb, other: arb) -> arb:
    """An upper bound on `P[Bin(count, kept) + Bin(records - count, other) >= least]`."""
    first, start = _binomial(count, kept)
    second, lowest = _binomial(records - count, other)
    total, above, place = arb(0), arb(0), len(second)
    for offset, mass in enumerate(first):
        needed = max(least - (start + offset) - lowest, 0)
        while place > needed:
            place -= 1
            above += second[place]
        total += mass * above
    return total + _OUTSIDE


def _binomial(trials: int, chance: arb) -> tuple[list[arb], int]:
    """The masses of a binomial law near its mean, and the number that the first belongs to.

    By Hoeffding's inequality the others are at most `2 e^(-2 t^2 / trials)` together, for a
    distance `t` of at least `_REACH` roots of `trials`.
    """
    reach = _REACH * (isqrt(trials) + 1) + 1
    middle = min(max(int(float((trials * chance).mid())), 0), trials)
    low, high = max(middle - reach, 0), min(middle + reach, trials)
    ways = arb(trials + 1).lgamma() - arb(middle + 1).lgamma() - arb(trials - middle + 1).lgamma()
    peak = (ways + middle * chance.log() + (trials - middle) * (1 - chance).log()).exp()
    odds = chance / (1 - chance)
    upward, downward = [peak], list[arb]()
    for number in range(middle, high):
        watched()
        upward.append(upward[-1] * odds * (trials - number) / (number + 1))
    for number in range(middle, low, -1):
        watched()
        last = downward[-1] if downward else peak
        downward.append(last / odds * number / (trials - number + 1))
    return [*reversed(downward), *upward], low


# -- certificates -------------------------------------------------------------------------------


def check_collected(
    steps: Sequence[CollectedStep],
    body: ReleaseCertificate,
    columns: Columns,
    covers: list[str],
    independent: list[str],
) -> None:
    """`InvalidError` unless each query of perturbed answers costs what their collection did.

    `columns` are as declared, `covers` and `independent` the labels of those that the population
    covers and of those that tell nothing about other records.
    """
    at: dict[str, float] = {}
    described = tuple((stated.column, stated.epsilon) for stated in body.collected)
    for step in steps:
        query, spend = step.evidence.query, step.evidence.spend
        where = f"{step.rule}: {query.name}"
        require(body.unit == "row", "each row answers, but records have several rows", where)
        states_of(query.column, columns, where)
        known = at.setdefault(query.column, query.epsilon)
        agree(query.epsilon, known, "epsilon of the same answers", where)
        (label,) = labels(columns, [query.column], covers, independent)
        compared = {
            "query": (spend.query, query.name),
            "dataset": (spend.dataset, body.dataset),
            "unit": (spend.unit, body.protected_unit),
            "column": (spend.column, label),
            "mechanism": (spend.mechanism, COLLECTED),
            "cost": (spend.dp_epsilon, query.epsilon),
            "conclusion": (step.conclusion.epsilon, query.epsilon),
            "kind": (step.conclusion.kind, spend.kind),
        }
        for what, (stated, due) in compared.items():
            agree(stated, due, what, where)
    agree(described, tuple(sorted(at.items())), "perturbed answers", "collected")


def states_of(name: str, columns: Columns, where: str) -> tuple[Value, ...]:
    """The states that answers may name: all that the table's own cells may hold."""
    column = columns[name]
    require(
        column.is_private and isinstance(column, Discrete),
        "perturbed answers are those of a private column of declared states",
        where,
    )
    made = isinstance(column.missing, Impute) or getattr(column, "other", None) is not None
    require(not made, "some states stand for cells that nobody answered", where)
    return column.levels or ()


def check_collected_results(
    results: Sequence[CollectedResult],
    steps: Sequence[CollectedStep],
    records: int,
    columns: Columns,
) -> None:
    """`InvalidError` unless the results are what the answers say, state by state.

    Every one of the `records` has answered: the answers add up to them.
    """
    due = [
        (step, states, state)
        for step in steps
        for states in [states_of(step.evidence.query.column, columns, "results")]
        for state in states
    ]
    agree(len(results), len(due), "number of estimates", "results")
    seen: dict[str, list[int]] = {}
    for result, (step, states, state) in zip(results, due, strict=True):
        query = step.evidence.query
        where = f"result: {query.name}"
        size = len(states)
        if size**2 * records > MOST_EFFORT**2:
            raise UnknownError("it has more states and records than are summed over", where)
        named = (type(result.cell), result.cell)
        agree((result.query, *named), (query.name, type(state), state), "state", where)
        agree(result.dp_epsilon, step.conclusion.epsilon, "DP cost", where)
        seen.setdefault(query.name, []).append(result.answers)
        exact = estimate(result.answers, records, query.epsilon, size)
        agree(result.value, float(exact.mid()), "estimate", where)
        agree(result.share, result.value / records, "share", where)
        _check_interval(result, Evidence(result.answers, records, query.epsilon, size), where)
    columns_of = {step.evidence.query.name: step.evidence.query.column for step in steps}
    by_column: dict[str, list[int]] = {}
    for name, answers in seen.items():
        agree(sum(answers), records, "number of answers", f"result: {name}")
        known = by_column.setdefault(columns_of[name], answers)
        agree(answers, known, "answers of the same column", f"result: {name}")


def _check_interval(result: CollectedResult, evidence: Evidence, where: str) -> None:
    """The interval leaves out just what is implausible, at either end."""
    low, high, records = result.between.low, result.between.high, evidence.records
    allowed = (1 - Fraction(result.between.confidence)) / 2
    require(low <= high <= records, "its interval holds no number of records", where)
    fits = (low == 0 or evidence.too_few(low - 1, allowed)) and (
        high == records or evidence.too_many(high + 1, allowed)
    )
    require(fits, "its interval is too narrow", where)
    wider = (low < high and evidence.too_few(low, allowed)) or (
        low < high and evidence.too_many(high, allowed)
    )
    require(not wider, "its interval is wider than the answers allow", where)
