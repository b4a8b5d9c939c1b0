"""Stationary chains with positive transitions: `eps + 4 ln(max P / min P)` (theory 3.4)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import chain_of, check_stationary, transitions


def bound(conversion: Conversion) -> arb:
    """`eps + 4 ln(max P / min P)`; `InvalidError` for another start, and for a transition of 0."""
    population = chain_of(conversion)
    rows = transitions(population)
    check_stationary(population)
    smallest, largest = min(map(min, rows)), max(map(max, rows))
    require(smallest > 0, "a transition probability is 0")
    return ball(conversion.total) + 4 * ball(largest / smallest).log()
