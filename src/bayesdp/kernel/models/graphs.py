"""Graphical models and trees as declared: factors, possible values, cross ratios."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, law, require
from bayesdp.kernel.models.components import Components
from bayesdp.kernel.models.populations import MOST_RECORDS, TIES_IN_FILE, members_of_factors
from bayesdp.statements.graphs import GraphEdges, GraphFactors, GraphGrid
from bayesdp.statements.networks import NetworkFile, NetworkNodes, Tree
from bayesdp.statements.populations import Population
from bayesdp.statements.tables import cells, parents_first, shape
from bayesdp.statements.tables import rows as rows_below

MOST_CELLS = 1_000_000
"""Certificates about a larger table of a factor are UNKNOWN."""


@dataclass(frozen=True, eq=False)
class WeightTable:
    """The weights of a factor, exact, flat with the last member's value running fastest."""

    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def cells(self) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Every setting of the members, with its weight."""
        return zip(product(*map(range, self.sizes)), self.weights, strict=True)

    def at(self, setting: Sequence[int]) -> Fraction:
        """The weight of a setting of the members."""
        place = 0
        for size, value in zip(self.sizes, setting, strict=True):
            place = place * size + value
        return self.weights[place]


Factors = tuple[list[int], list[tuple[tuple[int, ...], WeightTable]]]
"""How many values each record has, and the factors."""


@dataclass(frozen=True)
class Model:
    """`factors` are pairs of members and table; `possible` the values each record can take."""

    states: list[int]
    factors: list[tuple[tuple[int, ...], WeightTable]]
    possible: list[frozenset[int]]

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.states)


_last: tuple[Population, Model] | None = None
"""The population that was read last, and its factors. Kept for speed: it is asked for by identity,
so what is kept is what reading it again would give.
"""


def read_model(population: Population) -> Model:
    """The factors of a graph with factors, inline edges or a grid, of a tree or a network.

    The last one is kept: a release's own level and that of its data set are about the same.
    """
    global _last
    last = _last
    if last is None or last[0] is not population:
        _last = last = (population, _read_model(population))
    return last[1]


def _read_model(population: Population) -> Model:
    if isinstance(population, Tree):
        states, factors = _tree_factors(read_tree(population))
    elif isinstance(population, NetworkNodes):
        states, factors = _network_factors(population)
    elif isinstance(population, GraphFactors):
        states, factors = _factors(population)
    elif isinstance(population, GraphGrid | GraphEdges):
        records, ties = members_of_factors(population)
        _check_size(records)
        table = read_table(population.table)
        states = [table.sizes[0]] * records
        factors = [((first, second), table) for first, second in ties]
    elif isinstance(population, NetworkFile):
        raise UnknownError(TIES_IN_FILE)
    else:
        raise InvalidError("the population is not a graph, a tree or a network")
    return Model(states, factors, possible_values(states, factors))


def _factors(population: GraphFactors) -> Factors:
    _check_size(population.records)
    stated = population.states
    states = [stated] * population.records if isinstance(stated, int) else list(stated)
    return states, [(factor.between, read_table(factor.table)) for factor in population.factors]


def _network_factors(population: NetworkNodes) -> Factors:
    """One factor for each record: its law given its parents.

    Records that state the same law share one table: in a pedigree, most of them do.
    """
    _, families = members_of_factors(population)
    factors: list[tuple[tuple[int, ...], WeightTable]] = []
    tables: dict[str, WeightTable] = {}
    for node, family in zip(population.nodes, families, strict=True):
        stated = repr(node.table)
        if stated not in tables:
            laws = [
                law(row, "a law of the network") for row in rows_below(node.table, len(family) - 1)
            ]
            flat = tuple(entry for row in laws for entry in row)
            tables[stated] = WeightTable(shape(node.table), flat)
        factors.append((tuple(family), tables[stated]))
    return [node.values for node in population.nodes], factors


def _check_size(records: int) -> None:
    if records > MOST_RECORDS:
        raise UnknownError(f"a graph of more than {MOST_RECORDS} records")


def read_table(nested: Any) -> WeightTable:
    """A nested array of weights, exact."""
    sizes = shape(nested)
    if prod(sizes) > MOST_CELLS:
        raise UnknownError(f"a table of more than {MOST_CELLS} cells")
    return WeightTable(sizes, tuple(map(Fraction, cells(nested))))


def possible_values(
    states: list[int], factors: list[tuple[tuple[int, ...], WeightTable]]
) -> list[frozenset[int]]:
    """What single factors leave, round by round: a value goes if no setting of others allows it."""
    possible = [frozenset(range(size)) for size in states]
    tables = {id(table): table for _, table in factors}
    excluding = {key for key, table in tables.items() if min(table.weights) == 0}
    zeros = [(tie, table) for tie, table in factors if id(table) in excluding]
    values_left: dict[Hashable, list[frozenset[int]]] = {}
    changed = True
    while changed:
        changed = False
        for tie, table in zeros:
            key = (id(table), *(possible[record] for record in tie))
            if key not in values_left:
                live = [setting for setting, _ in live_cells(tie, table, possible)]
                places = range(len(tie))
                values_left[key] = [
                    frozenset(setting[place] for setting in live) for place in places
                ]
            for record, left in zip(tie, values_left[key], strict=True):
                if left != possible[record]:
                    possible[record], changed = left, True
    require(all(possible), "no values of the records are possible")
    return possible


def merged(model: Model) -> Model:
    """The same law with one factor for each record and each pair, and what is possible by those."""
    products: dict[Hashable, WeightTable] = {}
    factors: dict[tuple[int, ...], WeightTable] = {}
    for tie, table in model.factors:
        if len(tie) > 2:
            return model
        key: tuple[int, int] = (id(table), tie != tuple(sorted(tie)))
        if key not in products:
            products[key] = _transposed(table) if key[1] else table
        own, members = products[key], tuple(sorted(tie))
        if members in factors:
            before = factors[members]
            key = (id(before), id(own))
            if key not in products:
                both = zip(before.weights, own.weights, strict=True)
                products[key] = WeightTable(own.sizes, tuple(a * b for a, b in both))
            own = products[key]
        factors[members] = own
    listed = list(factors.items())
    return Model(model.states, listed, possible_values(model.states, listed))


def _transposed(table: WeightTable) -> WeightTable:
    rows, columns = table.sizes
    flat = table.weights
    turned = tuple(flat[u * columns + v] for v in range(columns) for u in range(rows))
    return WeightTable((columns, rows), turned)


def live_cells(
    tie: tuple[int, ...], table: WeightTable, possible: list[frozenset[int]]
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
    for first, second in combinations(rows, 2):
        if first.keys() != second.keys():
            return None
        quotients = [weight / second[key] for key, weight in first.items()]
        largest = max(largest, max(quotients) / min(quotients))
    return largest


# -- trees ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forest:
    """`order` has parents before children; a root's parent is `None`.

    `rows` has, for each node, its law for each value of the parent, or its one law; exact.
    """

    parents: list[int | None]
    order: list[int]
    rows: list[list[list[Fraction]]]

    def size(self, node: int) -> int:
        """How many states a node has."""
        return len(self.rows[node][0])


def read_tree(population: Population) -> Forest:
    """A tree as declared, or a network in which no record has two parents."""
    reason = "the population is not a tree, nor a network in which no record has two parents"
    if not isinstance(population, Tree | NetworkNodes):
        raise InvalidError(reason)
    require(all(len(node.parents) < 2 for node in population.nodes), reason)
    nodes = population.nodes
    place = {node.name: number for number, node in enumerate(nodes)}
    parents = [place[node.parents[0]] if node.parents else None for node in nodes]
    order = parents_first([() if parent is None else (parent,) for parent in parents])
    rows = [
        [law(row, "a law of the tree") for row in rows_below(node.table, len(node.parents))]
        for node in nodes
    ]
    return Forest(parents, order, rows)


def _tree_factors(tree: Forest) -> Factors:
    factors: list[tuple[tuple[int, ...], WeightTable]] = []
    for position, parent in enumerate(tree.parents):
        flat = tuple(entry for row in tree.rows[position] for entry in row)
        if parent is None:
            factors.append(((position,), WeightTable((len(flat),), flat)))
        else:
            sizes = (tree.size(parent), tree.size(position))
            factors.append(((parent, position), WeightTable(sizes, flat)))
    return [tree.size(position) for position in range(len(tree.parents))], factors


def components(records: int, ties: list[tuple[int, ...]]) -> list[int]:
    """For each record, how many records its connected component has."""
    tied = Components(range(records), ties)
    size = {place: len(group) for group in tied.groups() for place in group}
    return [size[place] for place in range(records)]
