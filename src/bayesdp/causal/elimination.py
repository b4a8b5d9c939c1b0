"""Variable elimination with partial sums: exact laws of few nodes of a large network.

A factor has one axis for each of its nodes and a last axis for a partial sum of whole-number
scores. Multiplying factors multiplies along the nodes and convolves along the sums, so that a
count over many records is carried along as one axis instead of one for each record. Everything is
non-negative, so relative errors only add; they are counted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.errors import UnsupportedError

MOST_CELLS = 2**23
"""The cells of the largest table that may be made."""


@dataclass(frozen=True, slots=True)
class EliminationFactor:
    """`table` has an axis for each of the ascending `nodes`, and a last axis for partial sums."""

    nodes: tuple[int, ...]
    table: Floats


@dataclass(frozen=True, slots=True)
class Marginal:
    """The sum over all other nodes: axes as asked for, then the partial sum.

    `roundings` bounds the relative error of every cell, in units of `numbers.UNIT`.
    """

    table: Floats
    roundings: int


def factor(nodes: Sequence[int], table: Floats) -> EliminationFactor:
    """A factor whose axes are in any order of nodes; the last axis is for the sum."""
    order = sorted(range(len(nodes)), key=lambda k: nodes[k])
    ascending = tuple(nodes[k] for k in order)
    return EliminationFactor(ascending, np.transpose(table, (*order, table.ndim - 1)))


def marginal(
    factors: Sequence[EliminationFactor], keep: Sequence[int], sizes: Sequence[int]
) -> Marginal:
    """The product of all factors, summed over the nodes that are not in `keep`.

    `sizes` holds the number of values of every node. Raises `UnsupportedError` if a table in
    between has more than `MOST_CELLS` cells (found before anything is computed), or if double
    precision would take a positive probability for 0.
    """
    order, _ = _order(factors, keep, sizes)
    try:
        with np.errstate(under="raise"):
            return _run(list(factors), order, keep)
    except FloatingPointError:
        raise UnsupportedError(
            "model",
            "a probability so small",
            expected="joint probabilities above 1e-300",
            remedy="Double precision would take it for 0.",
        ) from None


def planned_cells(
    factors: Sequence[EliminationFactor], keep: Sequence[int], sizes: Sequence[int]
) -> int:
    """The cells of all tables that `marginal` would make of `factors`, `keep` and `sizes`.

    Raises `UnsupportedError` as it does.
    """
    return _order(factors, keep, sizes)[1]


def _run(factors: list[EliminationFactor], order: Sequence[int], keep: Sequence[int]) -> Marginal:
    roundings = 0
    for node in order:
        mine = [operand for operand in factors if node in operand.nodes]
        factors = [operand for operand in factors if node not in operand.nodes]
        joined, rounded = _product(mine)
        axis = joined.nodes.index(node)
        rest = tuple(other for other in joined.nodes if other != node)
        factors.append(EliminationFactor(rest, joined.table.sum(axis=axis)))
        roundings += rounded + joined.table.shape[axis]
    joined, rounded = _product(factors)
    axes = [joined.nodes.index(node) for node in keep]
    table = np.transpose(joined.table, (*axes, joined.table.ndim - 1))
    return Marginal(table, roundings + rounded)


def _product(factors: Sequence[EliminationFactor]) -> tuple[EliminationFactor, int]:
    result, roundings = factors[0], 0
    for other in sorted(factors[1:], key=lambda f: f.table.size):
        roundings += 1 + min(result.table.shape[-1], other.table.shape[-1])
        result = _times(result, other)
    return result, roundings


def _times(a: EliminationFactor, b: EliminationFactor) -> EliminationFactor:
    nodes = tuple(sorted({*a.nodes, *b.nodes}))
    long, short = _spread(a, nodes), _spread(b, nodes)
    if short.shape[-1] > long.shape[-1]:
        long, short = short, long
    if short.shape[-1] == 1:
        return EliminationFactor(nodes, long * short)
    width = long.shape[-1]
    shape = np.broadcast_shapes(long.shape[:-1], short.shape[:-1])
    out = np.zeros((*shape, width + short.shape[-1] - 1))
    for k in range(short.shape[-1]):
        part = short[..., k : k + 1]
        if part.any():
            out[..., k : k + width] += long * part
    return EliminationFactor(nodes, out)


def _spread(operand: EliminationFactor, nodes: tuple[int, ...]) -> Floats:
    """The table with an axis of length 1 for every node of `nodes` that it lacks."""
    mine = dict(zip(operand.nodes, operand.table.shape, strict=False))
    return operand.table.reshape(*(mine.get(node, 1) for node in nodes), operand.table.shape[-1])


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the plan needs to know about a factor: its nodes, and the length of its last axis."""

    nodes: frozenset[int]
    length: int


def _order(
    factors: Sequence[EliminationFactor], keep: Collection[int], sizes: Sequence[int]
) -> tuple[list[int], int]:
    """The order of elimination, and the cells of all its tables; refuses a table that is too large.

    Next is always the node whose elimination makes the smallest table.
    """
    given = [_Scope(frozenset(operand.nodes), operand.table.shape[-1]) for operand in factors]
    scopes = dict(enumerate(given))
    at: dict[int, dict[int, _Scope]] = {}
    for number, scope in scopes.items():
        for node in scope.nodes:
            at.setdefault(node, {})[number] = scope
    cost = {node: _cells(at[node].values(), sizes) for node in at if node not in keep}
    order: list[int] = []
    cells = 0
    while cost:
        node = min(cost, key=lambda candidate: (cost[candidate], candidate))
        cells += _refused_above(cost.pop(node))
        order.append(node)
        mine = at.pop(node)
        merged = _merged(mine.values())
        scope = _Scope(merged.nodes - {node}, merged.length)
        number = len(given) + len(order)
        for old in mine:
            del scopes[old]
        scopes[number] = scope
        for other in scope.nodes:
            at[other] = {k: kept for k, kept in at[other].items() if k not in mine} | {
                number: scope
            }
            if other in cost:
                cost[other] = _cells(at[other].values(), sizes)
    return order, cells + _refused_above(_cells(scopes.values(), sizes))


def _merged(scopes: Collection[_Scope]) -> _Scope:
    nodes: frozenset[int] = frozenset().union(*(scope.nodes for scope in scopes))
    return _Scope(nodes, 1 + sum(scope.length - 1 for scope in scopes))


def _cells(scopes: Collection[_Scope], sizes: Sequence[int]) -> int:
    merged = _merged(scopes)
    return math.prod(sizes[node] for node in merged.nodes) * merged.length


def _refused_above(cells: int) -> int:
    if cells > MOST_CELLS:
        raise UnsupportedError(
            "model",
            f"a model that needs a table of {cells:.6g} cells",
            expected=f"at most {MOST_CELLS} cells",
            remedy="Fewer states, or fewer nodes that depend on one another at once; a count or "
            "sum of many records needs far less than a channel given as a table.",
        )
    return cells
