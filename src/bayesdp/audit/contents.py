"""What the records of a study can hold: cells to try, as its declarations make them matter.

Made up from declarations alone; no table is read. Cells lie at bounds and beyond them, between cuts
and edges, on both sides of the numbers in conditions, at every state, at codes of missing values
and at texts that are none of the states.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np

from bayesdp.errors import UnsupportedError
from bayesdp.release.spec.parts import NO_NOISE
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.queries import column_names
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.predicates import Predicate

RowCells = dict[str, Any]
"""The private cells of a row, by the columns of the table."""

_QUOTED = r"""["']([^"']*)["']"""

MOST_PLACES = 300
"""The most combinations of public states of which each has a row."""

MOST_CONTENTS = 64
"""The most contents of a row that are tried."""

FAR = 1e6
"""How far beyond its bounds a value is tried, in widths of the bounds."""


@dataclass(frozen=True)
class MadeRow:
    """The private cells of a row, and the place of its public ones; -1: its slot decides."""

    cells: RowCells
    place: int = -1


Content = tuple[MadeRow, ...]
"""The rows of a record."""


@dataclass(frozen=True)
class DeclaredRecords:
    """What a study declares of its records, as far as made-up tables need it.

    `places` are the combinations of states of the public columns `public`, in their order.
    """

    spec: StudySpec
    public: tuple[str, ...]
    places: tuple[tuple[Any, ...], ...]
    numbers: dict[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: StudySpec) -> DeclaredRecords:
        """The declarations of a study. Raises `UnsupportedError` for what can't be made up."""
        _require_made_up(spec)
        used = {name for query in spec.queries for name in column_names(query.by)}
        for query in spec.queries:
            if query.where is not None:
                used |= Predicate.parse(query.where, spec.columns).columns
        public = tuple(
            name
            for name, column in spec.columns.items()
            if name in used and column.is_public and column.levels is not None
        )
        levels = [spec.columns[name].levels or () for name in public]
        if math.prod(map(len, levels)) > MOST_PLACES:
            raise UnsupportedError(
                "query.by",
                list(public),
                expected=f"public columns of at most {MOST_PLACES} combinations of states, so that "
                "made-up tables have a row of each",
                remedy="Audit a study with fewer groups.",
            )
        declarations = cls(spec, public, tuple(product(*levels)))
        for name, cell in declarations._private_cells():
            known = declarations.numbers.setdefault(name, [])
            known += [value for value in cell if value not in known]
        for column in spec.columns.values():
            if column.states is not None and column.is_private:
                _only_states(declarations.numbers[column.cells[0]], column)
        return declarations

    def _private_cells(self) -> Iterable[tuple[str, list[Any]]]:
        edges: dict[str, list[float]] = {}
        for query in self.spec.queries:
            tried = [*(query.bins or ()), *(query.candidates or ())]
            for name in query.value_columns:
                edges.setdefault(name, []).extend(tried)
            if query.where is not None:
                for name in Predicate.parse(query.where, self.spec.columns).columns:
                    edges.setdefault(name, []).extend(_numbers_in(query.where))
        for name, column in self.spec.columns.items():
            if column.is_private:
                yield column.cells[0], _cells_of(column, edges.get(name, []))

    def can_vary(self) -> tuple[str, ...]:
        """The table's columns about which the study's level speaks: a record's other values.

        All private ones under the notion `dp`; otherwise the covered and the independent ones.
        """
        covers = self.covers
        columns = self.spec.columns
        speaks = {
            name
            for name, column in columns.items()
            if column.is_private and (covers is None or name in covers or column.independent)
        }
        cells = {columns[name].cells[0] for name in speaks}
        # Cells that a column outside of the level reads as well stay as they are.
        fixed_cells = {
            column.cells[0]
            for name, column in columns.items()
            if column.is_private and name not in speaks and not column.is_derived
        }
        return tuple(cell for cell in self.numbers if cell in cells - fixed_cells)

    @property
    def covers(self) -> tuple[str, ...] | None:
        """The covered columns; `None` under the notion `dp`, whose level is about all."""
        population, budget = self.spec.population, self.spec.budget
        if population is None or budget.notion == "dp":
            return None
        return population.covers

    def first(self) -> RowCells:
        """An ordinary row: in bounds, a declared state."""
        return {name: values[0] for name, values in self.numbers.items()}

    def rows(
        self, rng: np.random.Generator, *, inside: frozenset[str] = frozenset()
    ) -> list[RowCells]:
        """Contents of a row to try: combinations of cells, at most `MOST_CONTENTS` of them.

        Of the columns `inside` only cells within their bounds.
        """
        names = self.can_vary()
        options = [
            [v for v in self.numbers[name] if name not in inside or self._within(name, v)]
            for name in names
        ]
        many = math.prod(map(len, options))
        if many <= MOST_CONTENTS:
            combinations = list(product(*options))
        else:
            combinations = [tuple(values[i % len(values)] for values in options) for i in range(16)]
            combinations += [
                tuple(values[int(rng.integers(len(values)))] for values in options)
                for _ in range(MOST_CONTENTS - len(combinations))
            ]
        return [self.first() | dict(zip(names, cells, strict=True)) for cells in combinations]

    def _within(self, cell: str, value: Any) -> bool:
        bounds = [
            column.bounds
            for column in self.spec.columns.values()
            if column.cells[0] == cell and column.bounds is not None
        ]
        return all(low <= value <= high for low, high in bounds)

    def of_states(self, covers: Sequence[str]) -> list[RowCells]:
        """For each combination of states of the columns `covers` a row that has it.

        Raises `UnsupportedError` where no cell that is tried has such a state.
        """
        columns = [self.spec.columns[name] for name in covers]
        levels = [column.levels or () for column in columns]
        names = tuple(dict.fromkeys(column.cells[0] for column in columns))
        rows: dict[tuple[Any, ...], RowCells] = {}
        for cells in product(*(self.numbers[name] for name in names)):
            row = dict(zip(names, cells, strict=True))
            states = tuple(_state_of(column, row, self.spec.columns) for column in columns)
            rows.setdefault(states, row)
        missing = [states for states in product(*levels) if states not in rows]
        if missing:
            raise UnsupportedError(
                "population.covers",
                list(covers),
                expected=f"a cell whose state is {missing[0]}, and none that was tried has it",
                remedy="Cover a column with declared states or cuts.",
            )
        return [self.first() | rows[states] for states in product(*levels)]


