"""A Bayesian network's tables for a given structure, from public or past data.

The table has a row for each case and a column for each node. Each family (a node and its parents)
is counted in one grouped query; cases in which a cell of the family is missing are not counted for
it. Given its parents, a node's states are counted as the transitions of `regions` are, cases in
place of steps: the bounds hold the tables of all nodes at once with the stated confidence. **No
population form holds a network between bounds**, so the one that is declared has the estimates: its
level makes no allowance for chance, and its `source` says so. Each cell is estimated by its count
plus one half: no value is taken for impossible that wasn't seen.

*Whether arrows are missing* is tested by likelihood ratios: given its parents, each node against
each other one that stands before it in an order of parents first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from bayesdp.errors import InputError, UnsupportedError, first_names
from bayesdp.fitting.comparing import SIGNIFICANT, FitCheck, RatioTest, independence_test, p_words
from bayesdp.fitting.numbers_of import (
    Numbers,
    check_confidence,
    confidence_words,
    known_key,
    known_text,
    public_data,
    require_column,
)
from bayesdp.fitting.regions import Counts, probability_interval
from bayesdp.fitting.trees import NOT_COVERED, with_a_half
from bayesdp.populations import Network
from bayesdp.populations.base import NO_ALLOWANCE
from bayesdp.tables.source import Table, open_table

MOST_STATES = 50
"""A column with more different values is not a node."""

MOST_CELLS = 100_000
"""The most cells of the counts of a family."""

MOST_TESTS = 200
"""More pairs of nodes are not tested for arrows that are missing."""

Parents = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class NetworkFit:
    """A network with estimated tables: the counts behind it, and bounds that hold the true ones.

    `counts`, `lower` and `upper` have for each node an array, with an axis for each parent and the
    last for the node, in the order of the `population`'s states. The population has the estimates.
    `arrows` says whether one is missing.
    """

    population: Network
    counts: Mapping[str, Counts]
    lower: Mapping[str, Numbers]
    upper: Mapping[str, Numbers]
    confidence: float
    cases: int
    arrows: FitCheck

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """How sure the tables are, and whether arrows are missing, in words."""
        return tuple(self._checks())

    def _checks(self) -> Iterator[FitCheck]:
        widest = max(self.lower, key=lambda n: float((self.upper[n] - self.lower[n]).max()))
        place = np.unravel_index(
            int((self.upper[widest] - self.lower[widest]).argmax()), self.lower[widest].shape
        )
        low, high = float(self.lower[widest][place]), float(self.upper[widest][place])
        text = (
            f"The tables were estimated from {self.cases} cases: {NOT_COVERED}. With "
            f"confidence {confidence_words(self.confidence)} all entries lie between their bounds; "
            f"the widest are {low!r} and {high!r}, in the table of {widest}."
        )
        yield FitCheck("bounds", text, fits=False)
        never = sum(int((counts.sum(axis=-1) == 0).sum()) for counts in self.counts.values())
        if never:
            text = (
                f"{never} settings of parents never occurred: every value is taken for equally "
                "likely after them. Use fewer arrows, or put states together."
            )
            yield FitCheck("settings", text, fits=False)
        yield self.arrows

    def estimated(self) -> dict[str, Any]:
        """The counts and the bounds of each node's table as plain data."""
        return {
            node.name: {
                "counts": self.counts[node.name].tolist(),
                "lower": self.lower[node.name].tolist(),
                "upper": self.upper[node.name].tolist(),
            }
            for node in self.population.nodes
        }


