"""What an attacker of a study tries to tell apart: pairs of hypotheses about one record.

*One record, all others known*: two tables that differ in one record. Contents are tried in pairs,
and the one that moves the integers of the release furthest is attacked, which no noise has to be
drawn for. This is what DP bounds, and every class of adversaries but `uninformed` has it.

*One record, the others not known*: the record has the one value or the other, and those that depend
on it are drawn from the population given that value, anew for each release. Which records are known
besides, and how, is part of the hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from bayesdp.arrays import Ints
from bayesdp.audit.contents import Content, DeclaredRecords, MadeRow, RowCells
from bayesdp.audit.draws import Rng, draw_normal, draw_states
from bayesdp.audit.laws import Evidence, law_of_sum
from bayesdp.audit.models import AttackedLaw, ChainLaw, law_of
from bayesdp.audit.normal import covariance_of
from bayesdp.audit.tables import Databases, MadeUp, distance
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    Independent,
    MarkovChain,
    Network,
    Population,
    Tree,
    Unknown,
)

MOST_GROUPED = 48
"""The most records of a series or cluster that are made up; of a longer one it is the beginning."""

MOST_JOINT = 200
"""The most records of a tree or graph, all of which are made up."""

MOST_PAIRS = 5
"""The most pairs of contents of one record that are attacked."""

MOST_SEVERAL = 40
"""The most contents of records of several rows that are tried."""


@dataclass(frozen=True)
class Hypotheses:
    """Two hypotheses, and how tables are made up under each: so many, from a generator."""

    words: str
    first: Callable[[int, Rng], Databases]
    second: Callable[[int, Rng], Databases]


def hypotheses(made: MadeUp, population: Population | None, rng: Rng) -> list[Hypotheses]:
    """The pairs that an attacker of the study may try, under its `population`.

    `made` makes up tables, and `rng` draws contents to try. Raises `UnsupportedError` for
    populations that can't be attacked.
    """
    budget = made.declared.spec.budget
    dp_only = population is None or budget.notion == "dp"
    members = [] if population is None or dp_only else _members(population)
    pairs: list[Hypotheses] = []
    independent = all(isinstance(member, Independent) for member in members)
    if dp_only or budget.adversary != "uninformed" or independent:
        pairs += _informed(made, members, rng)
    if budget.adversary != "informed":
        for member in members:
            pairs += _dependent(made, member, rng)
    return pairs


def _members(population: Population) -> list[Population]:
    """The population, or the members of a family, about the columns that it covers."""
    if not isinstance(population, Family):
        return [population]
    covers = {"covers": population.covers}
    return [member.model_copy(update=covers) for member in population.members]


# -- one record, all others known ------------------------------------------------------------------


def _informed(made: MadeUp, members: list[Population], rng: Rng) -> Iterator[Hypotheses]:
    inside = frozenset[str]()
    bounded = made.declared.spec.budget.secrets == "bounded"
    for member in members:
        if bounded and isinstance(member, Gaussian | Autoregressive):
            cells = {made.declared.spec.columns[name].cells[0] for name in member.covers}
            inside = inside | cells
    contents = _contents(made.declared, rng, inside)
    finite = MarkovChain | Finite | Tree | Graph | Network
    law = next((member for member in members if isinstance(member, finite)), None)
    if law is not None:
        contents = [(MadeRow(cells),) for cells in _possible(made.declared, law)]
    for pair in _furthest(made, contents, 1):
        yield _fixed(made, "one record has one value or another, all others are known", pair, 1)


def _possible(declared: DeclaredRecords, population: Population) -> list[RowCells]:
    """A row for each state that the first record of a group may have."""
    law = law_of(population, records=1)
    nothing = [np.zeros(size, dtype=np.int64) for size in law.sizes]
    prior = law_of_sum(law, 0, Evidence([np.ones(size) for size in law.sizes], nothing)).prior
    rows = declared.of_states(population.covers)
    return [cells for cells, mass in zip(rows, prior.tolist(), strict=True) if mass > 0.0]


def _contents(declared: DeclaredRecords, rng: Rng, inside: frozenset[str]) -> list[Content]:
    """Contents of a record to try: a row each, or several rows that are alike or at random."""
    rows, data = declared.rows(rng, inside=inside), declared.spec.data
    if data.unit == "row":
        return [(MadeRow(cells),) for cells in rows]
    most = data.rows_per_unit or (data.max_rows or 1) + 2
    sizes = [most] if data.balanced else sorted({1, most})
    contents: list[Content] = []
    for cells in rows[: MOST_SEVERAL // 2]:
        contents += [tuple(MadeRow(cells, 0) for _ in range(size)) for size in sizes]
    while len(contents) < 2 * MOST_SEVERAL:
        size = sizes[int(rng.integers(len(sizes)))]
        alike = rng.random() < 0.5
        cells = rows[int(rng.integers(len(rows)))]
        place = int(rng.integers(len(declared.places)))
        contents.append(
            tuple(
                MadeRow(
                    cells if alike else rows[int(rng.integers(len(rows)))],
                    place if rng.random() < 0.5 else int(rng.integers(len(declared.places))),
                )
                for _ in range(size)
            )
        )
    return contents


def _furthest(made: MadeUp, contents: list[Content], copies: int) -> list[tuple[Content, Content]]:
    """Pairs of contents whose tables are far apart, if `copies` records have them.

    The furthest of all; and for each query, as far as `MOST_PAIRS` goes, the pair that moves it
    most and the others least: noise that queries share shows there.
    """
    if len(contents) < 2:
        return []
    filler, queries = _filler(made.declared), made.plan.queries
    slots = [[i + 1] * copies + [0] * len(made.fillers) for i in range(len(contents))]
    tables = Databases((filler, *contents), np.array(slots), copies)
    totals = made.exact(tables).totals
    places = list(combinations(range(len(contents)), 2))
    apart = np.array(
        [
            [distance(query, rows[i], rows[j]) for i, j in places]
            for query, rows in zip(queries, totals, strict=True)
        ]
    )
    whole = apart.sum(axis=0)
    best = [int(whole.argmax())]
    if len(queries) > 1:
        largest = np.maximum(apart.max(axis=1, keepdims=True), 1e-300)
        share = apart / largest
        alone = 2.0 * share - share.sum(axis=0)
        best += [int(row.argmax()) for row in alone[: MOST_PAIRS - 1]]
    return [
        (contents[places[at][0]], contents[places[at][1]])
        for at in dict.fromkeys(best)
        if whole[at] > 0.0
    ]


def _filler(declared: DeclaredRecords) -> Content:
    """An ordinary record of the rows that every record has, or of one row."""
    data = declared.spec.data
    size = data.rows_per_unit if data.balanced and data.rows_per_unit else 1
    return tuple(MadeRow(declared.first()) for _ in range(size))


def _fixed(made: MadeUp, words: str, pair: tuple[Content, Content], copies: int) -> Hypotheses:
    filler = _filler(made.declared)
    contents = (filler, *pair)

    def side(content: int) -> Callable[[int, Rng], Databases]:
        row = np.array([content] * copies + [0] * len(made.fillers))
        return lambda count, _: Databases(contents, np.tile(row, (count, 1)), copies)

    return Hypotheses(words, side(1), side(2))


# -- one record, the others drawn from the population ----------------------------------------------


def _dependent(made: MadeUp, population: Population, rng: Rng) -> Iterator[Hypotheses]:
    if isinstance(population, Independent) or population.group_size == 1:
        return
    if isinstance(population, Clusters | Unknown):
        size = min(population.group_size, MOST_GROUPED)
        for pair in _furthest(made, _contents(made.declared, rng, frozenset()), size)[:1]:
            yield _fixed(made, f"the {size} records of a group are copies of one", pair, size)
        return
    if isinstance(population, Gaussian | Autoregressive):
        yield from _normal(made, population)
        return
    yield from _finite(made, population)


def _finite(made: MadeUp, population: Population) -> Iterator[Hypotheses]:
    declared = made.declared
    if getattr(population, "complete", False) and population.group_size > MOST_GROUPED:
        raise UnsupportedError(
            "population.length",
            population.group_size,
            expected=f"at most {MOST_GROUPED} records of a complete series, to attack one",
            remedy="Attack a shorter series.",
        )
    law = law_of(population, records=MOST_GROUPED)
    rows = declared.of_states(population.covers)
    if set(law.sizes) != {len(rows)}:
        raise UnsupportedError(
            "population.covers", list(population.covers), expected="the states of every record"
        )
    size = len(law.sizes)
    if size > MOST_JOINT:
        raise UnsupportedError(
            "population",
            f"{size} records",
            expected=f"at most {MOST_JOINT} records that depend on each other, to attack a study",
            remedy="Audit the same queries on a part of the population.",
        )
    contents: tuple[Content, ...] = (_filler(declared), *((MadeRow(cells),) for cells in rows))
    budget = declared.spec.budget
    attacked = range(size) if size <= 4 else sorted({0, size // 2, size - 1})
    for record in attacked:
        knowing: list[dict[int, int]] = [{}]
        if budget.adversary == "any" and isinstance(law, ChainLaw) and size > 2:
            around = {j for j in (record - 3, record + 3) if 0 <= j < size}
            knowing += (
                [dict.fromkeys(around, state) for state in range(len(rows))] if around else []
            )
        for known in knowing:
            for value, other in permutations(range(len(rows)), 2):
                if value > other:
                    continue
                pair = []
                for state in (value, other):
                    known_states = known | {record: state}
                    try:
                        draw_states(law, 1, known_states, np.random.default_rng(0))
                    except InputError:
                        break  # it can't be
                    pair.append(_drawn(made, contents, law, known_states))
                if len(pair) == 2:
                    words = f"record {record + 1} of {size} that depend on each other"
                    words += f", {len(known)} of them known" if known else ", none of them known"
                    yield Hypotheses(f"{words}: state {value} or {other}", *pair)


def _drawn(
    made: MadeUp, contents: tuple[Content, ...], law: AttackedLaw, known_states: dict[int, int]
) -> Callable[[int, Rng], Databases]:
    def side(count: int, rng: Rng) -> Databases:
        states = draw_states(law, count, known_states, rng) + 1
        fillers = np.zeros((count, len(made.fillers)), dtype=np.int64)
        return Databases(contents, np.concatenate([states, fillers], axis=1), states.shape[1])

    return side


def _normal(made: MadeUp, population: Gaussian | Autoregressive) -> Iterator[Hypotheses]:
    declared = made.declared
    covariance = covariance_of(population, records=MOST_GROUPED)
    if len(population.covers) != 1:
        raise UnsupportedError(
            "population.covers",
            list(population.covers),
            expected="one column, to draw Gaussian records",
            remedy="Audit the same queries about one of the columns.",
        )
    (name,) = population.covers
    low, high = declared.spec.columns[name].bounds or (0.0, 1.0)
    if isinstance(population, Autoregressive) or population.max_correlation is not None:
        covariance = covariance * ((high - low) / 8.0) ** 2  # equal variances, of any size
    size, middle = len(covariance), (low + high) / 2.0
    filler, cell = _filler(declared), declared.spec.columns[name].cells[0]
    for record in sorted({0, size // 2}):

        def side(secret: float, record: int = record) -> Callable[[int, Rng], Databases]:
            def make(count: int, rng: Rng) -> Databases:
                drawn = middle + draw_normal(covariance, count, {record: secret - middle}, rng)
                slots: Ints = np.zeros((count, size + len(made.fillers)), dtype=np.int64)
                return Databases((filler,), slots, size, cell, drawn)

            return make

        words = f"record {record + 1} of {size} that depend on each other, none of them known"
        yield Hypotheses(f"{words}: {low:g} or {high:g}", side(low), side(high))
