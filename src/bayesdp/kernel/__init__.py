"""Re-checks certificates. Reads one JSON document and trusts nothing of the package but statements.

`check` says VALID ASSUMING (with the list of what nobody checked), INVALID (with the step that
fails) or UNKNOWN (a rule without a file in `rules/`, or a file that is not at hand). A document is
read once and strictly by `bayesdp.statements`, which needs pydantic; everything else uses the
standard library and python-flint: numbers are exact fractions or balls that contain the true value.
Its digest is looked at before, in `bayesdp.verification`.

To read it: `judgement` (what is judged, the theorems that have a rule, the verdict), `arithmetic`,
`certificates` (the whole document), `conversions` and `bounds` (steps from DP to BDP), one file for
each theorem in `rules/`, `composition` (how costs add up), `stated` (what is declared, and whether
it can all be so), `queries` (what a query reads and how far one record moves it), `series` (of
periods), `program_queries` and `program_results` (those that are programs), `collected` (answers
that were perturbed one by one), `found_groups` (groups that nobody declared),
`programs` (what a program costs), `declared` (what a release declares), `noise_steps` (what its
queries of numbers cost), `levels` (of its spends), `releases` (claims, the data set), `results`,
`row_counts`, `populations` (sizes), `described` (numbers that no rule reads), `relations` and
`hypotheses` (what one notion says of another).

What rules share: `approximate` (deltas); `chains`, `orders`, `moves` and `fixed_points` (chains);
`graphs`, `factors`, `joints`, `components`, `ratios` and `dependence` (finite laws and graphs);
`state_fields`, `thresholds` and `odds_steps` (messages of graphs whose odds are known); `gaussian`
and `walks` (Gaussian records); `blocks` (of public columns); `tails` (of noise).
"""

from __future__ import annotations

from bayesdp.kernel.arithmetic import InvalidError, TooSlowError, UnknownError
from bayesdp.kernel.certificates import check
from bayesdp.kernel.conversions import certified_level
from bayesdp.kernel.judgement import Verdict
from bayesdp.kernel.program_queries import costs as program_costs
from bayesdp.kernel.program_queries import gaussian_assumptions
from bayesdp.kernel.program_queries import remaining as program_assumptions
from bayesdp.kernel.program_queries import slack as program_slack
from bayesdp.kernel.relations import derived_assumptions as relation_assumptions
from bayesdp.kernel.stated import stated_population
from bayesdp.statements.assumptions import ROUNDING, assumptions
from bayesdp.statements.certificates import NOT_PROTECTED
from bayesdp.statements.conversions import DETAILS

__all__ = [
    "DETAILS",
    "NOT_PROTECTED",
    "ROUNDING",
    "InvalidError",
    "TooSlowError",
    "UnknownError",
    "Verdict",
    "assumptions",
    "certified_level",
    "check",
    "gaussian_assumptions",
    "program_assumptions",
    "program_costs",
    "program_slack",
    "relation_assumptions",
    "stated_population",
]
