"""The exact success of one attack on a small law: answers about each record, perturbed one by one.

All records are answered by randomized response whose odds are a fraction of at most `e^eps`, so
that replacing one record costs at most `eps`. The law is of fractions and nothing is rounded until
the logarithm, which is taken in balls: probabilities of 1e-300 and costs of 1e-12 lose no digit.
Every level for adversaries who may know any other records is at least this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

from flint import arb, ctx

Law = Mapping[tuple[int, ...], Fraction]


def odds(dp_epsilon: float) -> Fraction:
    """A fraction just below `e^dp_epsilon`."""
    with _precision(2400):
        low = arb(dp_epsilon).exp().lower().fmpq()
    return Fraction(int(low.p), int(low.q))


def attack(law: Law, states: int, dp_epsilon: float) -> float:
    """The largest log ratio between two values of one record, rounded down.

    `law` gives the probability of each table, whose records have the values 0 to `states` - 1.
    """
    largest = max(_ratios(law, states, odds(dp_epsilon)), default=Fraction(1))
    with _precision(2400):
        level = (arb(largest.numerator) / arb(largest.denominator)).log()
        return float(level.lower()) * (1 - 1e-14)


def _ratios(law: Law, states: int, kept: Fraction) -> Iterator[Fraction]:
    """The ratios of the chances of each answer, for each record, knowledge and pair of values."""
    tables = [(table, mass) for table, mass in law.items() if mass > 0]
    records = len(tables[0][0])
    answers = list(product(range(states), repeat=records))
    for record in range(records):
        others = [i for i in range(records) if i != record]
        for known in product((False, True), repeat=len(others)):
            seen = [i for i, k in zip(others, known, strict=True) if k]
            for facts in {tuple(table[i] for i in seen) for table, _ in tables}:
                sides: dict[int, list[tuple[tuple[int, ...], Fraction]]] = {}
                for table, mass in tables:
                    if tuple(table[i] for i in seen) == facts:
                        sides.setdefault(table[record], []).append((table, mass))
                for answer in answers:
                    chances = [_chance(side, answer, kept) for side in sides.values()]
                    yield max(chances) / min(chances)


def _chance(
    side: list[tuple[tuple[int, ...], Fraction]], answer: tuple[int, ...], kept: Fraction
) -> Fraction:
    """The chance of an answer given one value of a record, but for a factor that all have."""
    total = sum((mass for _, mass in side), Fraction(0))
    weighed = (
        mass * prod((kept for a, x in zip(answer, table, strict=True) if a == x), start=Fraction(1))
        for table, mass in side
    )
    return sum(weighed, Fraction(0)) / total


class _precision:
    """Balls of so many bits inside."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, self.bits

    def __exit__(self, *_: Any) -> None:
        ctx.prec = self.before


def chain(transition: list[list[float]], initial: list[float], length: int) -> dict[Any, Fraction]:
    """The law of a chain, each of whose rows is made to sum to 1 exactly."""
    rows, start = [_normal(row) for row in transition], _normal(initial)
    law = {}
    for table in product(range(len(start)), repeat=length):
        mass = start[table[0]]
        for before, after in pairwise(table):
            mass *= rows[before][after]
        law[table] = mass
    return law


def factors(records: int, states: int, tables: list[dict[str, Any]]) -> dict[Any, Fraction]:
    """The law of a graph of `records`, whose weights are the products of `tables`."""
    law = {}
    for table in product(range(states), repeat=records):
        mass = Fraction(1)
        for factor in tables:
            cell = factor["table"]
            for record in factor["between"]:
                cell = cell[table[record]]
            mass *= Fraction(cell)
        law[table] = mass
    total = sum(law.values(), Fraction(0))
    return {table: mass / total for table, mass in law.items()}


def joint(cells: Any) -> dict[Any, Fraction]:
    """The law of a nested list with an axis for each record."""
    law: dict[Any, Fraction] = {}
    waiting = [((), cells)]
    while waiting:
        table, part = waiting.pop()
        if isinstance(part, list):
            waiting += [((*table, i), inner) for i, inner in enumerate(part)]
        else:
            law[table] = Fraction(part)
    total = sum(law.values(), Fraction(0))
    return {table: mass / total for table, mass in law.items()}


def _normal(row: list[float]) -> list[Fraction]:
    exact = list(map(Fraction, row))
    return [cell / sum(exact, Fraction(0)) for cell in exact]
