"""Structural causal models of a table: what people's values depend on, and what is recorded.

Nodes are latent causes, attributes of people, and data points; the mechanism's output is the one
child of the data points. A model is data: a frozen pydantic model that round-trips through TOML
and JSON. Setting a data point (`do`) and learning it (`see`) are two things (theory 5.3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from bayesdp.arrays import Floats
from bayesdp.causal.effects import Effect, SeeingAndDoing, compare, effect
from bayesdp.causal.elimination import EliminationFactor, factor, marginal
from bayesdp.causal.mechanism import Compiled, compiled, mechanism_of
from bayesdp.errors import (
    InputError,
    UnsupportedError,
    did_you_mean,
    explain_validation,
    not_a_table,
    text_of_file,
)
from bayesdp.populations import Finite
from bayesdp.populations.base import Rescaling
from bayesdp.populations.directed import check_node_keys, first_on_cycle, read_rows
from bayesdp.populations.files import read_json, read_toml
from bayesdp.populations.finite import MOST_CELLS as MOST_LAW_CELLS

Role = Literal["latent", "attribute", "data"]
OUTPUT = "output"
"""What the mechanism's output is called; no node may have this name."""

MOST_NODES = 500
_MOST_STATES = 1000
_KEYS = ("name", "parents", "role", "states", "table")


class CausalNode(BaseModel):
    """One variable: `table` has one axis for each parent, in their order, and the last for it.

    `states` is the number of its values, or their names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1)
    role: Role
    states: int | tuple[str, ...]
    parents: tuple[str, ...] = ()
    table: Any

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its values."""
        if isinstance(self.states, int):
            return tuple(str(value) for value in range(self.states))
        return self.states

    @property
    def size(self) -> int:
        """The number of its values."""
        return self.states if isinstance(self.states, int) else len(self.states)


