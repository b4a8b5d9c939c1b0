"""Counts of transitions: how often which value follows which (theory 8.3, rule `transitions`).

`transitions(data, step[, unit])`: rows of one unit whose steps are one apart follow each other.
The entry k i + j counts the pairs of a row with value i and the next one with value j, of k values.
Where several rows have one place (unit and step), none of them is in a pair.

**Transitions.** `transition_counts(rows, order=, by=)` is not a sum over rows: pairs of rows are
counted. Let a row's *place* be its step, and its unit if there is one, and let `x(q)` be the value,
of `k`, of the row at place `q` where it is the only one that the filter and pieces keep there. The
count `(i, j)` is the number of units and steps with `x(u, t) = i` and `x(u, t + 1) = j`, both
defined. Filter, pieces, step and unit must be public columns, under replace-one; else the rule
refuses.

*Lemma.* If one record is replaced, the counts move by at most 4 in the l1 norm, and the square of
their move in the l2 norm is at most 6; the count `(i, i)` moves by at most 2, and `(i, j)` with `i
/= j` by at most 1.

*Proof.* Neighbours share public columns: the same places have a value, and each value is that of
the same record. If the replaced record has none (it is filtered out, or shares its place), nothing
moves. Else let its value `x` become `y`. Only the pairs with the places one step before and behind
it move, of values `a` and `b` that neighbours share. Write `e(i, j)` for a 1 at the entry. The
counts lose `L = e(a, x) + e(x, b)` and gain `G = e(a, y) + e(y, b)`, each without a term where
there is no such place; so they move by `|L|_1 + |G|_1 <= 4`. `|L|^2` is 4 where its terms are one
entry, that is `a = x = b`, else at most 2, and `|G|^2` is 4 only where `a = y = b`. As `x /= y`
(else nothing moves) one of them is at most 2, and `|G - L|^2 = |G|^2 + |L|^2 - 2 <G, L> <= 6`, no
entry being below 0. An entry `(i, i)` of `L` or `G` is in `[0, 2]`. For `i /= j` it is in `[0, 1]`:
`(a, x) = (x, b) = (i, j)` would say `x = j` and `x = i`. ∎ All four are reached where `0 0 0`
becomes `0 1 0`. For a record that enters or leaves no bound is stated.

The posterior of a chain given noisy counts (`markov_chain`) follows from what was released, from
which rows follow which, and from the number of values: the first is paid for, the others are
public. ∎
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
