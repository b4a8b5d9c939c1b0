"""Chains of order k: their rows, tuple kernels and start, exact."""

from __future__ import annotations

from fractions import Fraction

from bayesdp.kernel.arithmetic import law
from bayesdp.kernel.chains import stationary
from bayesdp.statements.chains import STATIONARY, MarkovChain
from bayesdp.statements.tables import cells
from bayesdp.statements.tables import rows as rows_below


def exact_rows(chain: MarkovChain) -> list[list[Fraction]]:
    """The rows of its table, one for each tuple of older records, exact."""
    return [law(row, "transition") for row in rows_below(chain.transition, chain.order)]


def tuple_kernel(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The chain of order 1 on tuples."""
    count, states = len(rows), len(rows[0])
    kernel = [[Fraction(0)] * count for _ in range(count)]
    for here, row in enumerate(rows):
        for new, weight in enumerate(row):
            kernel[here][(here * states + new) % count] = weight
    return kernel


def first_law(chain: MarkovChain, rows: list[list[Fraction]]) -> list[Fraction]:
    """The law of the first k records."""
    if chain.initial == STATIONARY:
        return stationary(tuple_kernel(rows))
    return law(list(cells(chain.initial)), "initial")
