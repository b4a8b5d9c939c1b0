"""Small discrete models, multiplied out exactly: independent parts, each with its joint law."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from bayesdp.kernel.arithmetic import UnknownError, exact, require, whole
from bayesdp.kernel.graphs import Model, read_model
from bayesdp.kernel.orders import first_law, read_rows
from bayesdp.kernel.populations import shape

MOST_CELLS = 2**12
Law = dict[tuple[int, ...], Fraction]
Part = tuple[list[int], tuple[int, ...], Law]


def parts(population: Mapping[str, Any]) -> list[Part]:
    """(records, sizes, law) of each part; parts are mutually independent."""
    model = population.get("model")
    if model == "finite":
        table = population["probabilities"]
        sizes = shape(table)
        _small(sizes)
        law = {cell: exact(_entry(table, cell)) for cell in product(*map(range, sizes))}
        require(min(law.values()) >= 0, "a negative probability")
        total = sum(law.values(), Fraction(0))
        require(abs(total - 1) <= Fraction(1, 10**9), "the law doesn't sum to 1")
        scaled = {cell: weight / total for cell, weight in law.items()}
        return [(list(range(len(sizes))), sizes, scaled)]
    if model == "markov":
        return [_chain(population)]
    if model in ("tree", "graph", "network"):
        return _graph(read_model(population))
    raise UnknownError(f"no joint law for the model {model!r}")


def _entry(table: Any, cell: tuple[int, ...]) -> Any:
    for place in cell:
        table = table[place]
    return table


def _small(sizes: tuple[int, ...]) -> None:
    require(0 < prod(sizes) <= MOST_CELLS, "the joint law is too large to multiply out")


def _chain(population: Mapping[str, Any]) -> tuple[list[int], tuple[int, ...], Law]:
    order = whole(population.get("order", 1), "order", 1)
    length = whole(population["length"], "length", 1)
    rows = read_rows(population["transition"], order)
    states, start = len(rows[0]), first_law(population, rows, order)
    sizes = (states,) * length
    _small((states,) * max(length, order))
    law: Law = {}
    for cell in product(range(states), repeat=max(length, order)):
        index = 0
        for value in cell[:order]:
            index = index * states + value
        weight = start[index]
        for new in cell[order:]:
            weight *= rows[index][new]
            index = (index * states + new) % len(rows)
        law[cell[:length]] = law.get(cell[:length], Fraction(0)) + weight
    return list(range(length)), sizes, law


def _graph(model: Model) -> list[tuple[list[int], tuple[int, ...], Law]]:
    root = list(range(model.records))

    def find(place: int) -> int:
        while root[place] != place:
            place = root[place]
        return place

    for members, _ in model.factors:
        for other in members[1:]:
            root[find(other)] = find(members[0])
    groups: dict[int, list[int]] = {}
    for place in range(model.records):
        groups.setdefault(find(place), []).append(place)
    found, seen = [], set()
    for records in groups.values():
        sizes, law = _multiplied(model, records)
        key = (sizes, tuple(law.values()))
        if key not in seen:
            seen.add(key)
            found.append((records, sizes, law))
    return found


def _multiplied(model: Model, records: list[int]) -> tuple[tuple[int, ...], Law]:
    sizes = tuple(model.states[record] for record in records)
    _small(sizes)
    place = {record: axis for axis, record in enumerate(records)}
    law: Law = {cell: Fraction(1) for cell in product(*map(range, sizes))}
    for members, table in model.factors:
        if members[0] not in place:
            continue
        weights = dict(table.cells())
        axes = [place[member] for member in members]
        for cell in law:
            law[cell] *= weights[tuple(cell[axis] for axis in axes)]
    total = sum(law.values(), Fraction(0))
    require(total > 0, "the factors exclude everything")
    return sizes, {cell: weight / total for cell, weight in law.items()}
