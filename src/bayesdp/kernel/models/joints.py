"""Small discrete models, multiplied out exactly: independent parts, each with its joint law."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, law, require
from bayesdp.kernel.models.components import Components
from bayesdp.kernel.models.graphs import Model, read_model
from bayesdp.kernel.models.orders import exact_rows, first_law, windows
from bayesdp.statements.chains import MarkovChain
from bayesdp.statements.graphs import Finite
from bayesdp.statements.populations import Population
from bayesdp.statements.tables import cells, shape

MOST_CELLS = 2**12
"""Certificates about a joint law with more cells are UNKNOWN."""
Law = dict[tuple[int, ...], Fraction]
JointPart = tuple[list[int], tuple[int, ...], Law]


class TooLargeError(InvalidError):
    """A joint law of more cells than are multiplied out."""


def parts(population: Population) -> list[JointPart]:
    """(records, sizes, law) of each part; parts are mutually independent."""
    if isinstance(population, Finite):
        sizes = shape(population.probabilities)
        _small(sizes)
        weights = law(list(cells(population.probabilities)), "probabilities")
        table = dict(zip(product(*map(range, sizes)), weights, strict=True))
        return [(list(range(len(sizes))), sizes, table)]
    if isinstance(population, MarkovChain):
        return [_chain(population)]
    if population.model in ("tree", "graph", "network"):
        return _graph(read_model(population))
    raise UnknownError(f"no joint law for the model {population.model!r}")


def _small(sizes: tuple[int, ...]) -> None:
    if not 0 < prod(sizes) <= MOST_CELLS:
        raise TooLargeError("the joint law is too large to multiply out")


def _chain(population: MarkovChain) -> tuple[list[int], tuple[int, ...], Law]:
    order, length = population.order, population.length
    rows = exact_rows(population)
    states, start = len(rows[0]), first_law(population, rows)
    sizes = (states,) * length
    _small((states,) * max(length, order))
    table: Law = {}
    for cell, weight in windows(rows, order, max(length, order), start).items():
        table[cell[:length]] = table.get(cell[:length], Fraction(0)) + weight
    return list(range(length)), sizes, table


def _graph(model: Model) -> list[tuple[list[int], tuple[int, ...], Law]]:
    tied = Components(range(model.records), (tie for tie, _ in model.factors))
    different, seen = [], set()
    for records in tied.groups():
        sizes, table = _multiplied(model, records)
        key = (sizes, tuple(table.values()))
        if key not in seen:
            seen.add(key)
            different.append((records, sizes, table))
    return different


def _multiplied(model: Model, records: list[int]) -> tuple[tuple[int, ...], Law]:
    sizes = tuple(model.states[record] for record in records)
    _small(sizes)
    place = {record: axis for axis, record in enumerate(records)}
    joint: Law = {cell: Fraction(1) for cell in product(*map(range, sizes))}
    for members, table in model.factors:
        if members[0] not in place:
            continue
        weights = dict(table.cells())
        axes = [place[member] for member in members]
        for cell in joint:
            joint[cell] *= weights[tuple(cell[axis] for axis in axes)]
    total = sum(joint.values(), Fraction(0))
    require(total > 0, "the factors give every setting of the records weight 0")
    return sizes, {cell: weight / total for cell, weight in joint.items()}
