"""Graphical models and trees as declared: factors, possible values, cross ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

from bayesdp.kernel.arithmetic import UnknownError, exact, law, require, whole
from bayesdp.kernel.populations import MOST_RECORDS, members_of_factors, shape

MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Table:
    """The weights of a factor, exact, flat with the last member's value running fastest."""

    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def cells(self) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Every setting of the members, with its weight."""
        return zip(product(*map(range, self.sizes)), self.weights, strict=True)


@dataclass(frozen=True)
class Model:
    """`factors` are pairs of members and table; `possible` the values each record can take."""

    states: list[int]
    factors: list[tuple[tuple[int, ...], Table]]
    possible: list[frozenset[int]]

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.states)


def read_model(population: Mapping[str, Any]) -> Model:
    """The factors of a graph with factors, inline edges or a grid, of a tree or a network."""
    name = population.get("model")
    if name == "tree":
        states, factors = _tree_factors(read_tree(population))
    elif name == "graph":
        states, factors = _graph_factors(population)
    elif name == "network":
        states, factors = _network_factors(population)
    else:
        require(False, "the population is no graph, no tree and no network")
    return Model(states, factors, _possible(states, factors))


def _graph_factors(
    population: Mapping[str, Any],
) -> tuple[list[int], list[tuple[tuple[int, ...], Table]]]:
    forms = [key for key in ("factors", "grid", "edges") if key in population]
    require(len(forms) == 1, "not exactly one of factors, grid and edges")
    if forms == ["factors"]:
        require("table" not in population, "a table beside factors")
        records, ties = members_of_factors(population)
        _check_size(records)
        states = _states(population["states"], records)
        factors = []
        for tie, factor in zip(ties, population["factors"], strict=True):
            table = read_table(factor["table"])
            require(table.sizes == tuple(states[k] for k in tie), "a table of another shape")
            factors.append((tuple(tie), table))
        return states, factors
    table = shared_table(population)
    records, ties = members_of_factors(population)
    require(population.get("records", records) == records, "another number of records")
    _check_size(records)
    return [table.sizes[0]] * records, [(tuple(tie), table) for tie in ties]


def _network_factors(
    population: Mapping[str, Any],
) -> tuple[list[int], list[tuple[tuple[int, ...], Table]]]:
    """One factor for each record and its parents: the record's law, given theirs."""
    _, families = members_of_factors(population)
    tables = [read_table(node["table"]) for node in population["nodes"]]
    states = [table.sizes[-1] for table in tables]
    factors = []
    for node, family, table in zip(population["nodes"], families, tables, strict=True):
        stated = node["states"]
        size = len(stated) if isinstance(stated, list) else whole(stated, "states", 1)
        require(size == table.sizes[-1], "a law of another number of states")
        require(len(set(family)) == len(family), "a parent is named twice")
        require(table.sizes == tuple(states[k] for k in family), "a table of another shape")
        flat: list[Fraction] = []
        for start in range(0, len(table.weights), size):
            row = table.weights[start : start + size]
            total = sum(row, Fraction(0))
            require(abs(total - 1) <= Fraction(1, 10**9), "a law of the network doesn't sum to 1")
            flat += [entry / total for entry in row]
        factors.append((tuple(family), Table(table.sizes, tuple(flat))))
    _require_no_cycle(families)
    return states, factors


def _require_no_cycle(families: list[list[int]]) -> None:
    """Remove records whose parents are all removed; each family ends with the record itself."""
    waiting = [len(family) - 1 for family in families]
    children: list[list[int]] = [[] for _ in families]
    for family in families:
        for parent in family[:-1]:
            children[parent].append(family[-1])
    ready = [record for record, count in enumerate(waiting) if count == 0]
    for record in ready:  # grows while it is walked
        for child in children[record]:
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    require(len(ready) == len(families), "the network has a cycle")


def shared_table(population: Mapping[str, Any]) -> Table:
    """The square table that all pairs share; `states`, where declared, must agree."""
    table = read_table(population["table"])
    require(len(table.sizes) == 2 and len(set(table.sizes)) == 1, "the shared table is not square")
    stated = population.get("states", table.sizes[0])
    stated = stated if isinstance(stated, list) else [stated]
    require(set(stated) == {table.sizes[0]}, "another number of states")
    return table


def _check_size(records: int) -> None:
    if records > MOST_RECORDS:
        raise UnknownError(f"a graph of more than {MOST_RECORDS} records")


def _states(stated: Any, records: int) -> list[int]:
    if not isinstance(stated, list):
        return [whole(stated, "states", 1)] * records
    require(len(stated) == records, "not one number of states for each record")
    return [whole(one, "states", 1) for one in stated]


def read_table(nested: Any) -> Table:
    """A nested array of finite weights, at least 0 and not all of them 0."""
    sizes = shape(nested)
    require(len(sizes) > 0 and 0 < prod(sizes) <= MOST_CELLS, "no table, or too large a one")
    flat = nested
    for _ in sizes[1:]:
        flat = [entry for part in flat for entry in part]
    weights = tuple(exact(entry, "table") for entry in flat)
    require(min(weights) >= 0 and max(weights) > 0, "a table of no weights")
    return Table(sizes, weights)


