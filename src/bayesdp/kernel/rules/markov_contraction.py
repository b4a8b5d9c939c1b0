"""Chains: `4 asinh( sqrt(R) sinh(k eps / 4) )`, `R` the largest cross ratio (theory 3.6)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.orders import blocks, cross_ratio, exact_rows, interval_rows
from bayesdp.statements.chains import MarkovChain, MarkovIntervals
from bayesdp.statements.populations import Population


def bound(conversion: Conversion) -> arb:
    """`4 asinh(sqrt(R) sinh(k eps / 4))`, `k` the order, `R` the largest cross ratio of blocks."""
    ratio, order = largest_ratio(conversion.population)
    quarter = ball(Fraction(order) * conversion.total / 4)
    return 4 * (ball(ratio).sqrt() * quarter.sinh()).asinh()


def largest_ratio(population: Population) -> tuple[Fraction, int]:
    """`R`, and how many records a block has."""
    if isinstance(population, MarkovChain):
        low = high = blocks(exact_rows(population), population.order)
    elif isinstance(population, MarkovIntervals):
        low, high = (blocks(rows, population.order) for rows in interval_rows(population))
    else:
        raise InvalidError("the population is not a Markov chain")
    return cross_ratio(low, high), population.order
