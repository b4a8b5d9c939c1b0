"""Joint laws of small clusters from public or past data, with bounds on every cell.

The model: clusters are independent and have one law, that of `m` records over a few states; by role
(index case, contact), or exchangeable: the law doesn't change where records trade places.

Each cell of the law, of exchangeable records each kind of cluster (how many records are in which
state), is counted as the transitions of `regions` are, clusters in place of transitions: the bounds
hold all of them at once with the stated confidence, for every number of clusters. What is declared
is the `family` of those laws between the bounds that have the largest levels (`boxes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting.boxes import largest_laws, number_of_laws
from bayesdp.fitting.comparing import FitCheck
from bayesdp.fitting.numbers_of import (
    Numbers,
    check_columns,
    check_confidence,
    confidence_words,
    known,
    known_key,
    public_data,
    refuse_unreadable,
    require_column,
)
from bayesdp.fitting.regions import Counts, probability_interval
from bayesdp.fitting.states import States, read_states
from bayesdp.populations import Family, Finite
from bayesdp.populations.base import NO_ALLOWANCE
from bayesdp.statements.columns import Value
from bayesdp.tables.cells.stored import key_of
from bayesdp.tables.literals import literal
from bayesdp.tables.source import Table, open_table

MOST_CELLS = 3000
"""A family of laws with more cells, all together, is not declared: levels would take minutes."""

MOST_SIZE = 8
"""Larger clusters are not fitted cell by cell."""


@dataclass(frozen=True, eq=False)
class FiniteFit:
    """A joint law of clusters: its estimate and bounds, and the population that holds the truth.

    `states` are the values of the states 0, 1, ... `counts` says in how many clusters each cell
    occurred, an axis for each record; of exchangeable records (`roles` is `None`) the states of a
    cluster are sorted, so that other orders have the count 0. `law` is the most likely law, `lower`
    and `upper` hold each cell of the true one (`None` for a point). `clusters` were used;
    `incomplete` ones have a missing cell or lack a role, `others` have another size, and `nameless`
    rows belong to no cluster. `sizes` says how many clusters have so many rows (empty with roles).
    """

    population: Family | Finite
    states: tuple[Value, ...]
    roles: tuple[str, ...] | None
    counts: Counts
    law: Numbers
    lower: Numbers | None
    upper: Numbers | None
    confidence: float | None
    clusters: int
    incomplete: int
    others: int
    nameless: int
    sizes: Mapping[int, int] = field(default_factory=dict)

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """What was counted and is assumed, in words."""
        return tuple(self._checks())

    def _checks(self) -> Iterator[FitCheck]:
        kinds = _kinds(self.law.shape[0], self.law.ndim, self.roles is None)
        alike = (
            "" if self.roles else ", and that its records are equal in rank (no roles, no order)"
        )
        text = (
            f"{self.clusters} clusters of {self.law.ndim} records were counted. That clusters are "
            f"independent and have one law{alike}, is assumed."
        )
        yield FitCheck("law", text)
        if self.confidence is None:
            text = f"The population has the most likely law, {NO_ALLOWANCE}."
            yield FitCheck("bounds", text, fits=False)
        unseen = sum(self.counts[kind] == 0 for kind in kinds)
        if unseen and self.confidence is not None:
            kind = "kind of cluster" if self.roles is None else "cell"
            kinds_of = "kinds of cluster" if self.roles is None else "cells"
            subject = f"1 {kind} was" if unseen == 1 else f"{unseen} {kinds_of} were"
            text = (
                f"{subject} never seen, and may be impossible or rare: levels are the higher for "
                "it. Put states together that are rare."
            )
            yield FitCheck("unseen cells", text, fits=False)
        for number, what, why in (
            (self.incomplete, "clusters", "lack a value, or a role"),
            (self.others, "clusters", f"have another size than {self.law.ndim}"),
            (self.nameless, "rows", "belong to no cluster"),
        ):
            if number:
                text = (
                    f"{number} {what} {why} and were left out, as if that did not depend on values."
                )
                yield FitCheck("left out", text)
        if self.others:
            yield self._other_sizes()

    def _other_sizes(self) -> FitCheck:
        """What to do about clusters of other sizes than the one that was fitted."""
        size, largest = self.law.ndim, max(self.sizes)
        sizes_text = ", ".join(f"{self.sizes[rows]} of {rows}" for rows in sorted(self.sizes))
        text = f"By the number of their rows there are so many clusters: {sizes_text}."
        if min(self.sizes) < size:
            text += (
                " A study takes smaller clusters as ones of which records are missing: their law "
                f"must be what that of {size} says of fewer records."
            )
        if largest > size:
            text += (
                f" A study with clusters of more than {size} rows refuses this population. Fit the "
                f"largest ones (size {largest}) if the smaller are like parts of them, or declare "
                f'model = "clusters" with size = {largest}, under which anything is possible.'
            )
        return FitCheck("other sizes", text, fits=largest <= size)

    def estimated(self) -> dict[str, Any]:
        """The states, roles, counts, the most likely law and its bounds as plain data."""
        plain: dict[str, Any] = {
            "states": list(self.states),
            "roles": None if self.roles is None else list(self.roles),
            "counts": self.counts.tolist(),
            "law": self.law.tolist(),
        }
        if self.lower is not None and self.upper is not None:
            plain |= {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
        return plain


def fit_finite(
    table: object,
    column: str,
    cluster: str,
    *,
    states: Sequence[Value] | None = None,
    cuts: Sequence[float] | None = None,
    where: str | None = None,
    role: str | None = None,
    roles: Sequence[str] | None = None,
    size: int | None = None,
    confidence: float | None = 0.95,
) -> FiniteFit:
    """Fit the joint law of small clusters to the states of `column`, with bounds on every cell.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. It has a row for each record, and rows with the same `cluster` belong
    together. The states are declared as in a study, in one of three ways: `states`, `cuts` or
    `where`. With `role` each record of a cluster has its place in the law: `roles` are those of the
    population, in its order, by default all that the column holds, sorted. Without, records are
    exchangeable, and clusters of `size` rows are used: by default the size that most clusters have.

    `population` is a family that holds the true law with this `confidence`; `None` gives the most
    likely law, without an allowance for chance. Raises `InputError` for arguments and cells that
    can't be read, and `UnsupportedError` where no cluster is complete or the family is too large.
    """
    if confidence is not None:
        check_confidence(confidence)
    check_columns(column=column, cluster=cluster, **({} if role is None else {"role": role}))
    if role is None and roles is not None:
        raise InputError("roles", list(roles), expected="a column of roles beside them")
    if role is not None and size is not None:
        raise InputError("size", size, expected="nothing beside roles: their number is the size")
    with public_data():
        opened = open_table(table)
        for key, name in (("column", column), ("cluster", cluster), ("role", role)):
            if name is not None:
                require_column(opened, name, key)
        state_column = read_states(opened, column, {"states": states, "cuts": cuts, "where": where})
        if role is None:
            cluster_counts = _by_size(opened, state_column, cluster, size)
        else:
            cluster_counts = _by_role(opened, state_column, cluster, role, roles)
    return _fitted(cluster_counts, state_column, confidence)


@dataclass(frozen=True, eq=False)
class _Counted:
    """How often each cell occurred, and what was left out."""

    counts: Counts
    roles: tuple[str, ...] | None
    incomplete: int
    others: int
    nameless: int
    sizes: Mapping[int, int] = field(default_factory=dict)


def _by_size(table: Table, states: States, cluster: str, size: int | None) -> _Counted:
    """Clusters by how many rows are in which state: one grouped query."""
    cells = _cells(table, states, cluster, None)
    numbers = {f"in{i}": (cells.state == literal(i + 1)).sum() for i in range(len(states.levels))}
    answer = _grouped(table, states, cells, {"rows": cells.count(), **numbers})
    sizes: dict[int, int] = {}
    for (rows, *_), number in answer.clusters:
        sizes[rows] = sizes.get(rows, 0) + number
    if size is None:
        size = max((s for s in sizes if s > 1), key=lambda s: (sizes[s], s), default=0)
    if isinstance(size, bool) or not 2 <= size <= MOST_SIZE:
        raise UnsupportedError(
            "size",
            size,
            expected=f"clusters of 2 to {MOST_SIZE} rows",
            remedy="Name the column whose equal values mark the rows that belong together.",
        )
    counts = np.zeros((len(states.levels),) * size, dtype=np.int64)
    incomplete = 0
    for (rows, *inside), number in answer.clusters:
        if rows == size and sum(inside) == size:
            place = tuple(i for i, many in enumerate(inside) for _ in range(many))
            counts[place] += number
        elif rows == size:
            incomplete += number
    others = sum(number for rows, number in sizes.items() if rows != size)
    return _Counted(counts, None, incomplete, others, answer.nameless, sizes)


def _by_role(
    table: Table, states: States, cluster: str, role: str, roles: Sequence[str] | None
) -> _Counted:
    """Clusters by the state of each role: one grouped query, after that for the roles."""
    cells = _cells(table, states, cluster, role)
    if roles is None:
        named = table.rows(cells.filter(cells.role.notnull()).select("role").distinct())
        roles = sorted(str(row[0]) for row in named)
    listed = tuple(roles)
    if not 2 <= len(listed) <= MOST_SIZE or len(set(listed)) < len(listed):
        raise UnsupportedError(
            "roles", f"{len(listed)} roles", expected=f"between 2 and {MOST_SIZE} different ones"
        )
    numbers: dict[str, Any] = {}
    for i, name in enumerate(listed):
        here = cells.role == name
        numbers[f"state{i}"] = cells.state.max(where=here)
        numbers[f"rows{i}"] = here.sum()
    answer = _grouped(table, states, cells, numbers)
    counts = np.zeros((len(states.levels),) * len(listed), dtype=np.int64)
    incomplete = 0
    for key, number in answer.clusters:
        places, rows = key[::2], [many or 0 for many in key[1::2]]
        if max(rows) > 1:
            raise InputError(
                "role",
                expected="one row for each role of a cluster, and some cluster has two",
                remedy="Number them (child 1, child 2), or leave the role out.",
                shown=False,
            )
        if min(rows) == 0 or None in places:
            incomplete += number
        else:
            counts[tuple(place - 1 for place in places)] += number
    return _Counted(counts, listed, incomplete, 0, answer.nameless)


def _cells(table: Table, states: States, cluster: str, role: str | None) -> Any:
    """The number of each row's state (none: missing), its cluster and its role."""
    expressions: dict[str, Any] = {"value": states.reading.value, "missing": states.missing}
    expressions["cluster"] = known(table, key_of(table.require(cluster, "cluster")))
    if role is not None:
        expressions["role"] = known_key(table, table.require(role, "role"))
    cells = table.expression.select(**expressions)
    keys = [key for key in expressions if key not in ("value", "missing")]
    unreadable = cells.value.isnull() & ~cells.missing
    return cells.select(*keys, state=states.number(cells.value), unreadable=unreadable)


