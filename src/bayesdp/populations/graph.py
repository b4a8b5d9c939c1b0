"""Discrete graphical models: a law proportional to a product of factors (theory 3.7)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
    model_validator,
)

from bayesdp.errors import InputError
from bayesdp.populations.base import Population, require_numbers
from bayesdp.populations.edges import Edges, read_edges

if TYPE_CHECKING:
    from bayesdp.populations.factors import FactorGraph

MOST_RECORDS = 50_000_000
"""The largest graph."""

MOST_CELLS = 10_000_000
"""The largest table of one factor, in cells."""

FactorTable = tuple[Any, ...]


class Factor(BaseModel):
    """One factor: the records that it is about, and a table with one axis for each of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    between: tuple[int, ...]
    table: FactorTable


class Graph(Population):
    """Records whose joint law is proportional to a product of non-negative factors.

    One of three forms. `factors`: a list of `between` (record numbers from 0) and `table` (nested,
    one axis a record, any non-negative weights). `edges`: a Parquet or CSV file of two integer
    columns (or `{ file, sha256 }`, or in Python an integer array of shape `(edges, 2)`), with one
    `table` shared by all pairs; `{ file, both_ways = true }` is a file that lists each pair in both
    orders, and then the table is symmetric. `grid = [rows, columns]`: neighbours share one `table`,
    whose first axis is the left or upper record. `states` is the number of values, one number or
    one for each record; with a shared table it may be left out. Not checked: that the weights leave
    some database possible where tables have zeros.
    """

    model: Literal["graph"] = "graph"
    records: int = Field(default=0, ge=0, le=MOST_RECORDS)
    states: int | tuple[int, ...] | None = None
    factors: tuple[Factor, ...] | None = None
    edges: Any = None
    grid: tuple[int, int] | None = None
    table: FactorTable | None = None

    structure: ClassVar[str] = "all"

    @field_validator("factors", mode="before")
    @classmethod
    def _read_factors(cls, raw: Any) -> Any:
        if raw is None:
            return None
        key = "population.factors"
        if not isinstance(raw, list | tuple):
            raise InputError(key, raw, expected="a list of { between = [...], table = [...] }")
        return [_read_factor(f"{key}[{i}]", factor) for i, factor in enumerate(raw)]

    @field_validator("edges", mode="before")
    @classmethod
    def _read_edges(cls, raw: Any) -> Any:
        return raw if raw is None or isinstance(raw, Edges) else read_edges(raw)

    @field_validator("grid", mode="before")
    @classmethod
    def _read_grid(cls, raw: Any) -> Any:
        require_numbers(raw, "population.grid")
        return raw

    @field_validator("table", mode="before")
    @classmethod
    def _read_table(cls, raw: Any) -> Any:
        return raw if raw is None else read_table(raw, "population.table")

    @field_serializer("edges", when_used="unless-none")
    def _write_edges(self, edges: Edges) -> Any:
        return edges.to_spec()

    @model_validator(mode="after")
    def _consistent(self) -> Graph:
        forms = [name for name in ("factors", "edges", "grid") if getattr(self, name) is not None]
        if len(forms) != 1:
            raise InputError(
                "population",
                forms,
                expected="exactly one of factors, edges (a file of pairs) and grid",
                shown=bool(forms),
            )
        if self.grid is not None:
            self._check_grid(self.grid)
        if self.records < 1:
            raise InputError(
                "population.records",
                self.records,
                expected="the number of records, at least 1",
                remedy="It is missing." if self.records == 0 else "",
            )
        if self.factors is not None:
            self._check_factors(self.factors)
        else:
            self._check_shared()
        return self

    def _check_grid(self, grid: tuple[int, int]) -> None:
        if min(grid) < 1:
            raise InputError("population.grid", list(grid), expected="[rows, columns], at least 1")
        if grid[0] * grid[1] > MOST_RECORDS:
            raise InputError(
                "population.grid",
                list(grid),
                expected=f"at most {MOST_RECORDS} records",
                remedy="Declare a coarser grid.",
            )
        if self.records not in (0, grid[0] * grid[1]):
            raise InputError(
                "population.records",
                self.records,
                expected=f"{grid[0] * grid[1]}, as the grid has, or nothing",
            )
        object.__setattr__(self, "records", grid[0] * grid[1])

    def _check_factors(self, factors: tuple[Factor, ...]) -> None:
        if self.table is not None:
            raise InputError(
                "population.table",
                expected="a table in each factor",
                remedy="A shared table belongs to edges and grid.",
                shown=False,
            )
        sizes = self._sizes()
        for position, factor in enumerate(factors):
            key = f"population.factors[{position}]"
            expected = []
            for place, record in enumerate(factor.between):
                if not 0 <= record < self.records:
                    raise InputError(
                        f"{key}.between[{place}]",
                        record,
                        expected=f"a record from 0 to {self.records - 1}",
                    )
                expected.append(sizes if isinstance(sizes, int) else sizes[record])
            if len(set(factor.between)) < len(factor.between):
                raise InputError(
                    f"{key}.between", list(factor.between), expected="distinct records"
                )
            shape = table_shape(factor.table)
            if shape != tuple(expected):
                raise InputError(
                    f"{key}.table",
                    factor.table,
                    expected=f"a nested array of shape {_by(expected)}, the states of its records",
                    remedy=f"It has shape {_by(shape)}.",
                )

    def _sizes(self) -> int | tuple[int, ...]:
        """`states`, checked."""
        if self.states is None:
            raise InputError(
                "population.states",
                expected="the number of values of a record, or a list with one for each record",
                remedy="It is missing.",
                shown=False,
            )
        if isinstance(self.states, int):
            if self.states < 1:
                raise InputError("population.states", self.states, expected="at least 1")
            return self.states
        if len(self.states) != self.records:
            raise InputError(
                "population.states",
                list(self.states),
                expected=f"one number, or {self.records} of them, one for each record",
                remedy=f"There are {len(self.states)}.",
            )
        for position, size in enumerate(self.states):
            if size < 1:
                raise InputError(f"population.states[{position}]", size, expected="at least 1")
        return self.states

    def _check_shared(self) -> None:
        if self.table is None:
            raise InputError(
                "population.table",
                expected="one table, shared by all pairs",
                remedy="It is missing.",
                shown=False,
            )
        shape = table_shape(self.table)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise InputError(
                "population.table",
                self.table,
                expected="a square table: every record has the same states",
                remedy=f"It has shape {_by(shape)}.",
            )
        given = (
            self.states if self.states is None or isinstance(self.states, int) else self._sizes()
        )
        if given is not None and set([given] if isinstance(given, int) else given) != {shape[0]}:
            raise InputError(
                "population.states",
                self.states,
                expected=f"{shape[0]}, as in the shared table, or nothing",
            )
        if self.edges is not None:
            self.edges.require_within(self.records)
            if self.edges.both_ways and self.table != tuple(zip(*self.table, strict=True)):
                raise InputError(
                    "population.table",
                    self.table,
                    expected="a symmetric table, since the pairs are listed both ways: nothing "
                    "says which record comes first",
                    remedy="Or list each pair once, the record of the first axis first.",
                )

    @property
    def common_states(self) -> int | None:
        """How many values every record has; `None` where records differ."""
        if isinstance(self.states, int):
            return self.states
        if self.table is not None:
            return len(self.table)
        sizes = set(self.states or ())
        return sizes.pop() if len(sizes) == 1 else None

    @cached_property
    def factor_graph(self) -> FactorGraph:
        """The model in arrays."""
        import numpy as np

        from bayesdp.populations.factors import (
            FactorGraph,
            grid_edges,
            group_factors,
            shared_table,
        )

        if self.factors is None:
            members = grid_edges(*self.grid) if self.grid is not None else self.edges.pairs
            return shared_table(self.records, members, np.asarray(self.table, dtype=float))
        sizes = np.broadcast_to(np.asarray(self.states, dtype=np.int64), (self.records,))
        tables = (
            (factor.between, np.asarray(factor.table, dtype=float)) for factor in self.factors
        )
        return FactorGraph(sizes, group_factors(tables))

    @property
    def group_size(self) -> int:
        """The records of the largest connected component."""
        return int(self.factor_graph.component_sizes.max())

    def spec(self) -> dict[str, Any]:
        """The population as plain data: what a study file or a certificate holds."""
        plain = self.model_dump(
            mode="json", exclude={"edges"}, exclude_defaults=True, exclude_none=True
        ) | {"model": self.model}
        return plain if self.edges is None else plain | {"edges": self.edges.to_spec()}

    @property
    def table_size(self) -> int:
        """`records`, also where the graph falls into components."""
        return self.records

    def describe(self) -> str:
        """One sentence in plain English."""
        if self.grid is not None:
            form = f"in a grid of {self.grid[0]} x {self.grid[1]} whose neighbours share one factor"
        elif self.edges is not None:
            form = f"along {len(self.edges.pairs)} declared pairs, which share one factor"
        else:
            form = f"through the {len(self.factors or ())} declared factors"
        return f"the {self.records} records depend on each other {form} of a graphical model"

    def assumptions(self) -> tuple[str, ...]:
        """What a level under it rests on and nothing checks, in words."""
        return (
            *super().assumptions(),
            "every row is one record of the declared graph, different rows are different records, "
            "and which is which does not depend on the values",
        )


