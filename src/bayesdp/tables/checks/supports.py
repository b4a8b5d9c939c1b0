"""Hold a table against what its population rules out: records that have probability 0.

The findings are for the curator only, like all others. For laws of the declared population there
are none, so that a refusal because of them tells nothing that the population had left open.

Public names: `RuledOut`, `support_findings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from bayesdp.populations.support import ChainSupport, ClusterSupport, Fault, RecordSupport, Support
from bayesdp.tables.cells import reading
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.refusals import Finding, counted
from bayesdp.tables.source import Table


@dataclass(frozen=True)
class RuledOut:
    """What a population rules out of the states of its covered columns.

    `supports` has one for each member of a family, else one. The state of a record is the number of
    its combination of `covers`, counted through the last column first.
    """

    covers: tuple[str, ...]
    supports: tuple[Support, ...]

    def state_of(self, table: Table, columns: Mapping[str, Column]) -> Any:
        """The state of each row, as an expression; NULL where a covered column has no state."""
        import ibis

        number: Any = ibis.literal(0, "int64")
        for name in self.covers:
            levels = columns[name].levels or ()
            value: Any = reading.read(table, columns, name).value
            index = ibis.cases(*((value == literal(x), i) for i, x in enumerate(levels)))
            number = number * len(levels) + index.cast("int64")
        return number

    def names(self, columns: Mapping[str, Column]) -> list[str]:
        """The declared states of the covered columns that each state of a record stands for."""
        levels = [columns[name].levels or () for name in self.covers]
        return [", ".join(map(repr, values)) for values in product(*levels)]


def support_findings(
    table: Table, records: Any, clustered: bool, columns: Mapping[str, Column], ruled_out: RuledOut
) -> list[Finding]:
    """Records of the table that have probability 0 under every member of the population.

    `records` has a row for each record, with its `state`, and where the population asks for them
    its `cluster` and `member`, or its series (`series_`) and `place` in it.
    """
    known = records.filter(records.state.notnull())
    words = ""
    for support in ruled_out.supports:
        if isinstance(support, ChainSupport):
            words = _in_series(table, known, ruled_out.names(columns), support)
        elif isinstance(support, ClusterSupport):
            words = _in_clusters(table, known, clustered, support)
        else:
            words = _in_graph(table, known, ruled_out.names(columns), support)
        if not words:
            return []
    return [Finding("impossible", f"{_OUTSIDE[len(ruled_out.supports) > 1]}: {words}. {_REMEDY}")]


_OUTSIDE = "Impossible in the declared population", "Impossible in every member of the family"
_REMEDY = (
    "Levels are about tables that the population can make: declare a positive probability for all "
    "that can happen, or mend the table."
)
_MOST_NAMED = 5


def _in_series(table: Table, records: Any, names: Sequence[str], support: ChainSupport) -> str:
    """What is impossible in the series, in words; the first record of each has the place 0."""
    query = records.order_by("series_", "place").select(
        place=records.place.cast("int64"), state=records.state
    )
    faults = support.impossible(table.each_row(query))
    return _listed(
        (f"{names[fault.state]} {_after(fault, names)}", number)
        for fault, number in faults.most_common()
    )


def _after(fault: Fault, names: Sequence[str]) -> str:
    if fault.before is None:
        return "in the first record of a series"
    return f"{counted(fault.steps, 'step')} after {names[fault.before]}"


def _listed(faults: Iterable[tuple[str, int]]) -> str:
    """The first faults in words, with how often each occurs."""
    words = [f"{what} ({counted(number, 'time')})" for what, number in faults]
    more = [f"{len(words) - _MOST_NAMED} more kinds"] if len(words) > _MOST_NAMED else []
    return "; ".join([*words[:_MOST_NAMED], *more])


def _in_graph(table: Table, records: Any, names: Sequence[str], support: RecordSupport) -> str:
    """The states that more records have than can have them, in words."""
    groups = records.group_by("state").aggregate(size=lambda t: t.count())
    return _listed(
        (f"{names[state]}, which {most or 'no'} record{'' if most == 1 else 's'} can have", size)
        for state, size in sorted(table.rows(groups))
        if size > (most := int(support.most[state]))
    )


def _in_clusters(table: Table, records: Any, clustered: bool, law: ClusterSupport) -> str:
    """What is impossible in the clusters, in words. Without a cluster column each row is one."""
    import ibis

    axis: Any = ibis.literal(0, "int64")
    if law.roles is not None:
        marks = ((records.member == literal(role), i) for i, role in enumerate(law.roles))
        axis = ibis.cases(*marks).cast("int64")
    width = law.cells.shape[0]
    placed = records.mutate(placed=axis * width + records.state)
    if clustered:
        groups = placed.group_by("cluster").aggregate(
            all=lambda t: t.placed.collect(order_by=t.placed)
        )
    else:
        groups = placed.select(all=ibis.array([placed.placed]))
    alike = groups.group_by("all").aggregate(size=lambda t: t.count())
    number = sum(
        size
        for members, size in table.rows(alike)
        if not law.possible([divmod(member, width) for member in members])
    )
    return f"the states of {counted(number, 'cluster')} together" if number else ""