class CausalModel(BaseModel):
    """A discrete structural causal model of the records and of what is published about them.

    `nodes` come in any order. Data points (`role = "data"`) are the records, numbered in the order
    of the nodes; a data point with one parent and neither `states` nor `table` records that parent
    truthfully. They may depend on attributes and latent causes, and nothing depends on them but
    the output: that is the hypothesis of the theorem that DP bounds the effect of setting a data
    point (theory 5.3). `mechanism`, optional, is what is published: `{"channel": ...}`,
    `{"count": ..., "epsilon": ...}` or `{"sum": ..., "epsilon": ...}`. Rows sum to 1
    up to rounding and are rescaled, which `source` then says. Raises `InputError` naming the key,
    the value and the remedy.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: Literal["causal"] = "causal"
    nodes: tuple[CausalNode, ...] = Field(min_length=1, max_length=MOST_NODES)
    mechanism: Any = None
    source: str = ""

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise explain_validation(error, type(self), data, "model") from None

    @classmethod
    def load(cls, text: str) -> CausalModel:
        """A model from inline JSON, or from a TOML or JSON file.

        Raises `InputError` for a file that can't be read and for what is not a causal model.
        """
        return cls(**_read(text))

    @classmethod
    def from_pyagrum(
        cls, network: Any, *, data: Sequence[str], latent: Sequence[str] = (), source: str = ""
    ) -> CausalModel:
        """A model from a pyAgrum causal model or Bayesian network (extra `networks`).

        `data` names the data points, `latent` the latent causes; all other nodes are attributes.
        Raises `InputError`, also for latent variables of a causal model that have no table.
        """
        from bayesdp.causal.agrum import nodes_of

        return cls(nodes=nodes_of(network, data, latent), source=source)

    @field_validator("nodes", mode="before")
    @classmethod
    def _plain_nodes(cls, raw: Any) -> Any:
        if not isinstance(raw, list | tuple):
            return raw
        check_node_keys(raw, _KEYS, "model.nodes")
        return [_truthful(node, raw) for node in raw]

    @model_validator(mode="after")
    def _checked(self) -> CausalModel:
        place: dict[str, int] = {}
        for position, node in enumerate(self.nodes):
            key = f"model.nodes[{position}]"
            if node.name in place or node.name == OUTPUT:
                taken = "That is the mechanism's output."
                if node.name in place:
                    taken = f"Node {place[node.name]} has it too."
                raise InputError(
                    f"{key}.name", node.name, expected="a name of its own", remedy=taken
                )
            place[node.name] = position
            _check_states(node, f"{key}.states")
        rescaling = Rescaling()
        checked = []
        for position, node in enumerate(self.nodes):
            table = self._table(node, place, f"model.nodes[{position}]", rescaling)
            checked.append(node.model_copy(update={"table": table}))
        object.__setattr__(self, "nodes", tuple(checked))
        object.__setattr__(self, "source", rescaling.noted(self.source))
        self._check_cycles(place)
        if not self.data:
            raise InputError(
                "model.nodes", expected='at least one node with role = "data"', shown=False
            )
        if self.mechanism is not None:
            object.__setattr__(self, "mechanism", mechanism_of(self.mechanism))
            self.compiled()
        return self

    def _table(
        self, node: CausalNode, place: dict[str, int], key: str, rescaling: Rescaling
    ) -> Any:
        for number, parent in enumerate(node.parents):
            where = f"{key}.parents[{number}]"
            if parent == OUTPUT and OUTPUT not in place:
                raise InputError(
                    where,
                    parent,
                    expected="no edge out of the output",
                    remedy="The output is published last and causes nothing in the table.",
                )
            if parent not in place or parent == node.name or parent in node.parents[:number]:
                raise InputError(
                    where,
                    parent,
                    expected=f"the name of another node, once, as a parent of '{node.name}'",
                    remedy="" if parent in place else did_you_mean(parent, place),
                )
            if self.nodes[place[parent]].role == "data":
                _refuse_edge(where, parent, node)
        sizes = [self.nodes[place[parent]].size for parent in node.parents]
        tolist = getattr(node.table, "tolist", None)
        table = tolist() if tolist else node.table
        return read_rows(table, sizes, node.size, f"{key}.table", rescaling)

    def _check_cycles(self, place: dict[str, int]) -> None:
        stuck = first_on_cycle([[place[parent] for parent in node.parents] for node in self.nodes])
        if stuck is not None:
            raise InputError(
                f"model.nodes[{stuck}].parents",
                list(self.nodes[stuck].parents),
                expected="causes without cycles",
                remedy="This node is a cause of its own, or an effect of one that is.",
            )

    # ------------------------------------------------------ what it says

    @cached_property
    def data(self) -> tuple[int, ...]:
        """The places of the data points among the nodes, in order."""
        return tuple(i for i, node in enumerate(self.nodes) if node.role == "data")

    @property
    def records(self) -> tuple[str, ...]:
        """The names of the data points, in order."""
        return tuple(self.nodes[i].name for i in self.data)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each data point."""
        return tuple(self.nodes[i].size for i in self.data)

    def place(self, name: str) -> int:
        """The position of the node of this name. Raises `InputError` for others."""
        names = [node.name for node in self.nodes]
        if name not in names:
            raise InputError(
                "record", name, expected="the name of a node", remedy=did_you_mean(str(name), names)
            )
        return names.index(name)

    def factors(self, *, without: int | None = None) -> list[EliminationFactor]:
        """The tables as factors; `without` leaves out the table of a node that is set."""
        place = {node.name: i for i, node in enumerate(self.nodes)}
        product = []
        for i, node in enumerate(self.nodes):
            if i == without:
                product.append(EliminationFactor((i,), np.ones((node.size, 1))))
                continue
            scope = [*(place[parent] for parent in node.parents), i]
            product.append(factor(scope, np.asarray(node.table, dtype=float)[..., None]))
        return product

    def marginal(self, *names: str) -> Floats:
        """The joint law of the nodes of these names, one axis each.

        Raises `InputError` for other names, `UnsupportedError` where the sums are too large.
        """
        keep = [self.place(name) for name in names]
        table = marginal(self.factors(), keep, [node.size for node in self.nodes]).table[..., 0]
        joint: Floats = np.minimum(table / table.sum(), 1.0)
        return joint

    def population(self) -> Finite:
        """The joint law of the data points, the population that BDP speaks about.

        Raises `UnsupportedError` if it has more cells than a `Finite` keeps.
        """
        cells = 1
        for size in self.sizes:
            cells *= size
        if cells > MOST_LAW_CELLS:
            raise UnsupportedError(
                "model",
                f"{len(self.data)} data points with {cells:.6g} databases",
                expected=f"at most {MOST_LAW_CELLS} databases, if their joint law is asked for",
                remedy="`see` and `do` of a count or sum don't need it.",
            )
        joint = self.marginal(*self.records)
        return Finite(probabilities=joint, roles=self.records, source=self.source)

    def spec(self) -> dict[str, Any]:
        """The model as plain data: what a file holds."""
        nodes = [node.model_dump(mode="json", exclude_defaults=True) for node in self.nodes]
        plain: dict[str, Any] = {"model": self.model, "nodes": nodes}
        if self.mechanism is not None:
            plain["mechanism"] = self.mechanism.spec()
        if self.source:
            plain["source"] = self.source
        spelt: dict[str, Any] = json.loads(json.dumps(plain))
        return spelt

    # ------------------------------------------------------ what it leaks

    def compiled(self, mechanism: Any = None) -> Compiled:
        """A mechanism, or the model's own, made ready for the data points.

        Raises `InputError` where there is none or it doesn't fit them, `UnsupportedError` where it
        is too large.
        """
        given = self.mechanism if mechanism is None else mechanism_of(mechanism)
        if given is None:
            raise InputError(
                "mechanism",
                expected='what is published, such as {"count": "ill", "epsilon": 1}',
                remedy="The model has none of its own.",
                shown=False,
            )
        return compiled(given, [self.nodes[i].labels for i in self.data])

    def see(self, channel: Any = None, record: str | int = 0) -> Effect:
        """What learning one record's value changes: the largest log ratio given its values.

        `ln P[y | x_i = v] - ln P[y | x_i = v']` over outcomes and over values that can occur;
        uninformed BDP of `population()`. `channel` is a mechanism or a nested array; without it
        the model's own. `record` is the number or the name of a data point; any other node is
        taken by its name. Raises `InputError` for a channel or record that the model doesn't have,
        `UnsupportedError` for a model that is too large. Source: theory 5.3.
        """
        return effect(self, channel, "see", record)

    def do(self, channel: Any = None, record: str | int = 0) -> Effect:
        """What setting one record's value changes, all else following its causes.

        `ln P[y | do(x_i = v)] - ln P[y | do(x_i = v')]` over outcomes and over all values, also
        those that never occur. At most the mechanism's DP cost, in every model, if the record is
        a data point. Arguments and errors as in `see`. Source: theory 5.3.
        """
        return effect(self, channel, "do", record)

    def compare(self, channel: Any = None) -> SeeingAndDoing:
        """`see` and `do` of every record, side by side, with the mechanism's DP level.

        `channel` and errors as in `see`: `InputError`, and `UnsupportedError` for too many records.
        """
        return compare(self, channel)


