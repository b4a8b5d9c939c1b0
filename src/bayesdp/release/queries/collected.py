"""Queries of perturbed answers: randomized response at collection, read and priced.

Every answer was perturbed before anybody saw it, so that the table holds none that is true for
sure. What was paid then is the whole cost: all that is computed from the answers is post-processing
(theory 2.9). It is booked with the first release that reads them, and counts once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from statistics import NormalDist
from typing import Any

from bayesdp.accounting.costs.spend import Spend
from bayesdp.errors import InputError, UnsupportedError, inner_probability, toml_text
from bayesdp.kernel.costs.collected import MOST_EFFORT, Evidence, estimate
from bayesdp.numbers import UpperBound
from bayesdp.populations.support import supports
from bayesdp.release.spec.column_labels import covered, label, labels
from bayesdp.release.spec.parts import CAPS, OF_QUANTILES, QuerySpec, refuse_keys
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.columns import Value
from bayesdp.statements.queries import MOST_COLLECTED, RANDOMIZED_RESPONSE, column_names
from bayesdp.statements.spends import COLLECTED
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.query import HistogramQuery


@dataclass(frozen=True, slots=True)
class CollectedAnswers:
    """How many of all `records` gave this answer, and how all answers were perturbed.

    `states` is how many states there are, and `dp_epsilon` what collection cost each record, in
    nats.
    """

    answers: int
    records: int
    states: int
    dp_epsilon: float

    @property
    def estimate(self) -> float:
        """The unbiased number of records that hold the state; it may leave [0, records]."""
        return float(estimate(self.answers, self.records, self.dp_epsilon, self.states).mid())

    def interval(self, confidence: float) -> tuple[int, int]:
        """Between which whole numbers the number of records lies, with this probability at least.

        The ends are those that the kernel proves: the closest to each other with less than half of
        what `confidence` leaves beyond either. Raises `InputError` unless `confidence` lies between
        0 and 1.
        """
        inner_probability("confidence", confidence)
        return _interval(self, confidence)

    def guess(self, allowed: Fraction, side: int) -> int:
        """About where the interval ends, by a normal law.

        Half of what the confidence leaves is `allowed`; `side` is -1 for the lower end, else 1.
        """
        odds = math.exp(self.dp_epsilon)
        kept, other = odds / (odds + self.states - 1), 1.0 / (odds + self.states - 1)
        share = min(max(self.estimate / self.records, 0.0), 1.0)
        spread = share * kept * (1 - kept) + (1 - share) * other * (1 - other)
        times = -NormalDist().inv_cdf(max(float(allowed), 1e-300))
        reach = times * math.sqrt(self.records * spread) / (kept - other)
        return min(max(round(self.estimate + side * reach), 0), self.records)


NO_ANSWERS = CollectedAnswers(0, 1, 2, 1.0)


@lru_cache(maxsize=4096)
def _interval(given: CollectedAnswers, confidence: float) -> tuple[int, int]:
    """The interval, which results ask for several times."""
    evidence = Evidence(given.answers, given.records, given.dp_epsilon, given.states)
    allowed, n = (1 - Fraction(confidence)) / 2, given.records
    low = _first(lambda count: not evidence.too_few(count, allowed), n, given.guess(allowed, -1))
    high = n - _first(
        lambda count: not evidence.too_many(n - count, allowed), n, n - given.guess(allowed, 1)
    )
    return min(low, high), max(low, high)


def _first(holds: Callable[[int], bool], last: int, guess: int) -> int:
    """The least number up to `last` for which it holds, as it does for all larger ones.

    The search begins at the `guess`, and strides away from it twice as far each time.
    """
    stride, low, high = 1, -1, last
    at = min(max(guess, 0), last)
    while low + 1 < high:
        if holds(at):
            high, at = at, max(at - stride, low + 1)
        else:
            low, at = at, min(at + stride, high - 1)
        stride *= 2
        if low >= 0 and high < last:
            break
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class PlannedCollected:
    """A query of perturbed answers: the column, its states, and the spend of their collection."""

    spec: QuerySpec
    column: Column
    states: tuple[Value, ...]
    spend: Spend

    def __str__(self) -> str:
        return f"{self.spec.name}: {self.words()}"

    @property
    def dp_epsilon(self) -> float:
        """What collection cost each record, in nats."""
        return self.spend.dp_epsilon

    def words(self) -> str:
        """How the answers were collected, and that this is the whole cost."""
        return (
            f"answers in '{self.column.name}', perturbed at collection (epsilon "
            f"{self.dp_epsilon:g}, counted once)"
        )

    def error(self, n: int | None) -> float | None:
        """About the error of each count at the query's confidence; `None` without `n`.

        In records, at the number of holders for which it is largest, by a normal law. What a
        release shows is the interval that the kernel proves.
        """
        if n is None:
            return None
        odds, others = math.exp(self.dp_epsilon), len(self.states) - 1
        kept, other = odds / (odds + others), 1.0 / (odds + others)
        spread = max(kept * (1 - kept), other * (1 - other))
        times = NormalDist().inv_cdf(0.5 + self.spec.confidence / 2)
        return min(times * math.sqrt(n * spread) / (kept - other), float(n))

    def table_query(self) -> HistogramQuery:
        """The integers that the data engine computes: how many answers name each state."""
        return HistogramQuery(self.spec.name, self.column.name)

    def describe(self) -> dict[str, Any]:
        """The query as plain data, for `check --json` and certificates."""
        return {
            "name": self.spec.name,
            "kind": RANDOMIZED_RESPONSE,
            "column": self.column.name,
            "epsilon": self.dp_epsilon,
        }


def check_collected_keys(query: QuerySpec, key: str) -> None:
    """`InputError` for keys that a query of perturbed answers doesn't have, or lacks."""
    if query.kind != RANDOMIZED_RESPONSE:
        refuse_keys(
            query,
            ("epsilon",),
            key,
            expected=f'only on a query of kind = "{RANDOMIZED_RESPONSE}"',
            remedy="Leave epsilon out: a weight or a wanted error says what a query spends.",
        )
        return
    refuse_keys(
        query,
        ("weight", "error"),
        key,
        expected="nothing on perturbed answers, whose cost was paid when they were collected",
        remedy="The other queries share what it leaves of the budget.",
    )
    refuse_keys(
        query,
        ("where", "by", "bins", "group_sizes", *OF_QUANTILES, *CAPS),
        key,
        expected="nothing on perturbed answers: all records' are counted",
    )
    if query.tightness != "dp":
        raise InputError(f"{key}.tightness", query.tightness, expected='"dp", or nothing')
    if query.epsilon is None:
        raise InputError(
            f"{key}.epsilon",
            expected="the epsilon with which every answer was perturbed, in nats",
            remedy="It is the dp_epsilon that collect was given when the answers were collected.",
            shown=False,
        )
    if not query.epsilon <= MOST_COLLECTED:
        raise InputError(
            f"{key}.epsilon",
            query.epsilon,
            expected=f"at most {MOST_COLLECTED:g} nats",
            remedy="With more no answer is ever another one: count them with noise instead.",
        )


