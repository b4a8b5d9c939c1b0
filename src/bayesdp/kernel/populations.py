"""Of a population's declaration, what the core needs: how many records may depend on each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, require, whole

ALL_RECORDS = ("unknown", "graph", "tree", "network")
"""Models that describe all records of the table, not clusters or series of them."""


MOST_RECORDS = 1_000_000
"""Of a graph that is built record by record; a larger one is UNKNOWN."""


def group_size(population: Mapping[str, Any]) -> int:
    """The most records that may depend on each other."""
    model = population.get("model")
    if model == "independent":
        return 1
    if model in ("markov", "autoregressive"):
        return whole(population["length"], "length", 1)
    if model == "clusters":
        return whole(population["size"], "size", 1)
    if model == "unknown":
        return whole(population["records"], "records", 1)
    if model == "gaussian":
        return _gaussian(population)
    if model == "finite":
        return depth(population["probabilities"])
    if model == "family":
        return max(group_size(member) for member in population["members"])
    if model in ("graph", "tree", "network"):
        return _largest_component(population)
    raise UnknownError(f"no rule for the model {model!r}")


def _gaussian(population: Mapping[str, Any]) -> int:
    if "size" in population:
        return whole(population["size"], "size", 1)
    matrix = population.get("covariance", population.get("precision"))
    if not isinstance(matrix, list):
        raise UnknownError("the matrix is in a file that the kernel does not read")
    return len(matrix)


def depth(table: object) -> int:
    """The number of axes of a nested array."""
    axes = 0
    while isinstance(table, list):
        require(len(table) > 0, "an axis without values")
        axes, table = axes + 1, table[0]
    return axes


def shape(table: object) -> tuple[int, ...]:
    """The shape of a nested array; `InvalidError` where it is ragged."""
    if not isinstance(table, list):
        return ()
    inner = {shape(part) for part in table}
    if len(inner) != 1:
        raise InvalidError("a table is ragged")
    return (len(table), *inner.pop())


def members_of_factors(population: Mapping[str, Any]) -> tuple[int, list[list[int]]]:
    """The number of records, and the records that each factor ties together."""
    model = population["model"]
    if model == "tree":
        names = {node["name"]: place for place, node in enumerate(population["nodes"])}
        require(len(names) == len(population["nodes"]), "two nodes of one name")
        ties = [
            [names[n["parent"]], names[n["name"]]] for n in population["nodes"] if "parent" in n
        ]
        return len(names), ties
    if model == "network":
        if "nodes" not in population:
            raise UnknownError("the network is in a file that the kernel does not read")
        names = {node["name"]: place for place, node in enumerate(population["nodes"])}
        require(len(names) == len(population["nodes"]), "two nodes of one name")
        return len(names), [
            [*(names[p] for p in node.get("parents", [])), names[node["name"]]]
            for node in population["nodes"]
        ]
    if "grid" in population:
        return _grid(population["grid"])
    if isinstance(population.get("edges"), list):
        return _edges(population)
    if "factors" not in population:
        raise UnknownError("the edges are in a file that the kernel does not read")
    records = whole(population["records"], "records", 1)
    ties = []
    for factor in population["factors"]:
        between = [whole(place, "between") for place in factor["between"]]
        require(max(between) < records, "a factor names a record that is not there")
        require(len(set(between)) == len(between), "a factor names a record twice")
        ties.append(between)
    return records, ties


def _edges(population: Mapping[str, Any]) -> tuple[int, list[list[int]]]:
    records = whole(population["records"], "records", 1)
    ties = [
        [whole(first, "edges"), whole(second, "edges")] for first, second in population["edges"]
    ]
    require(
        all(a != b and max(a, b) < records for a, b in ties),
        "an edge of records that are not there",
    )
    return records, ties


def _grid(sides: Any) -> tuple[int, list[list[int]]]:
    rows, columns = (whole(side, "grid", 1) for side in sides)
    if rows * columns > MOST_RECORDS:
        raise UnknownError(f"a grid of more than {MOST_RECORDS} records")
    ties = []
    for place in range(rows * columns):
        if place % columns + 1 < columns:
            ties.append([place, place + 1])
        if place + columns < rows * columns:
            ties.append([place, place + columns])
    return rows * columns, ties


def _largest_component(population: Mapping[str, Any]) -> int:
    records, ties = members_of_factors(population)
    # Only records that are tied to others: how many there are besides is a number, and no list.
    root = {place: place for tie in ties for place in tie}

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for tie in ties:
        for other in tie[1:]:
            root[find(other)] = find(tie[0])
    sizes = dict.fromkeys(root, 0)
    for place in root:
        sizes[find(place)] += 1
    require(records > 0, "no records")
    return max(sizes.values(), default=1)


def described(population: Mapping[str, Any]) -> int:
    """How many records the model describes at most."""
    if population["model"] in ("unknown", "gaussian"):
        return group_size(population)
    return members_of_factors(population)[0]
