"""Trees from public or past data: one table of transitions from parent to child for all edges.

Given the records above, a child's state has the same law whichever edge it is on. Edges are counted
as the transitions of `regions` are, parents before children: the bounds hold the whole table at
once with the stated confidence. **No population form holds a tree between bounds**, so the one that
is declared has the estimate: its level makes no allowance for chance, and its `source` says so.
Each cell is estimated by its count plus one half: no value is taken for impossible that wasn't
seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting.comparing import FitCheck, order_test
from bayesdp.fitting.numbers_of import (
    Numbers,
    check_columns,
    check_confidence,
    confidence_words,
    known_key,
    public_data,
    refuse_unreadable,
    require_column,
)
from bayesdp.fitting.regions import Counts, TransitionBounds, transition_bounds
from bayesdp.fitting.states import States, read_states
from bayesdp.populations import Tree
from bayesdp.populations.base import NO_ALLOWANCE
from bayesdp.statements.columns import Value
from bayesdp.tables.source import Table, open_table

MOST_NODES = 100_000
"""A larger tree is not declared."""

NOT_COVERED = "no population holds their uncertainty, and the level makes no allowance for it"


@dataclass(frozen=True, eq=False)
class TreeFit:
    """A tree with one table for all edges: the estimate, its bounds, and the population.

    `counts[u, v]` says how many edges lead from a parent in state `u` to a child in state `v`;
    `transition` is the estimate, `bounds` hold the true table, and `law` is the estimated law of a
    root. The `population` has the estimates.
    """

    population: Tree
    states: tuple[Value, ...]
    counts: Counts
    transition: Numbers
    bounds: TransitionBounds
    law: Numbers
    roots: int
    windows: Counts

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """How sure the table is, and whether more than the parent counts, in words."""
        return tuple(self._checks())

    def _checks(self) -> Iterator[FitCheck]:
        widths = self.bounds.upper - self.bounds.lower
        u, v = np.unravel_index(int(widths.argmax()), widths.shape)
        low, high = float(self.bounds.lower[u, v]), float(self.bounds.upper[u, v])
        text = (
            f"The table was estimated from {int(self.counts.sum())} edges: {NOT_COVERED}. With "
            f"confidence {confidence_words(self.bounds.confidence)} all transitions lie between "
            f"their bounds; the widest are {low!r} and {high!r}, from {self.states[u]} to "
            f"{self.states[v]}. Clusters of two or three have a fit whose level holds for all of a "
            "region: --model finite."
        )
        yield FitCheck("bounds", text, fits=False)
        name = "grandparents"
        if not self.windows.any():
            yield FitCheck(name, "Whether grandparents count was not tested: there are none.")
            return
        test = order_test(self.windows)
        text = (
            f"Given the parent, the grandparent still counts ({test.words()}): records further "
            "apart tell more of each other than this tree says, and its level may be too low."
            if test.differs
            else f"Given the parent, grandparents are not seen to count ({test.words()})."
        )
        p_value = float(test.p_value)
        yield FitCheck(name, text, not test.differs, test.statistic, test.degrees, p_value)

    def estimated(self) -> dict[str, Any]:
        """The states, counts, the estimates and the bounds as plain data."""
        return {
            "states": list(self.states),
            "counts": self.counts.tolist(),
            "transition": self.transition.tolist(),
            "lower": self.bounds.lower.tolist(),
            "upper": self.bounds.upper.tolist(),
            "law": self.law.tolist(),
        }


def fit_tree(
    table: object,
    column: str,
    record: str,
    parent: str,
    *,
    edges: object = None,
    states: Sequence[Value] | None = None,
    cuts: Sequence[float] | None = None,
    where: str | None = None,
    confidence: float = 0.95,
) -> TreeFit:
    """Fit one table of transitions from parent to child to the states of `column`.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. It has a row for each record: `record` is the column of its name, `parent`
    that of its parent's name, empty for a root. `edges` is the tree of the study, a table with the
    same two columns; by default the tree of the `table`. The states are declared as in a study, in
    one of three ways: `states`, `cuts` or `where`. Edges with an unknown state at an end are not
    counted.

    `bounds` hold the table with this `confidence`; the population has the estimate, without an
    allowance for chance. Raises `InputError` for arguments and cells that can't be read, and
    `UnsupportedError` where no edge can be counted.
    """
    check_confidence(confidence)
    check_columns(column=column, record=record, parent=parent)
    with public_data():
        opened = open_table(table)
        for key, name in (("column", column), ("record", record), ("parent", parent)):
            require_column(opened, name, key)
        state_column = read_states(opened, column, {"states": states, "cuts": cuts, "where": where})
        windows, counts, roots = _counted(opened, state_column, record, parent)
        structure = opened if edges is None else open_table(edges)
        for key, name in (("record", record), ("parent", parent)):
            require_column(structure, name, key)
        names = _names(structure, record, parent)
    if not counts.any():
        raise UnsupportedError(
            "parent",
            parent,
            expected="edges whose two ends have a state",
            remedy="Name the column that holds the name of each record's parent.",
        )
    transition, law = with_a_half(counts), with_a_half(roots)
    bounds = transition_bounds(counts, confidence)
    source = (
        f"fitted to {counts.sum()} edges and {roots.sum()} roots: the estimated table of all "
        f"edges, {NO_ALLOWANCE} (bounds with confidence "
        f"{confidence_words(confidence)} are not part of it)"
    )
    nodes: Any = [
        {"name": name, "law": law.tolist()}
        if above is None
        else {"name": name, "parent": above, "transition": transition.tolist()}
        for name, above in names
    ]
    return TreeFit(
        population=Tree(nodes=nodes, source=source),
        states=state_column.levels,
        counts=counts,
        transition=transition,
        bounds=bounds,
        law=law,
        roots=int(roots.sum()),
        windows=windows,
    )


def with_a_half(counts: Counts) -> Numbers:
    """Shares of counts along the last axis, each count with one half added."""
    more = counts + 0.5
    shares: Numbers = more / more.sum(axis=-1, keepdims=True)
    return shares


def _counted(
    table: Table, states: States, record: str, parent: str
) -> tuple[Counts, Counts, Counts]:
    """How often grandparent, parent and child have which states; parent and child; roots."""
    expressions: dict[str, Any] = {
        "value": states.reading.value,
        "missing": states.missing,
        "record": known_key(table, table.require(record, "record")),
        "parent": known_key(table, table.require(parent, "parent")),
    }
    cells = table.expression.select(**expressions)
    wrong = cells.value.isnull() & ~cells.missing
    cells = cells.select("record", "parent", state=states.number(cells.value), wrong=wrong)
    rows, known, different, unreadable = table.numbers(
        cells, cells.count(), cells.record.count(), cells.record.nunique(), cells.wrong.sum()
    )
    refuse_unreadable(states.column, int(unreadable or 0))
    if different < rows:
        raise InputError(
            "record",
            record,
            expected=f"a name of its own for each of the {rows} rows: {known} have one, and "
            f"{different} of them differ",
        )
    own = cells.select("parent", child="state")
    above = cells.select(above="record", over="parent", middle="state")
    top = cells.select(top="record", first="state")
    joined: Any = own.left_join(above, own.parent == above.above)
    joined = joined.left_join(top, joined.over == top.top)
    joined = joined.mutate(root=joined.parent.isnull())
    query = joined.group_by(["root", "first", "middle", "child"]).aggregate(number=joined.count())
    size = len(states.levels)
    windows = np.zeros((size,) * 3, dtype=np.int64)
    counts = np.zeros((size,) * 2, dtype=np.int64)
    roots = np.zeros(size, dtype=np.int64)
    for root, first, middle, child, number in table.rows(query):
        if child is None:
            continue
        if root:
            roots[child - 1] += number
        elif middle is not None:
            counts[middle - 1, child - 1] += number
            if first is not None:
                windows[first - 1, middle - 1, child - 1] += number
    return windows, counts, roots


def _names(table: Table, record: str, parent: str) -> list[tuple[str, str | None]]:
    """Each record of the tree and its parent, in the order of the table."""
    expressions = {
        "record": known_key(table, table.require(record, "record")),
        "parent": known_key(table, table.require(parent, "parent")),
    }
    rows = table.rows(table.expression.select(**expressions).limit(MOST_NODES + 1))
    if len(rows) > MOST_NODES or any(name is None for name, _ in rows):
        raise InputError(
            "record",
            record,
            expected=f"at most {MOST_NODES} records, each with a name",
            remedy="Fit a part of the tree, and give every record a name.",
        )
    return [(str(name), None if above is None else str(above)) for name, above in rows]
