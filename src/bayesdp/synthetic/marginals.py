"""Released counts as sums over the combinations of their columns' atoms.

A count, a proportion or a histogram, also by groups and under a condition, is a *marginal*: each of
its numbers is the noisy number of rows in some combinations of atoms, and no combination belongs to
two of them. Averages say over how many rows they are, which is a marginal too, without noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.errors import UnsupportedError, first_names, unknown_name
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.columns import Columns
from bayesdp.statements.conditions import Comparison, ConditionTree, columns_of, holds
from bayesdp.statements.queries import FoundGroupsQuery, TableQuery, column_names
from bayesdp.statements.results import NumberResult
from bayesdp.statements.spends import LAPLACE
from bayesdp.synthetic.attributes import (
    Attribute,
    NotReadableError,
    Uses,
    bin_of,
    condition_on,
    source_of,
    value_of,
)

COUNTED = ("count", "proportion", "histogram")
MOST_COMBINATIONS = 1_000_000
"""The most combinations of atoms of the columns of one query."""

EXACT_SHARE = 0.5
"""A public number of rows counts as if its noise were this share of the least noise there is."""


@dataclass(frozen=True)
class ReleasedMarginal:
    """The released numbers of a query as numbers of rows.

    `clique` has the positions of its attributes, and `shape` how many atoms each has. `places` says
    for each combination of atoms, the last attribute fastest, which of the `counts` it belongs to,
    or -1. `deviations` are the standard deviations of their noise, in rows: 0 for public numbers.
    `errors` are the errors that the release states, at the confidence of the query.
    """

    release: str
    query: str
    clique: tuple[int, ...]
    shape: tuple[int, ...]
    places: Ints
    counts: Floats
    deviations: Floats
    errors: Floats


@dataclass(frozen=True)
class UnusedQuery:
    """A query whose numbers a synthetic table does not use, and why."""

    release: str
    query: str
    why: str


@dataclass(frozen=True)
class ReleasedMarginals:
    """All attributes and marginals of some releases, and the queries that are not among them."""

    attributes: tuple[Attribute, ...]
    marginals: tuple[ReleasedMarginal, ...]
    unused: tuple[UnusedQuery, ...]

    def apart(self) -> list[tuple[str, str]]:
        """The pairs of columns that no used query reads together."""
        together = {pair for m in self.marginals for pair in combinations(sorted(m.clique), 2)}
        pairs = combinations(range(len(self.attributes)), 2)
        names = [attribute.name for attribute in self.attributes]
        return [(names[a], names[b]) for a, b in pairs if (a, b) not in together]


@dataclass(frozen=True)
class _Source:
    """A query that may be used: its release, itself, and its condition as far as it narrows."""

    release: ReleaseCertificate
    query: TableQuery
    narrowed: ConditionTree | None
    sizes: bool = False  # whether the numbers are the public ones of rows

    @property
    def named(self) -> tuple[str, ...]:
        """The columns whose states tell its numbers apart, groups first."""
        by = column_names(self.query.by)
        return by if self.sizes else (*by, *column_names(self.query.column))

    def read(self) -> set[str]:
        """The columns that it reads."""
        narrowed = columns_of(self.narrowed) if self.narrowed is not None else frozenset()
        return {*self.named, *narrowed}


def released_marginals(
    releases: Sequence[ReleaseCertificate], columns: Columns, without: Sequence[str] = ()
) -> ReleasedMarginals:
    """The marginals of verified releases, over the fewest atoms that tell their numbers apart.

    Queries named in `without` are left out. Raises `UnknownNameError` for names that no query has,
    and `UnsupportedError` where no query is left whose numbers are counts.
    """
    sources, unused = _sources(releases, columns, without)
    read: dict[str, Attribute] = {}
    while True:  # a query that is left out may leave fewer atoms
        uses = _uses(sources, columns)
        kept = []
        for source in sources:
            names = sorted({source_of(name, columns) for name in source.read()})
            try:
                read |= {name: uses.attribute(name) for name in names}
                _check_size([read[name] for name in names])
                kept.append(source)
            except NotReadableError as error:
                if not source.sizes:
                    query = source.query.name
                    unused.append(UnusedQuery(source.release.release, query, str(error)))
        if len(kept) == len(sources):
            break
        sources, read = kept, {}
    if all(source.sizes for source in sources):
        raise UnsupportedError(
            "releases",
            expected="a release with counts, proportions or histograms",
            remedy=_why_none(unused, without),
            shown=False,
        )
    attributes = tuple(read[name] for name in columns_in_order(read, columns))
    marginals = tuple(_marginal(source, attributes, columns) for source in sources)
    return ReleasedMarginals(attributes, marginals, tuple(unused))


def _why_none(unused: Sequence[UnusedQuery], without: Sequence[str]) -> str:
    """Why no query is used: those that somebody left out are not the reason, if others are."""
    others = [query for query in unused if query.query not in without] or unused
    return first_names([f"{query.query}: {query.why}" for query in others]) + "."


def columns_in_order(read: dict[str, Attribute], columns: Columns) -> list[str]:
    """The columns of the table that are read, in the order in which they are declared."""
    return list(dict.fromkeys(s for name in columns if (s := source_of(name, columns)) in read))


def _sources(
    releases: Sequence[ReleaseCertificate], columns: Columns, without: Sequence[str]
) -> tuple[list[_Source], list[UnusedQuery]]:
    sources, unused = list[_Source](), list[UnusedQuery]()
    known = {
        step.evidence.query.name
        for release in releases
        for step in release.derivation.composition.premises
    }
    for name in without:
        if name not in known:
            raise unknown_name("without", name, known)
    for release in releases:
        for step in release.derivation.composition.premises:
            query = step.evidence.query
            if query.name in without:
                unused.append(
                    UnusedQuery(release.release, query.name, "it was left out on request")
                )
                continue
            if not isinstance(query, TableQuery):
                why = (
                    "which groups it shows depends on noise"
                    if isinstance(query, FoundGroupsQuery)
                    else "what a program releases is not a number of rows"
                )
                unused.append(UnusedQuery(release.release, query.name, why))
                continue
            tree = None if query.where is None else condition_on(query.where, columns)
            if query.kind in COUNTED:
                sources.append(_Source(release, query, tree))
            else:
                why = f"a {query.kind} is not a number of rows"
                unused.append(UnusedQuery(release.release, query.name, why))
            if any(getattr(result, "rows", None) for result in _results(release, query)):
                narrowed = None if query.kind == "proportion" else tree
                sizes = _Source(release, query, narrowed, sizes=True)
                if sizes.read():
                    sources.append(sizes)
    return sources, unused


def _results(release: ReleaseCertificate, query: TableQuery) -> list[Any]:
    return [result for result in release.results if result.query == query.name]


def _uses(sources: Sequence[_Source], columns: Columns) -> Uses:
    uses = Uses(columns)
    for source in sources:
        for name in source.named:
            if source.query.bins is None or name != source.query.column:
                uses.column(name)
            else:
                uses.bins(name, source.query.bins)
        if source.narrowed is not None:
            uses.condition(source.narrowed)
    return uses


def _check_size(attributes: Sequence[Attribute]) -> None:
    size = math.prod(map(len, attributes))
    if size > MOST_COMBINATIONS:
        names = " x ".join(attribute.name for attribute in attributes)
        raise NotReadableError(f"{names} have {size} combinations, above {MOST_COMBINATIONS}")


def _marginal(
    source: _Source, attributes: Sequence[Attribute], columns: Columns
) -> ReleasedMarginal:
    names = {source_of(name, columns) for name in source.read()}
    clique = tuple(i for i, attribute in enumerate(attributes) if attribute.name in names)
    own = [attributes[i] for i in clique]
    grid = _Grid(own, columns)
    places = np.zeros(grid.shape, dtype=np.int64)
    parts = 1
    for name in source.named:
        codes, size = grid.codes(source.query, name)
        places = places * size + codes
        parts *= size
    if source.narrowed is not None:
        places = np.where(grid.holds(source.narrowed), places, -1)
    counts, deviations, errors = _numbers(source)
    assert len(counts) == parts, "the kernel has checked that each group and cell has its result"
    return ReleasedMarginal(
        release=source.release.release,
        query=source.query.name,
        clique=clique,
        shape=grid.shape,
        places=np.broadcast_to(places, grid.shape).ravel(),
        counts=counts,
        deviations=deviations,
        errors=errors,
    )


class _Grid:
    """All combinations of the atoms of some attributes: arrays with an axis for each."""

    def __init__(self, attributes: Sequence[Attribute], columns: Columns) -> None:
        self.attributes, self.columns = attributes, columns
        self.shape = tuple(map(len, attributes))

    def along(self, name: str, outcomes: Sequence[Any]) -> Any:
        """An array that has these outcomes along the axis of the column of the table `name`."""
        axis = [attribute.name for attribute in self.attributes].index(name)
        shape = [1] * len(self.shape)
        shape[axis] = len(outcomes)
        return np.asarray(outcomes).reshape(shape)

    def values(self, name: str) -> tuple[str, list[Any]]:
        """The column of the table that a column is of, and its own value in each atom of that."""
        source = source_of(name, self.columns)
        (attribute,) = (item for item in self.attributes if item.name == source)
        return source, [value_of(name, value, self.columns) for value in attribute.values]

    def codes(self, query: TableQuery, name: str) -> tuple[Any, int]:
        """Which state or bin of a column each combination has, and how many there are."""
        source, values = self.values(name)
        if query.bins is not None and name == query.column:
            edges = query.bins
            return self.along(source, [bin_of(float(v), edges) for v in values]), len(edges) - 1
        levels = list(self.columns[name].levels or ())
        positions = {level: i for i, level in enumerate(levels)}
        return self.along(source, [positions[value] for value in values]), len(levels)

    def holds(self, tree: ConditionTree) -> Any:
        """Whether a condition holds, for each combination."""
        if isinstance(tree, Comparison):
            source, values = self.values(tree.column)
            return self.along(source, [holds(tree, {tree.column: value}) for value in values])
        parts = [self.holds(part) for part in tree.parts]
        if tree.how == "not":
            return ~parts[0]
        joined = parts[0]
        for part in parts[1:]:
            joined = joined & part if tree.how == "and" else joined | part
        return joined


def _numbers(source: _Source) -> tuple[Floats, Floats, Floats]:
    """Counts of rows, the standard deviations of their noise, and their stated errors."""
    results: list[NumberResult] = _results(source.release, source.query)
    if source.sizes:  # a regression has several numbers over the rows of a group
        sizes = np.array([float(n) for n in {r.group: r.rows or 1 for r in results}.values()])
        return sizes, np.zeros(len(sizes)), np.zeros(len(sizes))
    rows = np.array([float(result.rows or 1) for result in results])
    values = np.array([result.value for result in results])
    deviations = np.array([deviation(result) for result in results])
    errors = np.array([result.error.value for result in results])
    return values * rows, deviations * rows, errors * rows


def deviation(result: NumberResult) -> float:
    """The standard deviation of a released number's noise, in its unit.

    Discrete Laplace noise of scale `s` has the variance `2 q / (1 - q)^2` with `q = exp(-1 / s)`,
    in squared steps; that of discrete Gaussian noise is at most the square of its scale (Canonne,
    Kamath and Steinke, 2020, corollary 9).
    """
    noise = result.noise
    if noise.distribution == LAPLACE:
        rest = -math.expm1(-1.0 / noise.scale)
        steps = math.sqrt(2.0 * math.exp(-1.0 / noise.scale)) / rest
    else:
        steps = noise.scale
    return steps * noise.step