def _read_factor(key: str, raw: Any) -> Any:
    if isinstance(raw, Factor):
        return raw
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected="{ between = [...], table = [...] }")
    for name in raw:
        if name not in ("between", "table"):
            close = difflib.get_close_matches(str(name), ("between", "table"), n=1)
            raise InputError(
                f"{key}.{name}",
                expected="between and table only",
                remedy=f"Did you mean '{close[0]}'?" if close else "",
                shown=False,
            )
    for name in ("between", "table"):
        if name not in raw:
            raise InputError(
                f"{key}.{name}", expected="a value", remedy="It is missing.", shown=False
            )
    between = raw["between"]
    if (
        not isinstance(between, list | tuple)
        or not between
        or not all(isinstance(record, int) and not isinstance(record, bool) for record in between)
    ):
        raise InputError(f"{key}.between", between, expected="a list of record numbers")
    return {"between": tuple(between), "table": read_table(raw["table"], f"{key}.table")}


def read_table(raw: Any, key: str) -> FactorTable:
    """A nested table of finite non-negative weights, not all of them 0, as nested tuples.

    One axis for each record of the factor. Raises `InputError` about `key` for anything else.
    """
    import numpy as np

    expected = "a nested array of finite numbers, at least 0"
    if isinstance(raw, list | tuple):
        require_numbers(raw, key)
    try:
        table = np.asarray(raw)
    except ValueError:
        raise InputError(key, raw, expected=expected, remedy="Its rows differ in length.") from None
    if table.ndim == 0 or table.size == 0 or table.dtype.kind not in "iuf":
        raise InputError(key, raw, expected=expected)
    if table.size > MOST_CELLS:
        raise InputError(
            key,
            raw,
            expected=f"at most {MOST_CELLS} cells",
            remedy="Merge states, or write the factor as several of fewer records.",
        )
    table = table.astype(float)
    wrong = ~(np.isfinite(table) & (table >= 0.0))
    if wrong.any():
        cell = np.unravel_index(int(np.argmax(wrong)), table.shape)
        place = "".join(f"[{int(i)}]" for i in cell)
        raise InputError(
            f"{key}{place}", float(table[cell]), expected="a finite number, at least 0"
        )
    if not table.any():
        raise InputError(key, raw, expected="at least one positive number")
    nested: FactorTable = _tuples(table.tolist())
    return nested


def _tuples(nested: Any) -> Any:
    return tuple(map(_tuples, nested)) if isinstance(nested, list) else nested


def table_shape(table: FactorTable) -> tuple[int, ...]:
    """The shape of nested tuples, such as `read_table` makes."""
    shape = []
    here: Any = table
    while isinstance(here, tuple):
        shape.append(len(here))
        here = here[0]
    return tuple(shape)


def _by(shape: Any) -> str:
    return " x ".join(map(str, shape)) or "()"
