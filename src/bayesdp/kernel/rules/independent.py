"""Independent records: the level is the DP cost (theory 3.1)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.statements.populations import Independent


def bound(conversion: Conversion) -> arb:
    """The DP cost, for a population that says that its records are independent."""
    independent = isinstance(conversion.population, Independent)
    require(independent, "the records may be dependent")
    return ball(conversion.of_group(1))