@dataclass(frozen=True, eq=False)
class _Answer:
    """`clusters`: numbers of a cluster, and how many clusters have them. `nameless` rows."""

    clusters: list[tuple[tuple[Any, ...], int]]
    nameless: int


def _grouped(table: Table, states: States, cells: Any, numbers: dict[str, Any]) -> _Answer:
    """How many clusters have these `numbers`. Raises `InputError` for states that can't be read."""
    each = cells.group_by("cluster").aggregate(
        **numbers, unreadable=cells.unreadable.sum(), records=cells.count()
    )
    each = each.mutate(named=each.cluster.notnull())
    query = each.group_by(["named", *numbers]).aggregate(
        clusters=each.count(), unreadable=each.unreadable.sum(), records=each.records.sum()
    )
    answer = table.rows(query)
    refuse_unreadable(states.column, sum(int(row[-2] or 0) for row in answer))
    clusters = [(tuple(row[1:-3]), int(row[-3])) for row in answer if row[0]]
    return _Answer(clusters, sum(int(row[-1]) for row in answer if not row[0]))


def _kinds(states: int, records: int, exchangeable: bool) -> list[tuple[int, ...]]:
    """The cells that are counted; of exchangeable records those with sorted states."""
    cells = product(range(states), repeat=records)
    return [cell for cell in cells if not exchangeable or list(cell) == sorted(cell)]


