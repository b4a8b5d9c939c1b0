"""Discrete Bayesian networks: each record given its parents (theory 3.7, families as factors)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bayesdp.errors import InputError, check_keys, did_you_mean, require_shown
from bayesdp.populations.base import Rescaling
from bayesdp.populations.bif import read_bif
from bayesdp.populations.directed import OfNodes, check_node_keys, first_on_cycle, read_rows
from bayesdp.populations.files import find

if TYPE_CHECKING:
    from bayesdp.populations.factors import FactorGraph
    from bayesdp.populations.tree import Tree

_KEYS = ("name", "parents", "states", "table")
_FILE_KEYS = ("file", "reader")


class Variable(BaseModel):
    """One record: `table` has one axis for each parent, in their order, and the last for it.

    `states` is the number of its values, or their names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1)
    states: int | tuple[str, ...]
    parents: tuple[str, ...] = ()
    table: Any

    @property
    def size(self) -> int:
        """The number of its values."""
        return self.states if isinstance(self.states, int) else len(self.states)

    def spec(self) -> dict[str, Any]:
        """The record as plain data."""
        states = self.states if isinstance(self.states, int) else list(self.states)
        parents = {"parents": list(self.parents)} if self.parents else {}
        return {"name": self.name, "states": states, **parents, "table": _listed(self.table)}


