"""Trees and Bayesian networks: records, each given its parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    Name,
    Names,
    PopulationStatement,
    Sequence,
    Statement,
    listed,
    once_each,
    one_form,
)
from bayesdp.statements.tables import parents_first, require_law, rows, shape, square


class Root(Statement):
    """A record that depends on none before it."""

    name: Name
    law: Any

    @property
    def values(self) -> int:
        """The number of values of the record."""
        return len(self.law)

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents: none."""
        return ()

    @property
    def table(self) -> Any:
        """The record's law."""
        return self.law

    @model_validator(mode="after")
    def _a_law(self) -> Root:
        square(self.law, 1)
        require_law(self.law)
        return self


class Child(Statement):
    """A record given its parent: row `u` of `transition` is its law when the parent is `u`."""

    name: Name
    parent: Name
    transition: Any

    @property
    def values(self) -> int:
        """The number of values of the record."""
        return len(self.transition[0])

    @property
    def parents(self) -> tuple[str, ...]:
        """The name of the only parent."""
        return (self.parent,)

    @property
    def table(self) -> Any:
        """The record's law for each value of the parent."""
        return self.transition

    @model_validator(mode="after")
    def _laws(self) -> Child:
        if len(shape(self.transition)) != 2:
            raise ValueError("a transition is a table of two axes")
        for row in self.transition:
            require_law(row)
        return self


TreeNode = Annotated[
    Annotated[Root, Tag("root")] | Annotated[Child, Tag("child")],
    Discriminator(lambda plain: one_form(plain, [("parent", "child")], "root")),
]


class Tree(PopulationStatement):
    """Records each of which depends on its parent."""

    model: Literal["tree"]
    nodes: Annotated[tuple[TreeNode, ...], Sequence, Field(min_length=1)]

    @model_validator(mode="after")
    def _a_forest(self) -> Tree:
        once_each((node.name for node in self.nodes), "two nodes are named {!r}".format)
        values = {node.name: node.values for node in self.nodes}
        for node in self.nodes:
            if isinstance(node, Child):
                if node.parent not in values:
                    raise ValueError(f"no node is named {node.parent!r}")
                if len(node.transition) != values[node.parent]:
                    raise ValueError(f"not one row for each value of {node.parent!r}")
        _require_no_cycle({node.name: node.parents for node in self.nodes})
        return self


class Variable(Statement):
    """A record of a network: one axis of `table` for each parent, the last for itself."""

    name: Name
    states: Annotated[
        Annotated[Count, Tag("single")]
        | Annotated[Annotated[Names, Field(min_length=1)], Tag("list")],
        Discriminator(listed),
    ]
    parents: Names = ()
    table: Any

    @property
    def values(self) -> int:
        """The number of values of the record."""
        return self.states if isinstance(self.states, int) else len(self.states)


class NetworkNodes(PopulationStatement):
    """A Bayesian network that is spelt out."""

    model: Literal["network"]
    nodes: Annotated[tuple[Variable, ...], Sequence, Field(min_length=1)]

    @model_validator(mode="after")
    def _a_network(self) -> NetworkNodes:
        once_each((node.name for node in self.nodes), "two nodes are named {!r}".format)
        values = {node.name: node.values for node in self.nodes}
        checked: set[tuple[str, tuple[int, ...]]] = set()
        for node in self.nodes:
            for parent in node.parents:
                if parent not in values:
                    raise ValueError(f"no node is named {parent!r}")
            sides = (*(values[parent] for parent in node.parents), node.values)
            same = repr(node.table), sides  # in a pedigree most tables are equal
            if same in checked:
                continue
            if shape(node.table) != sides:
                raise ValueError(f"the table of {node.name!r} has other axes than its parents")
            for row in rows(node.table, len(node.parents)):
                require_law(row)
            checked.add(same)
        _require_no_cycle({node.name: node.parents for node in self.nodes})
        return self


class ReadBy(Statement):
    """The reader of a network's file, with its version."""

    file: Name
    reader: Literal["own", "pyagrum"] = "own"


class NetworkFile(PopulationStatement):
    """A Bayesian network that stands in a file."""

    model: Literal["network"]
    bif: Name | ReadBy


def _require_no_cycle(parents: Mapping[str, tuple[str, ...]]) -> None:
    place = {name: number for number, name in enumerate(parents)}
    numbered = [[place[parent] for parent in above] for above in parents.values()]
    if len(parents_first(numbered)) < len(parents):
        raise ValueError("a node is its own ancestor")
