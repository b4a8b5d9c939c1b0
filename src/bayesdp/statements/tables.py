"""Nested arrays of probabilities and weights, and graphs as lists: of moves, and of parents."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

OFF = 1e-9
"""The largest distance of a law's sum from 1: sums of decimals are seldom 1 as doubles."""

MOST_AXES = 60
MOST_CELLS = 10_000_000
_NESTED = (list, tuple)


def shape(table: object) -> tuple[int, ...]:
    """The shape of a nested array of numbers.

    Raises `ValueError` where the array is ragged or too large, or an axis is empty.
    """
    sides: list[int] = []
    layer = [table]
    while isinstance(layer[0], _NESTED):
        side = len(layer[0])
        sides.append(side)
        if side == 0:
            raise ValueError("an axis without values")
        if len(sides) > MOST_AXES or side * len(layer) > MOST_CELLS:
            raise ValueError(f"a table of more than {MOST_AXES} axes or {MOST_CELLS} cells")
        below: list[object] = []
        for part in layer:
            if not isinstance(part, _NESTED) or len(part) != side:
                raise ValueError("the table is ragged")
            below += part
        layer = below
    for entry in layer:
        kind = type(entry)
        if kind is not float and kind is not int:
            raise ValueError(f"an entry of the table is not a number: {str(entry)[:40]!r}")
    return tuple(sides)


def rows(table: Any, depth: int) -> list[Any]:
    """The parts of a table below its first `depth` axes, the last of these running fastest."""
    layer = [table]
    for _ in range(depth):
        layer = [part for whole in layer for part in whole]
    return layer


def cells(table: Any) -> Iterator[float]:
    """All entries of a nested array, the last axis running fastest."""
    if not isinstance(table, _NESTED):
        yield table
        return
    for part in table:
        if isinstance(part, _NESTED):
            yield from cells(part)
        else:
            yield part


def require_probabilities(table: Any) -> None:
    """Raises `ValueError` unless all entries lie between 0 and 1."""
    _between_0_and_1(cells(table))


def _between_0_and_1(entries: Iterable[float]) -> None:
    for entry in entries:
        if not 0 <= entry <= 1:
            raise ValueError(f"{str(entry)[:40]} is not a probability")


def require_law(row: Any) -> None:
    """Raises `ValueError` unless all entries lie between 0 and 1 and sum to 1 within 1e-9."""
    entries = list(cells(row))
    _between_0_and_1(entries)
    total = math.fsum(entries)
    if abs(total - 1.0) > OFF:
        raise ValueError(f"probabilities that sum to {total:.12g}, and not to 1")


def require_weights(table: Any) -> None:
    """Raises `ValueError` unless all entries are finite and at least 0, and one is above 0."""
    positive = False
    for entry in cells(table):
        if not 0 <= entry <= sys.float_info.max:
            raise ValueError(f"{str(entry)[:40]} is not a weight: a finite number, at least 0")
        positive = positive or entry > 0
    if not positive:
        raise ValueError("a table whose weights are all 0")


def square(table: object, axes: int) -> int:
    """The length of a table's axes. Raises `ValueError` unless all `axes` have one length."""
    sides = shape(table)
    if len(sides) != axes or len(set(sides)) != 1:
        raise ValueError(f"not a table of {axes} axes of one length")
    return sides[0]


def closed_classes(moves: list[list[int]]) -> list[list[int]]:
    """The closed classes of a chain, from the states that each state may move to.

    States of none of them are left for good. A chain with one closed class has one stationary law,
    which is positive in that class only. Tarjan's algorithm, without recursion.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    component: dict[int, int] = {}
    classes: list[list[int]] = []
    for root in range(len(moves)):
        if root in order:
            continue
        work = [(root, 0)]
        while work:
            state, place = work.pop()
            if place == 0:
                order[state] = low[state] = len(order)
                stack.append(state)
                on_stack.add(state)
            for position in range(place, len(moves[state])):
                other = moves[state][position]
                if other not in order:
                    work += [(state, position + 1), (other, 0)]
                    break
                if other in on_stack:
                    low[state] = min(low[state], order[other])
            else:
                if low[state] == order[state]:
                    members: list[int] = []
                    while not members or members[-1] != state:
                        members.append(stack.pop())
                        on_stack.discard(members[-1])
                        component[members[-1]] = len(classes)
                    classes.append(members)
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[state])
    left = {
        component[state]
        for state, nexts in enumerate(moves)
        if any(component[other] != component[state] for other in nexts)
    }
    return [members for number, members in enumerate(classes) if number not in left]


def parents_first(parents: Sequence[Sequence[int]]) -> list[int]:
    """The numbers of nodes, each after its parents; `parents` has the numbers of each node's.

    Nodes on a cycle, and those behind one, are left out.
    """
    waiting = [len(above) for above in parents]
    children: list[list[int]] = [[] for _ in parents]
    for node, above in enumerate(parents):
        for parent in above:
            children[parent].append(node)
    ready = [node for node, count in enumerate(waiting) if count == 0]
    for node in ready:  # grows while it is walked
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    return ready