def plan_collected(
    study: StudySpec, n: int | None, of_programs: Collection[str] = ()
) -> tuple[PlannedCollected, ...]:
    """The study's queries of perturbed answers, with the spend of their collection.

    `n` is the number of records, where it is known, and `of_programs` are the columns that the
    study's programs read. Raises `InputError` for a query that can't be
    asked, and `UnsupportedError` for what is not supported.
    """
    made: list[PlannedCollected] = []
    for position, query in enumerate(study.queries):
        if query.kind == RANDOMIZED_RESPONSE:
            made.append(_planned(study, query, study.query_key(position), n))
    for place, planned in enumerate(made):
        for earlier in made[:place]:
            same = earlier.column.name == planned.column.name
            if same and earlier.dp_epsilon != planned.dp_epsilon:
                raise InputError(
                    f"{study.query_key(study.queries.index(planned.spec))}.epsilon",
                    planned.dp_epsilon,
                    expected=f"{earlier.dp_epsilon:g}, as '{earlier.spec.name}' says of the same "
                    "answers",
                    remedy="Every answer was perturbed once: write the epsilon of collection.",
                )
    _check_others(study, made, of_programs)
    return tuple(made)


def _planned(study: StudySpec, query: QuerySpec, key: str, n: int | None) -> PlannedCollected:
    if study.data.unit != "row":
        raise UnsupportedError(
            "data.unit",
            study.data.unit,
            expected='"row" in a study of perturbed answers: each record has given one',
            remedy="Make a table with one row, and one answer, for each record.",
        )
    column = _column(study, query, key)
    states = column.levels or ()
    if n is not None and len(states) ** 2 * n > MOST_EFFORT**2:
        most = isqrt(MOST_EFFORT**2 // n)
        raise UnsupportedError(
            f"{key}.column",
            column.name,
            expected=f"at most {most} states of {n} records: the kernel computes the law of the "
            "answers for each",
            remedy="Collect fewer states, or count answers of parts of the records.",
        )
    reads = labels(study, {column.name}, key, {column.name: "column"})
    assert query.epsilon is not None
    spend = Spend(
        dataset=study.data.dataset,
        unit=study.data.protected_unit,
        people=study.data.people,
        query=query.name,
        kind="any",
        dp_epsilon=UpperBound(query.epsilon),
        column=label(column),
        mechanism=COLLECTED,
        reads=reads,
    )
    return PlannedCollected(query, column, states, spend)


def _column(study: StudySpec, query: QuerySpec, key: str) -> Column:
    """The column of answers: private, with states of which each can be answered."""
    column = study.columns.get(query.column) if isinstance(query.column, str) else None
    if column is None or not column.is_private or column.states is None:
        shown = list(query.column) if isinstance(query.column, tuple) else query.column
        raise InputError(
            f"{key}.column",
            shown,
            shown=shown is not None,
            expected="the private column of answers, with the states that could be answered",
            remedy='Write below [data.columns], for example: smokes = { states = ["no", "yes"] }.',
        )
    if column.imputed is not None or column.other is not None:
        what = "missing" if column.imputed is not None else "other"
        raise InputError(
            f"data.columns.{column.name}.{what}",
            expected="nothing on a column of perturbed answers: its cells are what was answered, "
            "and no rule may change them",
            remedy="Leave it out. A record that did not answer has no row.",
            shown=False,
        )
    if len(column.states) < 2:
        raise InputError(
            f"data.columns.{column.name}.states",
            list(column.states),
            expected="at least two states",
            remedy="An answer that can only be the same says nothing.",
        )
    population = study.population
    if population is not None and column.name in covered(study) and supports(population):
        raise UnsupportedError(
            f"{key}.column",
            column.name,
            expected="a column of which the population rules nothing out: perturbed answers may be "
            "values that true ones never are, and a table with them would be refused",
            remedy="Give every value a probability above 0, however small.",
        )
    return column


def _check_others(
    study: StudySpec, collected: Sequence[PlannedCollected], of_programs: Collection[str]
) -> None:
    """No other query reads perturbed answers as if they were true."""
    perturbed = {planned.column.name for planned in collected}
    for position, query in enumerate(study.queries):
        if query.kind == RANDOMIZED_RESPONSE:
            continue
        key = study.query_key(position)
        read = set(of_programs) if query.kind == "program" else _read(study, query, key)
        for name in sorted(perturbed & read):
            raise InputError(
                key,
                query.name,
                expected=f"a query that doesn't read '{name}', whose cells are perturbed answers",
                remedy=f"Ask for them with kind = {toml_text(RANDOMIZED_RESPONSE)}.",
            )


def _read(study: StudySpec, query: QuerySpec, key: str) -> set[str]:
    """The columns that a query names, and those that these are derived from."""
    named = {*query.value_columns, *column_names(query.by), *column_names(query.weighted_by)}
    if query.where is not None:
        named |= set(Predicate.parse(query.where, study.columns, key=f"{key}.where").columns)
    return named | {
        column.source for name in named if (column := study.columns.get(name)) and column.source
    }