def _read(text: str) -> dict[str, Any]:
    inline = text.lstrip().startswith("{")
    key = "MODEL" if inline else text
    expected = "inline JSON or a readable file"
    content = text if inline else text_of_file(Path(text), "MODEL", expected=expected)
    try:
        as_toml = not inline and Path(text).suffix != ".json"
        spec = read_toml(content) if as_toml else read_json(content)
    except (ValueError, RecursionError) as error:
        raise InputError(key, expected=f"TOML or JSON: {error}", shown=False) from None
    if not isinstance(spec, Mapping):
        raise not_a_table(key, spec, 'a table such as { model = "causal", nodes = [...] }')
    return dict(spec)


def _truthful(node: Any, nodes: Sequence[Any]) -> Any:
    """A data point without states and table, written out as a copy of its parent."""
    if not isinstance(node, dict) or node.get("role") != "data" or {"states", "table"} & set(node):
        return node
    parents = node.get("parents")
    if not isinstance(parents, list | tuple) or len(parents) != 1:
        return node
    for other in nodes:
        seen = other.model_dump() if isinstance(other, CausalNode) else other
        if not isinstance(seen, dict) or seen.get("name") != parents[0]:
            continue
        states = seen.get("states")
        if type(states) is int and 0 < states <= _MOST_STATES:
            return node | {"states": states, "table": np.eye(states).tolist()}
        if isinstance(states, list | tuple) and len(states) <= _MOST_STATES:
            return node | {"states": states, "table": np.eye(len(states)).tolist()}
    return node


def _refuse_edge(where: str, parent: str, node: CausalNode) -> None:
    if node.role == "data":
        raise InputError(
            where,
            parent,
            expected="no edge from one data point to another",
            remedy="Setting one would set the other too, and DP promises nothing about that. Put "
            "the edge between the attributes that the data points record (theory 5.3).",
        )
    into = "an attribute" if node.role == "attribute" else "a latent cause"
    raise InputError(
        where,
        parent,
        expected=f"no edge from a data point into {into}",
        remedy="A data point records what is so and causes nothing but the output. Let the "
        "attribute that it records be the cause (theory 5.3).",
    )


def _check_states(node: CausalNode, key: str) -> None:
    if isinstance(node.states, int):
        if not 1 <= node.states <= _MOST_STATES:
            raise InputError(key, node.states, expected=f"from 1 to {_MOST_STATES}")
    elif not 1 <= len(node.states) <= _MOST_STATES or len(set(node.states)) < len(node.states):
        raise InputError(
            key, list(node.states), expected=f"different names, from 1 to {_MOST_STATES}"
        )
