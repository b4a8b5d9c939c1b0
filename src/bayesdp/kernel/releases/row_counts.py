"""Public counts of rows, which results show: held against each other and against the population.

A mean or proportion says over how many rows it is. Such counts are sums over one table of all
records by their public values, so they must agree; and a group of rows has no more of them than the
declared clusters or series leave room for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from bayesdp.kernel.arithmetic import require, watched
from bayesdp.kernel.costs.blocks import truth
from bayesdp.kernel.costs.queries import condition
from bayesdp.kernel.models.populations import group_size
from bayesdp.kernel.reading import as_text
from bayesdp.statements import columns as kinds
from bayesdp.statements import populations
from bayesdp.statements.columns import Columns, Value
from bayesdp.statements.conditions import ConditionTree, Joined, columns_of
from bayesdp.statements.populations import Population
from bayesdp.statements.queries import OF_MATCHING, TableQuery, column_names

Part = frozenset[tuple[str, frozenset[int]]]
"""Rows whose public columns have one of some values: for each such column the values' places."""

ALL: Part = frozenset()
_MOST_CROSSING = 6
"""Counts of larger combinations give no lower limits on what they share: less is then inferred."""


def check_row_counts(
    shown: Sequence[tuple[TableQuery, object, int]],
    n: int,
    declared: Columns,
    population: Population | None,
) -> None:
    """`InvalidError` unless a table of `n` rows can have the counts.

    `shown` are queries with the group (or `None`) that a result is about, and its number of rows.
    """
    counts = _Counts(n, declared, population)
    grouped: dict[str, tuple[TableQuery, int]] = {}
    for query, group, rows in shown:
        counts.add(query, group, rows)
        if query.by is not None:
            before = grouped.get(query.name, (query, 0))[1]
            grouped[query.name] = (query, before + rows)
    for query, rows in grouped.values():
        counts.add(query, None, rows)
    counts.check()


