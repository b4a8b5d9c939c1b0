"""The pairs of a graph of two states: factors on the same records merged, and what is possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Bools, Floats, Ints
from bayesdp.populations.factors import FactorGraph, FactorGroup

_MOST_ROUNDS_OF_ZEROS = 1000
"""So often possible values are carried along pairs; a graph that needs more is refused."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """A graph in which each record has one or two values, the factors of each pair merged.

    `ends` of shape `(pairs, 2)`, smaller record first, in order; `logs` of shape `(pairs, 2, 2)`
    the log weights, `-inf` for zeros; only records with two possible values are in pairs, and each
    row and column of a table has a finite entry. `odds` are the log odds of the second possible
    value of each record by factors of its own; `sizes` and `own_sizes` the sums of the absolute
    logarithms that went into tables and odds, each times one eighth of how many there were and one:
    `16 UNIT` times that bounds their rounding errors. `lone` tells tables of which a pair depends
    on nothing, for certain.
    """

    graph: FactorGraph
    ends: Ints
    logs: Floats
    odds: Floats
    sizes: Floats
    own_sizes: Floats
    lone: Bools


def pairs_of(graph: FactorGraph) -> Pairs | str:
    """The pairs of a graph, or why it has none: in words."""
    if any(group.arity > 2 for group in graph.groups):
        return "a factor ties three or more records to each other: it is about pairs"
    allowed = _two_values(graph)
    if isinstance(allowed, str):
        return allowed
    values, two = allowed
    odds, own_sizes = np.zeros(graph.records), np.zeros(graph.records)
    ends, logs = [np.zeros((0, 2), dtype=np.int64)], [np.zeros((0, 2, 2))]
    for group in graph.groups:
        cells = _cells(group, values)
        if group.arity == 2:
            ends.append(group.members)
            logs.append(cells)
        elif group.arity == 1:
            record = group.members[:, 0]
            with np.errstate(invalid="ignore"):  # a value that is left out may have a zero
                added = np.where(two[record], cells[:, 1] - cells[:, 0], 0.0)
            size = np.where(two[record], np.abs(cells).sum(axis=1), 0.0)
            odds += np.bincount(record, weights=added, minlength=graph.records)
            own_sizes += np.bincount(record, weights=size, minlength=graph.records)
            own_sizes *= 1.0 + np.bincount(record, minlength=graph.records) / 8.0
    return _merged(graph, two, np.concatenate(ends), np.concatenate(logs), odds, own_sizes)


def _two_values(graph: FactorGraph) -> tuple[Ints, Bools] | str:
    """For each record its first and last possible value, shape `(records, 2)`; whether it has two.

    In words why not, where a record has more than two, or none.
    """
    possible = graph.possible
    if possible is None:
        if int(graph.states.max()) > 2:
            return "a record has three or more possible values: it is about two"
        last = graph.states - 1
        return np.stack([np.zeros_like(last), last], axis=1), last > 0
    count = possible.sum(axis=1)
    if int(count.max()) > 2:
        return "a record has three or more possible values: it is about two"
    if int(count.min()) == 0:
        return _NO_VALUE
    last = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
    return np.stack([possible.argmax(axis=1), last], axis=1), count == 2


_NO_VALUE = "the factors leave a record no value"


def _cells(group: FactorGroup, values: Ints) -> Floats:
    """The log weights for the two values of each member, shape `(factors, 2)` or `(.., 2, 2)`."""
    with np.errstate(divide="ignore"):
        logs = np.log(group.tables)
    factor = np.arange(group.count) if len(logs) == group.count else np.zeros(group.count, int)
    first = values[group.members[:, 0]]
    if group.arity == 1:
        single: Floats = logs[factor[:, None], first]
        return single
    second = values[group.members[:, -1]]
    cells: Floats = logs[factor[:, None, None], first[:, :, None], second[:, None, :]]
    return cells


def _merged(
    graph: FactorGraph, two: Bools, ends: Ints, logs: Floats, odds: Floats, own_sizes: Floats
) -> Pairs | str:
    """The factors of each pair multiplied, and records with one possible value left out."""
    turned = ends[:, 0] > ends[:, 1]
    ends = np.sort(ends, axis=1)
    logs = np.where(turned[:, None, None], logs.transpose(0, 2, 1), logs)
    keys, place, count = np.unique(
        ends[:, 0] * graph.records + ends[:, 1], return_inverse=True, return_counts=True
    )
    ends = np.stack([keys // graph.records, keys % graph.records], axis=1)
    merged, sizes = np.zeros((len(keys), 2, 2)), np.zeros(len(keys))
    np.add.at(merged, place, logs)
    np.add.at(sizes, place, np.abs(np.where(np.isfinite(logs), logs, 0.0)).sum(axis=(1, 2)))
    sizes *= 1.0 + count / 8.0
    allowed = np.stack([np.ones_like(two), two], axis=1)
    settled = _restrict(allowed, ends, merged)
    if not settled:
        return "its zeros exclude values one after the other, in too many rounds"
    if not allowed.any(axis=1).all():
        return _NO_VALUE
    two = np.asarray(allowed.all(axis=1))
    value = allowed[:, 1].astype(np.int64)  # of a record with one value, that value
    for here in (0, 1):
        other, record = ends[:, 1 - here], ends[:, here]
        fixed = ~two[other] & two[record]
        tables = merged[fixed] if here == 0 else merged[fixed].transpose(0, 2, 1)
        column = value[other[fixed]]
        each = np.arange(len(tables))
        added = tables[each, 1, column] - tables[each, 0, column]
        odds = odds + np.bincount(record[fixed], weights=added, minlength=graph.records)
        size = sizes[fixed]
        own_sizes += np.bincount(record[fixed], weights=size, minlength=graph.records)
        own_sizes *= 1.0 + np.bincount(record[fixed], minlength=graph.records) / 8.0
    odds[~two] = 0.0
    live = two[ends].all(axis=1)
    merged = merged[live]
    same: Bools = (merged[:, 0] == merged[:, 1]).all(axis=1)
    same |= (merged[:, :, 0] == merged[:, :, 1]).all(axis=1)
    return Pairs(graph, ends[live], merged, odds, sizes[live], own_sizes, same & (count[live] == 1))


def _restrict(allowed: Bools, ends: Ints, logs: Floats) -> bool:
    """Drop values that no table supports, round by round; whether that came to an end."""
    if np.isfinite(logs).all():
        return True
    for _ in range(_MOST_ROUNDS_OF_ZEROS):
        before = int(allowed.sum())
        possible = allowed[ends[:, 0]][:, :, None] & allowed[ends[:, 1]][:, None, :]
        live = possible & (logs > -np.inf)
        for here in (0, 1):
            dead, value = np.nonzero(~live.any(axis=2 - here))
            allowed[ends[dead, here], value] = False
        if int(allowed.sum()) == before:
            return True
    return False
