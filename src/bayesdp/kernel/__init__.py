"""Re-checks certificates. Reads one JSON document and trusts nothing of the package but statements.

`check` says VALID ASSUMING (with the list of what nobody checked), INVALID (with the step that
fails) or UNKNOWN (a rule without a file in `rules/`, or a file that is not at hand). A document is
read once and strictly by `bayesdp.statements`, which needs pydantic; everything else uses the
standard library and python-flint: numbers are exact fractions or balls that contain the true value.
Its digest is looked at before, in `bayesdp.verification`.

The rooms, in the order in which to read them; each imports only those above it in this list:

* `arithmetic`: exact fractions and balls; `steps`: single steps of proof in balls.
* `costs`: what queries cost, and how costs add up.
* `judgement`: what is judged, the theorems that have a rule, the verdict.
* `models`: populations as declared, and what the rules of theorems share; `rules`: a file for each
  theorem.
* `reading`: what is declared; `consistency`: whether it can all be so; `programs`: what a program
  costs.
* `conversions`: steps from DP to BDP, and between notions; `releases`: certificates of releases.
* `certificates`: the whole document.
"""

from __future__ import annotations

from bayesdp.kernel.arithmetic import InvalidError, TooSlowError, UnknownError
from bayesdp.kernel.certificates import check
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.conversions.relations import derived_assumptions as relation_assumptions
from bayesdp.kernel.judgement import Verdict
from bayesdp.kernel.reading import stated_population
from bayesdp.kernel.releases.program_queries import costs as program_costs
from bayesdp.kernel.releases.program_queries import gaussian_assumptions
from bayesdp.kernel.releases.program_queries import remaining as program_assumptions
from bayesdp.kernel.releases.program_queries import slack as program_slack
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
