"""Programs: what a private Bayesian program costs, derived again from its representation.

The rules of theory 8, the only ones: `bayesdp.programs.check` proposes by them what a derivation
states, and a certificate is held against them, once `bayesdp.statements` has read it. To read it:
`reading` (what a program is), `levels` (what may stand where), `ranges` (bounds), `rows` (what one
row adds), `sensitivities` (the table of their rules), `distances` (posteriors), `noise`, `sizes`
(comparisons for every number of records), `obligations` (what solvers were asked), `releases` (the
table of releases, over `setting`, which is what their rules need), `costs` (how they add up),
`functions` (square roots and the like), `cancelled` (sums whose terms cancel),
`cases` (conditions that decide what counts), `transitions` (rows that follow each other), `persons`
(records of several rows), `effort` (what may be computed), `document` (the certificate), `refusals`
(their codes).
"""

from __future__ import annotations

from bayesdp.kernel.programs.document import (
    RULE,
    STATED,
    assumptions_of,
    check_program,
    obligations_of,
)

__all__ = ["RULE", "STATED", "assumptions_of", "check_program", "obligations_of"]
