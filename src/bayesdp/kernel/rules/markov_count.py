"""Counts over a complete series of a negatively correlated two-state chain (theory 3.9 b)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, exact, require, whole
from bayesdp.kernel.core import Conversion, count_mechanism


def bound(conversion: Conversion) -> arb:
    """The sum of the DP costs. It speaks of one mechanism, which the release itself must show."""
    population = conversion.population
    require(population.get("model") == "markov", "the population is no Markov chain")
    require(whole(population.get("order", 1), "order", 1) == 1, "a chain of higher order")
    require(population.get("complete") is True, "the series may have gaps")
    rows = population["transition"]
    require(len(rows) == 2 and all(len(row) == 2 for row in rows), "not two states")
    entries = [[exact(entry) for entry in row] for row in rows]
    require(all(0 <= entry <= 1 for row in entries for entry in row), "no probabilities")
    # Rows sum to 1 up to rounding: the sign of the determinant is what the proof needs.
    (stay, leave), (come, keep) = entries
    require(stay * keep <= leave * come, "the chain is positively correlated")
    due = count_mechanism(whole(population["length"], "length", 1))
    require(conversion.mechanism == due, "some spend is no count over the complete series")
    return ball(conversion.total)