def _possible(
    states: list[int], factors: list[tuple[tuple[int, ...], Table]]
) -> list[frozenset[int]]:
    """What single factors leave, round by round: a value goes if no setting of others allows it."""
    possible = [frozenset(range(size)) for size in states]
    zeros = [(tie, table) for tie, table in factors if min(table.weights) == 0]
    changed = True
    while changed:
        changed = False
        for tie, table in zeros:
            live = [setting for setting, _ in live_cells(tie, table, possible)]
            for place, record in enumerate(tie):
                left = frozenset(setting[place] for setting in live)
                if left != possible[record]:
                    possible[record], changed = left, True
    require(all(possible), "no values of the records are possible")
    return possible


def live_cells(
    tie: tuple[int, ...], table: Table, possible: list[frozenset[int]]
) -> list[tuple[tuple[int, ...], Fraction]]:
    """The cells of positive weight that have possible values only."""
    allowed = [possible[record] for record in tie]
    return [
        (setting, weight)
        for setting, weight in table.cells()
        if weight > 0 and all(v in a for v, a in zip(setting, allowed, strict=True))
    ]


def rows_of(
    cells: list[tuple[tuple[int, ...], Fraction]], place: int
) -> list[dict[tuple[int, ...], Fraction]]:
    """For each value of the member at `place`, its weights by what the other members do."""
    rows: dict[int, dict[tuple[int, ...], Fraction]] = {}
    for setting, weight in cells:
        rows.setdefault(setting[place], {})[setting[:place] + setting[place + 1 :]] = weight
    return list(rows.values())


def cross_ratio(rows: list[dict[Any, Fraction]]) -> Fraction | None:
    """The largest `a_z b_z' / (a_z' b_z)` over pairs of rows; `None` where zeros make it infinite.

    A row has positive weights only, by what the others do.
    """
    largest = Fraction(1)
    for one, other in combinations(rows, 2):
        if one.keys() != other.keys():
            return None
        quotients = [weight / other[key] for key, weight in one.items()]
        largest = max(largest, max(quotients) / min(quotients))
    return largest


# -- trees ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """`order` has parents before children; a root's parent is `None`.

    `rows` has, for each node, its law for each value of the parent, or its one law; exact.
    """

    parents: list[int | None]
    order: list[int]
    rows: list[list[list[Fraction]]]

    def size(self, node: int) -> int:
        """How many states a node has."""
        return len(self.rows[node][0])


def read_tree(population: Mapping[str, Any]) -> Tree:
    """The tree as declared; `InvalidError` for a cycle, or for laws of the wrong shape.

    A network in which no record has two parents is one.
    """
    if population.get("model") == "network":
        _network_factors(population)
        nodes = [_as_of_a_tree(node) for node in population["nodes"]]
    else:
        require(population.get("model") == "tree", "the population is no tree")
        nodes = population["nodes"]
    place = {node["name"]: position for position, node in enumerate(nodes)}
    require(len(place) == len(nodes) > 0, "two nodes of one name")
    parents: list[int | None] = []
    rows: list[list[list[Fraction]]] = []
    children: list[list[int]] = [[] for _ in nodes]
    for position, node in enumerate(nodes):
        parent = place[node["parent"]] if "parent" in node else None
        require(("law" in node) == (parent is None), "a law for roots, a transition for others")
        require(("transition" in node) == (parent is not None), "a transition without a parent")
        parents.append(parent)
        laws = [node["law"]] if parent is None else node["transition"]
        rows.append([law(row, "a law of the tree") for row in laws])
        if parent is not None:
            children[parent].append(position)
    order = [position for position, parent in enumerate(parents) if parent is None]
    for position in order:  # grows while it is walked
        order.extend(children[position])
    require(len(order) == len(nodes), "the tree has a cycle")
    tree = Tree(parents, order, rows)
    for position, parent in enumerate(parents):
        require(len({len(row) for row in rows[position]}) == 1, "rows of different lengths")
        if parent is not None:
            require(len(rows[position]) == tree.size(parent), "not one row for each parent's value")
    return tree


def _as_of_a_tree(node: Mapping[str, Any]) -> dict[str, Any]:
    parents = node.get("parents", [])
    require(len(parents) < 2, "a record has two parents: the population is no tree")
    if not parents:
        return {"name": node["name"], "law": node["table"]}
    return {"name": node["name"], "parent": parents[0], "transition": node["table"]}


def _tree_factors(tree: Tree) -> tuple[list[int], list[tuple[tuple[int, ...], Table]]]:
    factors: list[tuple[tuple[int, ...], Table]] = []
    for position, parent in enumerate(tree.parents):
        flat = tuple(entry for row in tree.rows[position] for entry in row)
        if parent is None:
            factors.append(((position,), Table((len(flat),), flat)))
        else:
            sizes = (tree.size(parent), tree.size(position))
            factors.append(((parent, position), Table(sizes, flat)))
    return [tree.size(position) for position in range(len(tree.parents))], factors


def components(records: int, ties: list[tuple[int, ...]]) -> list[int]:
    """For each record, how many records its connected component has."""
    root = list(range(records))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for tie in ties:
        for other in tie[1:]:
            root[find(other)] = find(tie[0])
    sizes = [0] * records
    for place in range(records):
        sizes[find(place)] += 1
    return [sizes[find(place)] for place in range(records)]