def _fitted(cluster_counts: _Counted, state_column: States, confidence: float | None) -> FiniteFit:
    counts, exchangeable = cluster_counts.counts, cluster_counts.roles is None
    states, records, clusters = len(state_column.levels), counts.ndim, int(counts.sum())
    if clusters == 0:
        raise UnsupportedError(
            "cluster",
            expected=f"clusters with a state for each of {records} records: none is complete",
            remedy="Look at the columns of clusters and roles, and at the states.",
            shown=False,
        )
    most = MOST_CELLS // states**records
    many = number_of_laws(states, records, exchangeable=exchangeable)
    if confidence is not None and many > most:
        raise UnsupportedError(
            "confidence",
            confidence,
            expected=f"a region that {most} laws can stand for, and {records} records of "
            f"{states} states need {many}",
            remedy="Use fewer states or smaller clusters, the most likely law (confidence=None, "
            '--point), or declare model = "clusters".',
        )
    kinds = _kinds(states, records, exchangeable)
    # Of exchangeable records a kind's probability is shared by its cells.
    spread = np.zeros((3, *counts.shape))
    alpha = None if confidence is None else (1 - Fraction(repr(confidence))) / len(kinds)
    for cell in product(range(states), repeat=records):
        kind = tuple(sorted(cell)) if exchangeable else cell
        hits = int(counts[kind])
        ends = (0.0, 1.0) if alpha is None else probability_interval(hits, clusters - hits, alpha)
        shared = _orders(kind) if exchangeable else 1
        for part, value in zip(spread, (hits / clusters, *ends), strict=True):
            part[cell] = value / shared
    law, lower, upper = spread
    source = _source(cluster_counts, clusters, confidence)
    if confidence is None:
        population: Family | Finite = _law(law, cluster_counts.roles, source)
    else:
        laws = largest_laws(lower, upper, exchangeable=exchangeable)
        population = Family(
            members=tuple(_law(member, cluster_counts.roles, "") for member in laws), source=source
        )
    return FiniteFit(
        population=population,
        states=state_column.levels,
        roles=cluster_counts.roles,
        counts=counts,
        law=law,
        lower=None if confidence is None else lower,
        upper=None if confidence is None else upper,
        confidence=confidence,
        clusters=clusters,
        incomplete=cluster_counts.incomplete,
        others=cluster_counts.others,
        nameless=cluster_counts.nameless,
        sizes=cluster_counts.sizes,
    )


def _law(law: Numbers, roles: tuple[str, ...] | None, source: str) -> Finite:
    return Finite(probabilities=law.tolist(), roles=roles, source=source)


def _orders(kind: tuple[int, ...]) -> int:
    """In how many orders records can have these states."""
    from math import factorial, prod

    return factorial(len(kind)) // prod(factorial(kind.count(state)) for state in set(kind))


def _source(cluster_counts: _Counted, clusters: int, confidence: float | None) -> str:
    records = cluster_counts.counts.ndim
    kind = (
        "exchangeable records" if cluster_counts.roles is None else ", ".join(cluster_counts.roles)
    )
    data = f"fitted to {clusters} clusters of {records} ({kind})"
    if confidence is None:
        return f"{data}: the most likely law, {NO_ALLOWANCE}"
    alike = " and the records of one exchangeable" if cluster_counts.roles is None else ""
    return (
        f"{data}: bounds hold all cells of the joint law at once with confidence "
        f"{confidence_words(confidence)}, if clusters are independent with one law{alike}; the "
        "members have the largest levels of all laws between the bounds"
    )
