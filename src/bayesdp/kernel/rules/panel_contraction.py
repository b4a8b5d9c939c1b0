"""Panels: influences through pairs, one number for each kind of pair (theory 3.7p).

The witness has six numbers: what a change of a record passes on to the member's own neighbouring
steps, to another member's, to another member at the same step and to the shared state, and what a
change of that state passes on to a member and to its own neighbouring steps. They are above all of
these if a step raises none of them. Without a witness each is the logarithm of its odds ratio.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball, contracted, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.populations import group_size
from bayesdp.kernel.steps.fixed_points import logarithms, super_solution
from bayesdp.statements.panels import Panel

WITNESS = "messages"


def bound(conversion: Conversion) -> arb:
    """`eps` and everything that a change of one record passes on, at most the cluster's cost."""
    panel = conversion.declared(Panel, "no panel is declared")
    epsilon = ball(conversion.total)
    others, near = panel.series - 1, 2  # steps beside one, also those that nobody lists
    shared = int(panel.shared_previous is not None)
    left_open = (others and panel.others_now is None) or (shared and panel.shared_now is None)
    require(not left_open, "an odds ratio within a step is left open", "population")
    shown = panel.shared_now or 1.0
    ratios = [
        ball(Fraction(ratio))
        for ratio in (
            panel.own_previous,
            panel.others_previous or 1.0,
            panel.others_now or 1.0,
            shown,
            shown,
            panel.shared_previous or 1.0,
        )
    ]
    counts = (near, near * others, others, shared)

    def into_record(y: list[arb], but: int | None = None) -> arb:
        """`eps` and the messages into a record, `but` one message of a kind that it has."""
        kept = (max(n - (kind == but), 0) for kind, n in enumerate(counts))
        return sum((n * entry for n, entry in zip(kept, y, strict=False)), epsilon)

    def step(y: list[arb]) -> list[arb]:
        arriving = [
            into_record(y, 0),
            into_record(y, 1),
            into_record(y, 2),
            others * y[4] + near * y[5],
            into_record(y, 3),
            panel.series * y[4] + (near - 1) * y[5],
        ]
        return [contracted(s, ratio) for s, ratio in zip(arriving, ratios, strict=True)]

    y = [ratio.log() for ratio in ratios]
    if WITNESS in conversion.details:
        y = super_solution(logarithms(conversion.details[WITNESS], 6, WITNESS), step, WITNESS)
    return into_record(y).min(ball(group_size(panel) * conversion.total))