class _Counts:
    """The counts by part of the table."""

    def __init__(self, n: int, declared: Columns, population: Population | None) -> None:
        self.n, self.declared, self.population = n, declared, population
        self.known: dict[Part, int] = {ALL: n}
        self.other: dict[tuple[str, Part], int] = {}
        self._places: dict[str, dict[str, int]] = {}
        named = ((name, getattr(column, "role", None)) for name, column in declared.items())
        self.roles = {role: name for name, role in named if role is not None}

    def places(self, column: str) -> dict[str, int]:
        """The place of each value of a column, by its text."""
        if column not in self._places:
            values = enumerate(self.levels(column))
            self._places[column] = {as_text(value): place for place, value in values}
        return self._places[column]

    def levels(self, column: str) -> tuple[Value, ...]:
        levels = self.declared[column].levels if column in self.declared else None
        return tuple(levels or ())

    # -- which rows a count is about ----------------------------------------------------------

    def add(self, query: TableQuery, group: object, rows: int) -> None:
        where, name = query.where, query.name
        sets: dict[str, frozenset[int]] = {}
        decided = True
        if where is not None and query.kind in OF_MATCHING:
            decided = self.narrowed(condition(where), sets)
        if group is not None:
            values = group if isinstance(group, tuple) else (group,)
            for column, value in zip(column_names(query.by), values, strict=True):
                place = self.places(column)[as_text(value)]
                chosen = self.in_source(column, frozenset([place]))
                self.narrow(sets, *chosen)
        require(all(sets.values()), f"it has {rows} rows, but there can be none", name)
        full = {column: len(self.levels(column)) for column in sets}
        part = frozenset((c, kept) for c, kept in sets.items() if len(kept) < full[c])
        require(rows <= self.most(part), f"it has more rows ({rows}) than the groups have", name)
        if decided:
            known_rows = self.known.setdefault(part, rows)
        else:
            known_rows = self.other.setdefault((repr(condition(str(where))), part), rows)
        require(
            known_rows == rows,
            f"it has {rows} rows, but another result says that they are {known_rows}",
            name,
        )

    def narrowed(self, node: ConditionTree, sets: dict[str, frozenset[int]]) -> bool:
        """Narrow `sets` by a condition. True if they then say everything that it says."""
        if isinstance(node, Joined) and node.how == "and":
            return all([self.narrowed(part, sets) for part in node.parts])
        names = columns_of(node)
        decided = len(names) == 1
        for column in names:
            values = self.levels(column)
            held = [truth(node, column, value) for value in values]
            decided = decided and bool(values) and None not in held
            if values:
                left = frozenset(i for i, holds in enumerate(held) if holds is not False)
                self.narrow(sets, *self.in_source(column, left))
        return decided

    @staticmethod
    def narrow(sets: dict[str, frozenset[int]], column: str, kept: frozenset[int]) -> None:
        sets[column] = sets[column] & kept if column in sets else kept

    def in_source(self, column: str, kept: frozenset[int]) -> tuple[str, frozenset[int]]:
        """Values of a derived column as those that it is computed from, if these are declared."""
        derived = self.declared[column]
        source = getattr(derived, "source", None)
        values = self.levels(source) if source is not None else ()
        if not values:
            return column, kept
        made: list[int | bool | None]
        if isinstance(derived, kinds.Cut):
            numbers = [value for value in values if not isinstance(value, str)]
            assert len(numbers) == len(values), "the statements read no cuts of texts"
            made = [sum(cut <= number for cut in derived.cuts) for number in numbers]
        else:
            assert isinstance(derived, kinds.Condition)
            tree = condition(derived.where)
            made = [truth(tree, str(source), value) for value in values]
        reached = [value for value in made if value is not None]
        if len(reached) < len(made):
            return column, kept
        return str(source), frozenset(i for i, value in enumerate(reached) if int(value) in kept)

    # -- how many there can be ----------------------------------------------------------------

    def most(self, part: Part) -> int:
        """The most rows of a part: each cluster or series has one for each member or position."""
        if self.population is None:
            return self.n
        structure = populations.structure(self.population)
        if structure not in ("clusters", "series"):
            return self.n
        roles = {"clusters": ("cluster", "member"), "series": ("series", "order")}[structure]
        sets, groups, each = dict(part), self.n, group_size(self.population)
        outer, inner = (self.roles.get(role) for role in roles)
        if outer is None and structure == "series":
            groups = 1
        elif outer is not None and self.levels(outer):
            groups = len(sets.get(outer, self.levels(outer)))
        if inner is not None and self.levels(inner):
            each = min(each, len(sets.get(inner, self.levels(inner))))
        return min(self.n, groups * each)

    # -- whether they agree -------------------------------------------------------------------

    def check(self) -> None:
        """`InvalidError` for parts with more rows than the whole that they are parts of."""
        for (_, part), rows in self.other.items():
            self.within(rows, part)
        lines: dict[tuple[str, Part], dict[frozenset[int], int]] = {}
        for part, rows in self.known.items():
            for column, kept in part:
                lines.setdefault((column, part - {(column, kept)}), {})[kept] = rows
        for (column, rest), counted in lines.items():
            places = frozenset(range(len(self.levels(column))))
            if rest in self.known:
                counted[places] = self.known[rest]
            self.line(column, rest, counted)
        for part, rows in self.known.items():
            self.crossing(part, rows)

    def crossing(self, part: Part, rows: int) -> None:
        """Two parts of `A` and `B` rows share at least `A + B - whole` rows."""
        if not 2 <= len(part) <= _MOST_CROSSING:
            return
        for sides in product(("first", "second", "both"), repeat=len(part)):
            watched()
            placed = list(zip(part, sides, strict=True))
            first = frozenset(item for item, side in placed if side != "second")
            second = frozenset(item for item, side in placed if side != "first")
            if first in self.known and second in self.known and part not in (first, second):
                whole = self.known.get(first & second, self.n)
                least = self.known[first] + self.known[second] - whole
                words = "of rows that cross there are more than the table has"
                require(least <= rows, words, "results")

    def within(self, rows: int, part: Part) -> None:
        over = self.known.get(part, self.n)
        require(rows <= over, f"a part has {rows} rows, but the whole has {over}", "results")

    def line(self, column: str, rest: Part, counted: Mapping[frozenset[int], int]) -> None:
        single = {next(iter(kept)): rows for kept, rows in counted.items() if len(kept) == 1}
        several = {kept: rows for kept, rows in counted.items() if len(kept) > 1}
        fits = sum(single.values()) <= self.most(rest)
        require(fits, f"the parts of {column!r} are more rows than there are", "results")
        for kept, rows in several.items():
            missing = [place for place in kept if place not in single]
            least = sum(single[place] for place in kept if place in single)
            room = sum(self.most(rest | {(column, frozenset([place]))}) for place in missing)
            agree = least <= rows <= least + room
            require(agree, f"the parts of {column!r} don't make up {rows} rows", "results")
            for other, other_rows in several.items():
                if kept < other:
                    require(
                        rows <= other_rows,
                        f"a part has {rows} rows, but the whole has {other_rows}",
                        "results",
                    )
                elif not kept & other:
                    together = counted.get(kept | other)
                    fits = rows + other_rows <= self.n and together in (None, rows + other_rows)
                    require(fits, f"the parts of {column!r} don't make up a whole", "results")


__all__ = ["check_row_counts"]
