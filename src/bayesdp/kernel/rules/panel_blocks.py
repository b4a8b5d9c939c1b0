"""Panels: whole steps of a cluster as a chain, `4 asinh(sqrt(R) sinh(m eps / 4))` (theory 3.7q)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.populations import group_size
from bayesdp.statements.panels import Panel


def bound(conversion: Conversion) -> arb:
    """`4 asinh(sqrt(R) sinh(m eps / 4))`, never above the cost of the whole cluster.

    `R` is of neighbouring steps: each member's own pair, those of all others, the shared state.
    """
    panel, total = conversion.declared(Panel, "no panel is declared"), conversion.total
    own, others, state = (
        ball(Fraction(ratio)).log()
        for ratio in (
            panel.own_previous,
            panel.others_previous or 1.0,
            panel.shared_previous or 1.0,
        )
    )
    half = (panel.series * own + panel.series * (panel.series - 1) * others + state) / 2
    quarter = ball(panel.series * total / 4)
    level = 4 * (half.exp() * quarter.sinh()).asinh()
    least: arb = level.min(ball(group_size(panel) * total))
    return least