def fit_network(
    table: object,
    structure: str | Parents | Network,
    *,
    confidence: float = 0.95,
) -> NetworkFit:
    """Fit the tables of a Bayesian network whose structure is given.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. It has a row for each case and a column for each node. `structure` is the
    path of a BIF file, whose states are the values and whose tables don't matter; or a network; or
    the parents of each node, as a mapping or a CSV file with the columns `parent` and `child`: the
    states are then the different values of the columns. Values are compared as texts.

    `lower` and `upper` hold all tables at once with this `confidence`; the population has the
    estimates, without an allowance for chance. Raises `InputError` for arguments and cells that
    can't be read, and `UnsupportedError` for families that are too large.
    """
    check_confidence(confidence)
    with public_data():
        opened = open_table(table)
        parents, states = _structure(opened, structure)
        counts = {node: _counted(opened, (*parents[node], node), states) for node in parents}
        for node, family in counts.items():
            if not family.any():
                raise UnsupportedError(
                    "table", expected=f"cases with values of '{node}' and its parents", shown=False
                )
        arrows = _missing_arrows(opened, parents, states)
    cells = sum(
        family[..., 0].size * (1 if len(states[n]) == 2 else len(states[n]))
        for n, family in counts.items()
    )
    alpha = (1 - Fraction(repr(float(confidence)))) / cells
    ends = {node: _ends(family, alpha) for node, family in counts.items()}
    cases = max(int(family.sum()) for family in counts.values())
    source = (
        f"fitted to {cases} cases: the estimated tables of a given structure, {NO_ALLOWANCE} "
        f"(bounds with confidence {confidence_words(confidence)} are not part of it)"
    )
    nodes: Any = [
        {
            "name": node,
            "states": list(states[node]),
            "parents": list(above),
            "table": with_a_half(counts[node]).tolist(),
        }
        for node, above in parents.items()
    ]
    return NetworkFit(
        population=Network(nodes=nodes, source=source),
        counts=counts,
        lower={node: both[0] for node, both in ends.items()},
        upper={node: both[1] for node, both in ends.items()},
        confidence=confidence,
        cases=cases,
        arrows=arrows,
    )


def _ends(family: Counts, alpha: Fraction) -> tuple[Numbers, Numbers]:
    totals = np.broadcast_to(family.sum(axis=-1, keepdims=True), family.shape)
    pairs = [
        probability_interval(int(hits), int(total - hits), alpha)
        for hits, total in zip(family.ravel(), totals.ravel(), strict=True)
    ]
    lower, upper = (np.array(side).reshape(family.shape) for side in zip(*pairs, strict=True))
    return lower, upper


# -- the structure ---------------------------------------------------------------------------------


