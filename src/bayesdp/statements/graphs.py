"""Finite laws of clusters, and graphs: a law proportional to a product of factors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    InFile,
    PopulationStatement,
    Roles,
    Sequence,
    Statement,
    distinct,
    listed,
)
from bayesdp.statements.tables import require_law, require_weights, shape, square

Place = Annotated[int, Field(ge=0)]
"""The number of a record, from 0."""


class Finite(PopulationStatement):
    """Clusters with a joint law: one axis of `probabilities` for each record."""

    model: Literal["finite"]
    probabilities: Any
    roles: Roles | None = None

    @model_validator(mode="after")
    def _a_law(self) -> Finite:
        sides = shape(self.probabilities)
        if not sides:
            raise ValueError("not a table with one axis for each record")
        require_law(self.probabilities)
        if self.roles is not None and len(self.roles) != len(sides):
            raise ValueError("not one role for each axis")
        return self


class Factor(Statement):
    """A factor of a graph: its table has one axis for each record that it stands `between`."""

    between: Annotated[tuple[Place, ...], Sequence, Field(min_length=1), AfterValidator(distinct)]
    table: Any


StateCounts = Annotated[
    Annotated[Count, Tag("single")]
    | Annotated[Annotated[tuple[Count, ...], Sequence], Tag("list")],
    Discriminator(listed),
]


class GraphFactors(PopulationStatement):
    """A law proportional to a product of factors."""

    model: Literal["graph"]
    records: Count
    states: StateCounts
    factors: Annotated[tuple[Factor, ...], Sequence]

    @model_validator(mode="after")
    def _sizes_agree(self) -> GraphFactors:
        if isinstance(self.states, tuple) and len(self.states) != self.records:
            raise ValueError("not one number of states for each record")
        for factor in self.factors:
            if max(factor.between) >= self.records:
                raise ValueError("a factor names a record that is not there")
            of_records = tuple(
                self.states if isinstance(self.states, int) else self.states[record]
                for record in factor.between
            )
            if shape(factor.table) != of_records:
                raise ValueError("a factor's table has other states than its records")
            require_weights(factor.table)
        return self


class _SharedTable(PopulationStatement):
    model: Literal["graph"]
    states: StateCounts | None = None
    table: Any

    def _check_table(self, records: int) -> None:
        values = square(self.table, 2)
        require_weights(self.table)
        listed = self.states if isinstance(self.states, tuple) else (self.states,)
        if self.states is not None and set(listed) != {values}:
            raise ValueError("other states than the shared table has")
        if isinstance(self.states, tuple) and len(self.states) != records:
            raise ValueError("not one number of states for each record")


RecordPair = Annotated[tuple[Place, Place], Sequence]


class PairsInFile(InFile):
    """Pairs that stand in a file, each of them once, or once in each order (`both_ways`)."""

    both_ways: bool = False


class GraphEdges(_SharedTable):
    """Pairs of records that share one table."""

    records: Count
    edges: Annotated[
        Annotated[tuple[RecordPair, ...], Sequence, Tag("list")]
        | Annotated[PairsInFile, Tag("single")],
        Discriminator(listed),
    ]

    @model_validator(mode="after")
    def _sizes_agree(self) -> GraphEdges:
        self._check_table(self.records)
        pairs = self.edges if isinstance(self.edges, tuple) else ()
        for pair in pairs:
            if pair[0] == pair[1] or max(pair) >= self.records:
                raise ValueError("an edge of records that are not there, or of one with itself")
        if len({frozenset(pair) for pair in pairs}) < len(pairs):
            raise ValueError("an edge stands there twice, in the same or in the other order")
        return self


class GraphGrid(_SharedTable):
    """A grid whose neighbours share one table."""

    records: Count | None = None
    grid: Annotated[tuple[Count, Count], Sequence]

    @model_validator(mode="after")
    def _sizes_agree(self) -> GraphGrid:
        records = self.grid[0] * self.grid[1]
        if self.records not in (None, records):
            raise ValueError("another number of records than the grid has")
        self._check_table(records)
        return self
