"""Counts over a complete series of a negatively correlated two-state chain (theory 3.9 b)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import chain_of, transitions


def count_mechanism(length: int) -> str:
    """How a spend names discrete Laplace noise on the count over one series without gaps."""
    return f"discrete-laplace on a count over a complete series of {length}"


def bound(conversion: Conversion) -> arb:
    """The sum of the DP costs. It speaks of one mechanism, which the release itself must show."""
    population = chain_of(conversion)
    transition = transitions(population)
    require(population.complete, "the series may have gaps")
    require(
        len(transition) == 2,
        f"the chain has {len(transition)} states, not two",
    )
    # Rows are rescaled to sum to 1, which leaves the sign of the determinant as it is.
    (stay, leave), (come, keep) = transition
    require(stay * keep <= leave * come, "the chain is positively correlated")
    due = count_mechanism(population.length)
    require(conversion.mechanism == due, "some spend is not a count over the complete series")
    return ball(conversion.total)