class Network(OfNodes):
    """A Bayesian network: every record has a law for each combination of its parents' values.

    Either `nodes` (in any order), or the path of a JSON file of them (or `{ file, sha256 }`); or
    `bif`, the path of a BIF file (`{ file, reader = "pyagrum" }` reads it with pyAgrum). Files are
    read at once and kept as nodes. Rows sum to 1 up to rounding and are rescaled; zeros are
    allowed. Records are numbered in the order of the nodes.
    """

    model: Literal["network"] = "network"
    nodes: tuple[Variable, ...] = Field(min_length=1)
    bif: Any = None

    positional: ClassVar[tuple[str, ...]] = ("nodes",)
    structure: ClassVar[str] = "all"

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping) or raw.get("bif") is None:
            return raw
        if raw.get("nodes") is not None:
            raise InputError("population", expected="either bif or nodes, not both", shown=False)
        named = raw["bif"]
        options = named if isinstance(named, Mapping) else {"file": named}
        check_keys("population.bif", options, _FILE_KEYS)
        file = options.get("file")
        if not isinstance(file, str):
            raise InputError("population.bif", file, expected="the path of a BIF file")
        path = find(file, "population.bif")
        rescaling = Rescaling()
        nodes = read_bif(path, reader=options.get("reader", "own"), rescaling=rescaling)
        source = rescaling.noted(raw.get("source") or f"the network in {path.name}")
        return {**raw, "nodes": nodes, "bif": None, "source": source}

    @field_validator("nodes", mode="before")
    @classmethod
    def _known_keys(cls, raw: Any) -> Any:
        check_node_keys(raw, _KEYS)
        return raw

    @model_validator(mode="after")
    def _a_network(self) -> Network:
        place: dict[str, int] = {}
        for position, node in enumerate(self.nodes):
            require_shown(node.name, f"population.nodes[{position}].name")
            if node.name in place:
                raise InputError(
                    f"population.nodes[{position}].name",
                    node.name,
                    expected="a name of its own",
                    remedy=f"Node {place[node.name]} has it too.",
                )
            place[node.name] = position
            _check_states(node, f"population.nodes[{position}].states")
        tables_read: dict[tuple[str, tuple[int, ...]], Any] = {}
        rescaling = Rescaling()
        checked = tuple(
            node.model_copy(
                update={"table": self._table(node, place, position, tables_read, rescaling)}
            )
            for position, node in enumerate(self.nodes)
        )
        object.__setattr__(self, "nodes", checked)
        object.__setattr__(self, "source", rescaling.noted(self.source))
        self._check_cycles(place)
        return self

    def _table(
        self,
        node: Variable,
        place: dict[str, int],
        position: int,
        tables_read: dict[tuple[str, tuple[int, ...]], Any],
        rescaling: Rescaling,
    ) -> Any:
        """The node's table, checked; equal ones are checked once: in a pedigree, most are equal."""
        key = f"population.nodes[{position}]"
        for number, parent in enumerate(node.parents):
            if parent not in place or parent == node.name or parent in node.parents[:number]:
                raise InputError(
                    f"{key}.parents[{number}]",
                    parent,
                    expected=f"the name of another node, once, as a parent of '{node.name}'",
                    remedy="" if parent in place else did_you_mean(parent, list(place)[:10_000]),
                )
        sizes = [self.nodes[place[parent]].size for parent in node.parents]
        tolist = getattr(node.table, "tolist", None)
        table = tolist() if tolist is not None else node.table
        same = repr(table), (*sizes, node.size)
        if same not in tables_read:
            tables_read[same] = read_rows(table, sizes, node.size, f"{key}.table", rescaling)
        return tables_read[same]

    def _check_cycles(self, place: dict[str, int]) -> None:
        stuck = first_on_cycle([[place[parent] for parent in node.parents] for node in self.nodes])
        if stuck is not None:
            raise InputError(
                f"population.nodes[{stuck}].parents",
                list(self.nodes[stuck].parents),
                expected="a network without cycles",
                remedy="This node is an ancestor of its own, or descends from one that is.",
            )

    @property
    def records(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each record."""
        return tuple(node.size for node in self.nodes)

    @property
    def common_states(self) -> int | None:
        """How many values every record has; `None` where records differ."""
        return self.sizes[0] if len(set(self.sizes)) == 1 else None

    @cached_property
    def factor_graph(self) -> FactorGraph:
        """The same law as a graphical model: one factor for each record and its parents."""
        import numpy as np

        from bayesdp.populations.factors import FactorGraph, group_factors

        place = {node.name: position for position, node in enumerate(self.nodes)}
        factors = (
            ((*(place[parent] for parent in node.parents), i), np.asarray(node.table, dtype=float))
            for i, node in enumerate(self.nodes)
        )
        return FactorGraph(np.asarray(self.sizes, dtype=np.int64), group_factors(factors))

    @cached_property
    def as_tree(self) -> Tree | None:
        """The same law as a tree, where no record has two parents."""
        from bayesdp.populations.tree import Tree

        if any(len(node.parents) > 1 for node in self.nodes):
            return None
        nodes: Any = [
            {"name": node.name, "parent": node.parents[0], "transition": node.table}
            if node.parents
            else {"name": node.name, "law": node.table}
            for node in self.nodes
        ]
        return Tree(nodes=nodes)

    @property
    def group_size(self) -> int:
        """The records of the largest connected component."""
        return int(self.factor_graph.component_sizes.max())

    @property
    def table_size(self) -> int:
        """`records`, also where the network falls into components."""
        return self.records

    def spec(self) -> dict[str, Any]:
        """The population as plain data; the nodes of a network from a file are written out."""
        plain = self.model_dump(
            mode="json", exclude={"nodes"}, exclude_defaults=True, exclude_none=True
        )
        return plain | {"nodes": [node.spec() for node in self.nodes], "model": self.model}

    def describe(self) -> str:
        """One sentence in plain English."""
        links = sum(len(node.parents) for node in self.nodes)
        return (
            f"the {self.records} records form a Bayesian network with {links} arrows: each depends "
            "on the others through its parents and children, as declared"
        )

    def assumptions(self) -> tuple[str, ...]:
        """What a level under it rests on and nothing checks, in words."""
        return (
            *super().assumptions(),
            "every row is one record of the declared network, different rows are different "
            "records, and which is which does not depend on the values",
        )


def _listed(table: Any) -> Any:
    """A nested table as nested lists."""
    return [_listed(inner) for inner in table] if isinstance(table[0], tuple) else list(table)


def _check_states(node: Variable, key: str) -> None:
    if isinstance(node.states, int):
        if node.states < 1:
            raise InputError(key, node.states, expected="at least 1")
    elif not all(node.states) or not 0 < len(node.states) == len(set(node.states)):
        raise InputError(key, list(node.states), expected="different names, at least one")
    else:
        for state in node.states:
            require_shown(state, key)
