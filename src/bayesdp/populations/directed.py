"""What networks, trees and causal models share: nodes, tables by parents, and no cycles."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from bayesdp.errors import ENCODING, InputError, check_keys
from bayesdp.populations.base import Population, Rescaling
from bayesdp.populations.files import NamedFile, named_file, read_json
from bayesdp.statements.tables import parents_first

_KEY = "population.nodes"


class OfNodes(Population):
    """A population whose records are `nodes`: a list of them, or the path of a file.

    The file holds the list as JSON, and is read at once. The spec writes the nodes out, and its
    `source` names the file with its SHA-256. Raises `InputError` for a file that can't be read or
    holds something else, and for nodes that are wrong.
    """

    def __init__(self, /, *values: Any, **data: Any) -> None:
        fields = self._with_names(values, data)
        file = named_file(fields.get("nodes"), _KEY, "a JSON file of nodes")
        if file is None:
            super().__init__(**fields)
            return
        fields["nodes"], source = _nodes_in(file), fields.get("source", "")
        if isinstance(source, str):
            from_file = f"nodes of {PurePath(file.name).name}, SHA-256 {file.sha256}"
            fields["source"] = f"{source}; {from_file}" if source else from_file
        try:
            super().__init__(**fields)
        except InputError as wrong:
            raise type(wrong)(
                wrong.key,
                wrong.value,
                expected=wrong.expected,
                remedy=f"{wrong.remedy} {_place(wrong.key, file)}".lstrip(),
                shown=wrong.shown,
            ) from None


def _nodes_in(file: NamedFile) -> list[Any]:
    expected = "a JSON file of nodes, which are a list"
    try:
        nodes = read_json(file.content.decode(ENCODING))
    except (ValueError, RecursionError) as error:
        raise InputError(_KEY, file.name, expected=f"{expected} ({error})") from None
    if not isinstance(nodes, list):
        raise InputError(
            _KEY, file.name, expected=expected, remedy="It has no keys beside them: [...] alone."
        )
    return nodes


def _place(key: str, file: NamedFile) -> str:
    """Where in the file the node stands that an error is about, in words."""
    node = _NODE.match(key)
    if node is None:
        return f"It is in the file {file.name}."
    text, decoder = file.content.decode(ENCODING), json.JSONDecoder()
    start = _after_spaces(text, text.index("[") + 1)
    for _ in range(int(node[1])):
        start = _after_spaces(text, decoder.raw_decode(text, start)[1])
    line = text.count("\n", 0, start) + 1
    return f"The node begins in line {line} of {file.name}."


_NODE = re.compile(r"population\.nodes\[([0-9]+)\]")


def _after_spaces(text: str, place: int) -> int:
    """Where the next thing stands that is neither a space nor a comma."""
    while text[place] in " \t\r\n,":
        place += 1
    return place


def check_node_keys(nodes: Any, known: Sequence[str], key: str = _KEY) -> None:
    """Raises `InputError` for the first key of the nodes, which stand at `key`, that isn't `known`.

    What is not a list of tables is left to those who read the nodes.
    """
    for position, node in enumerate(nodes if isinstance(nodes, list | tuple) else ()):
        check_keys(f"{key}[{position}]", node if isinstance(node, dict) else (), known)


def read_rows(table: Any, sizes: list[int], width: int, key: str, rescaling: Rescaling) -> Any:
    """A node's nested table, one axis for each parent, with every row checked and rescaled.

    `sizes` are the parents' numbers of values, `width` the node's own; `rescaling` notes by how
    much. Raises `InputError`.
    """
    first_size = sizes[0] if sizes else width
    if not isinstance(table, list | tuple) or len(table) != first_size:
        rows = "tables, one for each value of a parent" if sizes else "probabilities"
        raise InputError(key, table, expected=f"{first_size} {rows}")
    if sizes:
        return tuple(
            read_rows(inner, sizes[1:], width, f"{key}[{i}]", rescaling)
            for i, inner in enumerate(table)
        )
    for position, entry in enumerate(table):
        number = isinstance(entry, int | float) and not isinstance(entry, bool)
        if not number or not abs(entry) <= 1e300:  # larger whole numbers may not fit into a double
            raise InputError(f"{key}[{position}]", entry, expected="a probability")
    return rescaling.law([float(entry) for entry in table], key)


def first_on_cycle(parents: Sequence[Sequence[int]]) -> int | None:
    """The first node on or behind a cycle, given the parents of each; `None` without a cycle."""
    ordered = set(parents_first(parents))
    return next((node for node in range(len(parents)) if node not in ordered), None)


def pyagrum_node(network: Any, name: str) -> dict[str, Any]:
    """The node `name` of a pyAgrum network as plain data. Its rows are not checked.

    pyAgrum keeps numbers of files in single precision: they are taken as they were written.
    """
    table = network.cpt(name)
    axes = list(table.names)
    parents = [axis for axis in axes if axis != name]
    # The axes of the array are in the reverse order of `names`.
    order = [len(axes) - 1 - axes.index(axis) for axis in (*parents, name)]
    return {
        "name": name,
        "states": list(network.variable(name).labels()),
        "parents": parents,
        "table": _as_written(table.toarray().transpose(order)),
    }


def _as_written(values: Any) -> Any:
    """The numbers of an array as nested lists, each of single precision as its shortest decimal."""
    import numpy as np

    single = values.astype(np.float32)
    written = np.array([float(str(value)) for value in single.ravel()]).reshape(values.shape)
    return np.where(single == values, written, values).tolist()
