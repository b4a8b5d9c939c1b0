"""A stationary AR(1) series: the largest sum of `|phi|^|i - j|` over its records (theory 3.8 d)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, exact, require, whole
from bayesdp.kernel.core import Conversion
from bayesdp.kernel.gaussian import level


def bound(conversion: Conversion) -> arb:
    """The record in the middle has the largest sum: two geometric series, one for each side."""
    population = conversion.population
    require(population.get("model") == "autoregressive", "the population is no AR(1) series")
    length = whole(population["length"], "length", 1)
    phi = abs(exact(population["coefficient"], "coefficient"))
    require(phi < 1, "the series is not stationary")
    root, factor = ball(phi), arb(1)
    for side in ((length - 1) // 2, length // 2):
        factor += root * (1 - root**side) / (1 - root)
    return level(conversion, factor, length)