def _structure(
    table: Table, structure: str | Parents | Network
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The parents and the states of each node."""
    if isinstance(structure, str) and structure.lower().endswith(".bif"):
        bif_text: Any = {"bif": structure}
        structure = Network(**bif_text)
    if isinstance(structure, Network):
        parents = {node.name: node.parents for node in structure.nodes}
        states = {
            node.name: tuple(map(str, range(node.states)))
            if isinstance(node.states, int)
            else node.states
            for node in structure.nodes
        }
    else:
        arrows = _read_arrows(structure) if isinstance(structure, str) else structure
        parents = {node: tuple(above) for node, above in arrows.items()}
        for above in arrows.values():
            for node in above:
                parents.setdefault(node, ())
        states = {}
    for node in parents:
        require_column(table, node, "structure")
        if node not in states:
            states[node] = _values(table, node)
    for node, above in parents.items():
        sizes = prod(len(states[name]) for name in (*above, node))
        if sizes > MOST_CELLS:
            raise UnsupportedError(
                "structure",
                node,
                expected=f"families of at most {MOST_CELLS} cells, and its own has {sizes}",
                remedy="Use fewer parents, or put states together.",
            )
    return parents, states


def _read_arrows(path: str) -> dict[str, tuple[str, ...]]:
    """The parents of each node, of a file of arrows, in the order in which nodes appear."""
    arrows = open_table(path)
    for name in ("parent", "child"):
        require_column(arrows, name, "structure")
    keys = {name: known_key(arrows, arrows.require(name, name)) for name in ("parent", "child")}
    parents: dict[str, tuple[str, ...]] = {}
    for parent, child in arrows.rows(arrows.expression.select(**keys)):
        if child is None:
            raise InputError(
                "structure", path, expected="a child in each row; a root alone has no parent"
            )
        if parent is not None:
            parents.setdefault(parent, ())
        own = parents.get(child, ())
        parents[child] = own if parent is None else (*own, parent)
    return parents


def _values(table: Table, node: str) -> tuple[str, ...]:
    """The different values of a column, sorted."""
    cells = table.expression.select(value=known_text(table, table.require(node, "structure")))
    different = cells.filter(cells.value.notnull()).distinct().limit(MOST_STATES + 1)
    values = sorted(str(row[0]) for row in table.rows(different))
    if not 2 <= len(values) <= MOST_STATES:
        raise InputError(
            "structure",
            node,
            expected=f"a column of 2 to {MOST_STATES} different values, and it has "
            f"{'more' if len(values) > 1 else len(values)}",
            remedy="Leave this node out, or cut its values into a few states.",
        )
    return tuple(values)


# -- counts ----------------------------------------------------------------------------------------


def _counted(table: Table, family: Sequence[str], states: Mapping[str, Sequence[str]]) -> Counts:
    """How often the columns of a family have which states: one grouped query."""
    names = [f"c{i}" for i in range(len(family))]
    expressions = {
        name: known_text(table, table.require(column, "structure"))
        for name, column in zip(names, family, strict=True)
    }
    cells = table.expression.select(**expressions)
    query = cells.group_by(names).aggregate(number=cells.count())
    places = [{value: i for i, value in enumerate(states[column])} for column in family]
    counts = np.zeros([len(known) for known in places], dtype=np.int64)
    for *values, number in table.rows(query):
        if None in values:
            continue
        for column, known, value in zip(family, places, values, strict=True):
            if value not in known:
                raise InputError(
                    "structure",
                    value,
                    expected=f"a state of '{column}' ({first_names(list(known))}), "
                    "and the table has this",
                    remedy="State it in the structure, or leave these cells empty.",
                )
        counts[tuple(known[v] for known, v in zip(places, values, strict=True))] += number
    return counts


# -- arrows that are missing -----------------------------------------------------------------------


def _missing_arrows(
    table: Table, parents: Parents, states: Mapping[str, Sequence[str]]
) -> FitCheck:
    """Each node against each non-descendant that is not a parent, given the parents."""
    name = "arrows that are missing"
    pairs = list(_untied(parents))
    small = [
        pair
        for pair in pairs
        if prod(len(states[n]) for n in (*parents[pair[0]], *pair)) <= MOST_CELLS
    ]
    if not small or len(pairs) > MOST_TESTS:
        why = "all pairs have arrows" if not pairs else "there are too many pairs of nodes"
        return FitCheck(name, f"Whether arrows are missing was not tested: {why}.")
    tests: list[tuple[RatioTest, str, str]] = []
    for node, other in small:
        counts = _counted(table, (*parents[node], other, node), states)
        test = independence_test(counts.reshape(-1, *counts.shape[-2:]))
        tests.append((test, other, node))
    worst, other, node = min(tests, key=lambda entry: entry[0].p_value)
    p_value = min(1.0, worst.p_value * len(tests))
    if p_value >= SIGNIFICANT:
        text = f"No arrow is seen to be missing, in {len(tests)} tests ({p_words(p_value)})."
        return FitCheck(name, text, True, worst.statistic, worst.degrees, p_value)
    text = (
        f"Given its parents, {node} still depends on {other} ({worst.words()}, in {len(tests)} "
        "tests): an arrow is missing, records tell more of each other than the network says, and "
        f"its level may be too low. Add an arrow from {other} to {node}."
    )
    return FitCheck(name, text, False, worst.statistic, worst.degrees, p_value)


def _untied(parents: Parents) -> Iterator[tuple[str, str]]:
    """Pairs of a node and one before it in an order of parents first, that is not its parent."""
    order: list[str] = []
    waiting = list(parents)
    while waiting:
        ready = [node for node in waiting if all(above in order for above in parents[node])]
        if not ready:
            raise InputError(
                "structure",
                waiting,
                expected="arrows without a cycle",
                remedy="One of these nodes is an ancestor of its own.",
            )
        order += ready
        waiting = [node for node in waiting if node not in ready]
    for position, node in enumerate(order):
        for other in order[:position]:
            if other not in parents[node]:
                yield node, other