def _require_made_up(spec: StudySpec) -> None:
    """Raises `UnsupportedError` for studies whose tables can't be made up, or whose answers."""
    for position, query in enumerate(spec.queries):
        if query.kind in NO_NOISE:
            raise UnsupportedError(
                f"{spec.query_key(position)}.kind",
                query.kind,
                expected="a query whose numbers get noise of the release",
                remedy="Programs are attacked by `bayesdp program falsify`; answers perturbed at "
                "collection by `bayesdp.audit.believe`.",
            )
    if spec.data.wide is not None or spec.data.join:
        raise UnsupportedError(
            "data.wide" if spec.data.wide is not None else "data.join",
            shown=False,
            expected="one long table, to make up tables like it",
            remedy="Audit the same queries on a table that is long and joined already.",
        )
    for name, column in spec.columns.items():
        if column.groups is not None:
            raise UnsupportedError(
                f"data.columns.{name}.groups",
                column.groups,
                expected="declared groups, to make up tables with them",
                remedy="Audit the same study with states in their place.",
            )
        timed = column.is_date or column.is_duration or column.is_dated
        if timed or column.format is not None or column.parts is not None:
            raise UnsupportedError(
                f"data.columns.{name}",
                shown=False,
                expected="no dates, times and durations, to make up tables",
                remedy="Audit the same study with numbers in their place.",
            )


def _only_states(cells: list[Any], column: Column) -> None:
    """Take the cells out that a table with this column may not have."""
    texts = column.other is not None
    allowed = {*(column.states or ()), *column.codes}
    cells[:] = [v for v in cells if v in allowed or (texts and isinstance(v, str))]


def _cells_of(column: Column, edges: Sequence[float]) -> list[Any]:
    """Cells of a private column to try, an ordinary one first."""
    if column.where is not None:
        texts: list[Any] = re.findall(_QUOTED, column.where)
        if texts:
            return [*texts, "another text"]
        numbers = _numbers_in(column.where)
        return [v for x in numbers for v in (x - 1.0, x, x + 1.0)] or [0.0, 1.0]
    if column.cuts is not None:
        cuts = list(column.cuts)
        return [cuts[0] - 1.0, *((a + b) / 2 for a, b in pairwise(cuts)), cuts[-1], cuts[-1] + 1.0]
    values: list[Any] = []
    if column.bounds is not None:
        low, high = column.bounds
        width = high - low
        near = [x + s for x in sorted(edges) for s in (-1e-3 * width, 0.0, 1e-3 * width)]
        inside = [x for x in near if low <= x <= high][:30]
        far = [low - FAR * width, high + FAR * width]
        values = [(low + high) / 2, low, high, *inside, *(x for x in far if math.isfinite(x))]
    if column.states is not None:
        values = list(column.states)
        if column.other is not None:
            values.append("no state at all")
    return [*values, *column.codes]


def _numbers_in(condition: str) -> list[float]:
    plain = re.sub(_QUOTED, "", condition)
    return [float(text) for text in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?", plain)]


def _state_of(column: Column, row: RowCells, columns: dict[str, Column]) -> Any:
    """The state of a column in a row, as a plain reading has it; `None` if it has none."""
    value = row[column.cells[0]]
    source = columns.get(column.source) if column.source is not None else None
    if source is not None and source.bounds is not None and not isinstance(value, str):
        value = min(max(value, source.bounds[0]), source.bounds[1])
    if column.cuts is not None:
        return None if isinstance(value, str) else sum(cut <= value for cut in column.cuts)
    if column.where is not None:
        try:
            name = str(column.source)
            origin = source or Column(name=name, public=True)
            return int(Predicate.parse(column.where, {name: origin}).holds({name: value}))
        except (TypeError, ValueError):
            return None
    return value if column.states is not None and value in column.states else None
