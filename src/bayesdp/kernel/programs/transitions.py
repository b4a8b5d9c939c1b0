"""Counts of transitions: how often which value follows which (theory 8.3, rule `transitions`).

`transitions(data, step[, unit])`: rows of one unit whose steps are one apart follow each other.
The entry k i + j counts the pairs of a row with value i and the next one with value j, of k values.
Where several rows have one place (unit and step), none of them is in a pair.

*How far it moves.* Filter, step and unit are read from public columns, which neighbours share. So
the same places are taken, by one row each, and the same pairs of rows are counted. A row is in at
most two of them, with the row before and the row behind it: neighbours agree in all others. Let its
value x become y, between a and b. The counts lose e(a, x) + e(x, b) and gain e(a, y) + e(y, b).
That is 2 and 2 in l1. In l2 the two that are lost have a square of 4 where both are one entry, else
of 2, and so have the two that are gained. Both being one entry means a = x = b, or a = y = b: one
of these at most is true. No entry is below 0, so the squares add up to an upper bound: 4 + 2 = 6.
An entry (i, j) apart from the diagonal is lost once at most, since (a, x) and (x, b) are not both
it, and gained once at most; one on the diagonal twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt

from bayesdp.kernel.arithmetic import require
from bayesdp.kernel.programs.ranges import AdjacencyContext, many_transitions
from bayesdp.kernel.programs.reading import MOST_ENTRIES, Node, Values, columns_of, pieces
from bayesdp.kernel.programs.refusals import UnprovedError, allow
from bayesdp.kernel.programs.rows import labels_of

ALL = {"l1": Fraction(4), "l2": Fraction(6)}
"""How far all counts move together; of the l2 norm the square."""

SAME, OTHER = Fraction(2), Fraction(1)
"""How far a count moves: of a value that follows itself, and of any other pair."""

NAMED = ("field", "cross", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not")
"""Operations whose values are labels or truth values, or columns of them."""


def check_transitions(node: Node, context: AdjacencyContext) -> None:
    """Refuse transitions whose pairs of rows a record may change."""
    data, *keys = node.args
    require(many_transitions(node) <= MOST_ENTRIES, f"more than {MOST_ENTRIES} transitions")
    allow(len(keys) in (1, 2), "transitions", "transitions have a step, and at most a unit", node)
    for key in keys:
        column = context.program.columns.get(str(key.data[0])) if key.op == "field" else None
        known = column is not None and column.public
        allow(known, "transitions-order", "steps and units are public columns", key)
        assert column is not None
        whole = key is not keys[0] or column.kind == "int"
        allow(whole, "transitions-step", "the step is not a column of whole numbers", key)
    if context.adjacency == "add-remove":
        raise UnprovedError(
            "transitions-enter", "transitions where a record enters or leaves", node, "transitions"
        )
    deciding = columns_of(data.args[0]) | {column for column, _ in pieces(data)}
    chosen = deciding <= context.public
    allow(chosen, "transitions-filter", "a private value decides which rows follow", data.args[0])


def transitions_move(node: Node, norm: str, context: AdjacencyContext) -> Fraction:
    """How far all counts move where a record is replaced; of the l2 norm the square."""
    check_transitions(node, context)
    return ALL[norm]


def transition_moves(node: Node, norm: str, context: AdjacencyContext) -> Fraction:
    """How far one count moves, which `node` takes as an item."""
    transitions = node.args[0]
    check_transitions(transitions, context)
    place = node.data[0]
    assert isinstance(place, Fraction)
    before, behind = divmod(int(place), isqrt(many_transitions(transitions)))
    far = SAME if before == behind else OTHER
    return far if norm == "l1" else far * far


def states_of(node: Node, columns: Mapping[str, Values]) -> tuple[str, ...]:
    """What the values are called whose transitions are counted: labels, or whole numbers from 0."""
    hot = node.args[0].args[1]
    value, size = hot.args[0], hot.data[0]
    assert isinstance(size, Fraction)
    if value.op == "field" and columns[str(value.data[0])].kind == "int":
        return tuple(map(str, range(int(size))))
    return labels_of(value, columns) if value.op in NAMED else tuple(map(str, range(int(size))))


def transition_names(node: Node, columns: Mapping[str, Values]) -> tuple[str, ...]:
    """What the counts are called, row by row."""
    states = states_of(node, columns)
    return tuple(f"{before} -> {behind}" for before in states for behind in states)
