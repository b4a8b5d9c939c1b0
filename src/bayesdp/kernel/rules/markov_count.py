"""Counts over a complete series of a negatively correlated two-state chain (theory 3.9 b)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.statements.chains import MarkovChain


def count_mechanism(length: int) -> str:
    """How a spend names discrete Laplace noise on the count over one series without gaps."""
    return f"discrete-laplace on a count over a complete series of {length}"


def bound(conversion: Conversion) -> arb:
    """The sum of the DP costs. It speaks of one mechanism, which the release itself must show."""
    population = conversion.population
    of_order_1 = isinstance(population, MarkovChain) and population.order == 1
    require(of_order_1, "the population is not a Markov chain of order 1")
    require(population.complete, "the series may have gaps")
    require(
        len(population.transition) == 2,
        f"the chain has {len(population.transition)} states, not two",
    )
    entries = [[Fraction(entry) for entry in row] for row in population.transition]
    # Rows sum to 1 up to rounding: the sign of the determinant is what the proof needs.
    (stay, leave), (come, keep) = entries
    require(stay * keep <= leave * come, "the chain is positively correlated")
    due = count_mechanism(population.length)
    require(conversion.mechanism == due, "some spend is not a count over the complete series")
    return ball(conversion.total)
