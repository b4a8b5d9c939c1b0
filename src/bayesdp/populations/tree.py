"""Trees: every record except the roots depends on its parent (theory 3.5r)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bayesdp.errors import InputError, did_you_mean, require_shown
from bayesdp.populations.base import Rescaling, require_numbers
from bayesdp.populations.directed import OfNodes, check_node_keys
from bayesdp.statements.tables import parents_first

if TYPE_CHECKING:
    from bayesdp.populations.factors import FactorGraph

_KEYS = ("law", "name", "parent", "transition")


class TreeNode(BaseModel):
    """One record: a root has a `law`, any other a `parent` and `transition[parent's value]`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    law: tuple[float, ...] | None = None
    parent: str | None = None
    transition: tuple[tuple[float, ...], ...] | None = None


class Tree(OfNodes):
    """A tree, or several that are mutually independent: each record given its parent.

    `nodes` in any order, or the path of a JSON file of them (or `{ file, sha256 }`). A root has a
    `law`; any other node names its `parent` and has a `transition`, whose row `u` is its law when
    the parent is `u`. Rows sum to 1 up to rounding and are rescaled; zeros are allowed; nodes
    may differ in their numbers of states.
    """

    model: Literal["tree"] = "tree"
    nodes: tuple[TreeNode, ...] = Field(min_length=1)

    positional: ClassVar[tuple[str, ...]] = ("nodes",)
    structure: ClassVar[str] = "all"

    @field_validator("nodes", mode="before")
    @classmethod
    def _known_keys(cls, raw: Any) -> Any:
        check_node_keys(raw, _KEYS)
        for position, node in enumerate(raw if isinstance(raw, list | tuple) else ()):
            for key in ("law", "transition") if isinstance(node, dict) else ():
                require_numbers(node.get(key), f"population.nodes[{position}].{key}")
        return raw

    @model_validator(mode="after")
    def _a_forest(self) -> Tree:
        rescaling = Rescaling()
        nodes = tuple(
            _checked(node, f"population.nodes[{i}]", rescaling) for i, node in enumerate(self.nodes)
        )
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "source", rescaling.noted(self.source))
        place: dict[str, int] = {}
        for position, node in enumerate(self.nodes):
            key = f"population.nodes[{position}].name"
            require_shown(node.name, key)
            if not node.name:
                raise InputError(key, node.name, expected="a name")
            if node.name in place:
                raise InputError(
                    key,
                    node.name,
                    expected="a name of its own",
                    remedy=f"Node {place[node.name]} has it too.",
                )
            place[node.name] = position
        for position, node in enumerate(self.nodes):
            self._check_parent(position, node, place)
        self._check_cycles()
        return self

    def _check_parent(self, position: int, node: TreeNode, place: dict[str, int]) -> None:
        if node.parent is None:
            return
        key = f"population.nodes[{position}]"
        if node.parent not in place:
            raise InputError(
                f"{key}.parent",
                node.parent,
                expected=f"the name of a node, as the parent of '{node.name}'",
                remedy=did_you_mean(node.parent, list(place)[:10_000]),
            )
        states, rows = self.sizes[place[node.parent]], len(node.transition or ())
        if rows != states:
            raise InputError(
                f"{key}.transition",
                rows,
                expected=f"{states} rows, one for each value of '{node.parent}'",
            )

    def _check_cycles(self) -> None:
        if len(self.order) == len(self.nodes):
            return
        reached = set(self.order)
        position = next(i for i in range(len(self.nodes)) if i not in reached)
        for _ in self.nodes:
            position = self.parents[position]
        raise InputError(
            f"population.nodes[{position}].parent",
            self.nodes[position].parent,
            expected="a tree",
            remedy="This node is an ancestor of its own: follow its parents.",
        )

    @property
    def records(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def common_states(self) -> int | None:
        """How many values every record has; `None` where records differ."""
        return self.sizes[0] if len(set(self.sizes)) == 1 else None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each node."""
        return tuple(
            len(n.law if n.law is not None else (n.transition or ((),))[0]) for n in self.nodes
        )

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The position of each node's parent; -1 for a root."""
        place = {node.name: position for position, node in enumerate(self.nodes)}
        return tuple(-1 if n.parent is None else place[n.parent] for n in self.nodes)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes, every parent before its children. Shorter if there is a cycle."""
        return tuple(parents_first([() if above < 0 else (above,) for above in self.parents]))

    @cached_property
    def factor_graph(self) -> FactorGraph:
        """The same law as a graphical model: one factor for each root and for each edge."""
        import numpy as np

        from bayesdp.populations.factors import FactorGraph, group_factors

        factors = (
            ((i,), np.asarray(node.law))
            if node.law is not None
            else ((self.parents[i], i), np.asarray(node.transition))
            for i, node in enumerate(self.nodes)
        )
        return FactorGraph(np.asarray(self.sizes, dtype=np.int64), group_factors(factors))

    @property
    def group_size(self) -> int:
        """The records of the largest tree."""
        roots = list(range(len(self.nodes)))
        count = [0] * len(self.nodes)
        for position in self.order:
            parent = self.parents[position]
            roots[position] = position if parent < 0 else roots[parent]
            count[roots[position]] += 1
        return max(count)

    @property
    def table_size(self) -> int:
        """`records`, of all trees together."""
        return self.records

    def describe(self) -> str:
        """One sentence in plain English."""
        trees = sum(1 for parent in self.parents if parent < 0)
        many = "one tree" if trees == 1 else f"{trees} mutually independent trees"
        return (
            f"the {len(self.nodes)} records form {many} in which each record depends on the others "
            "through its neighbours, as declared"
        )

    def assumptions(self) -> tuple[str, ...]:
        """What a level under it rests on and nothing checks, in words."""
        return (
            *super().assumptions(),
            "every row is one record of the declared tree, different rows are different records, "
            "and which is which does not depend on the values",
        )


def _checked(node: TreeNode, key: str, rescaling: Rescaling) -> TreeNode:
    """The node with its law or its rows rescaled."""
    if node.parent is None:
        if node.law is None or node.transition is not None:
            raise InputError(
                key,
                node.name,
                expected="a law (a root), or a parent and a transition",
                remedy="A transition needs a parent." if node.transition is not None else "",
            )
        if not node.law:
            raise InputError(f"{key}.law", [], expected="at least one probability")
        return node.model_copy(update={"law": rescaling.law(node.law, f"{key}.law")})
    if node.law is not None or not node.transition:
        raise InputError(
            f"{key}.transition",
            node.name,
            expected="a transition and no law, since the node has a parent",
        )
    width = len(node.transition[0])
    rows = []
    for position, row in enumerate(node.transition):
        place = f"{key}.transition[{position}]"
        if len(row) != width or width == 0:
            raise InputError(
                place, list(row), expected=f"{max(width, 1)} probabilities, as in the first row"
            )
        rows.append(rescaling.law(row, place))
    return node.model_copy(update={"transition": tuple(rows)})
