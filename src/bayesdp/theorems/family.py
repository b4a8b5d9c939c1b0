"""A family of populations: the largest level over its members.

### 3.11 Families of populations

**Statement** (theorem `family`). If `L_pi(eps) <= l_pi` for each member `pi` of a family, the level
of the family is at most `max l_pi`; exact if all of them are. **Proof.** The level of a family is
the supremum over its members (1). ∎ Nothing is averaged, so the attacker may know which member is
the right one, and it need not be fixed before the data are seen. Mixtures of the members are *not*
covered: not knowing which chain it is makes far records informative about each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bayesdp.notions import Bound, Cost, LeakageReport, left_out_for_time
from bayesdp.numbers import NOT_NEGATIVE, LowerBound
from bayesdp.populations import Family, Population
from bayesdp.theorems.base import Question, Theorem


class FamilyOfPopulations(Theorem[Family]):
    """The largest of the members' best levels (theory 3.11)."""

    name = "family"
    statement = "a family of populations: the largest level over its members"
    source = "bayesdp; theory 3.11"
    uses = "each member's best theorem"
    ignores = "which member is the likelier one"
    asks_others = True
    models = (Family,)
    treats_informed = True

    def __init__(self, report: Callable[[Question, Cost], LeakageReport]) -> None:
        """`report` asks all theorems about a member; the registry provides it."""
        self._report = report

    def level(self, population: Family, question: Question, cost: Cost) -> Bound:
        """The largest level of a member. It is exact if that member's level is."""
        reports = [self._report(_about(question, member), cost) for member in population.members]
        best = [report.best for report in reports]
        refused = [refusal for report in reports for refusal in report.refused]
        worst = max(best, key=lambda bound: (bound.epsilon, bound.tight == "exact"))
        return self._bound(
            worst.epsilon,
            LowerBound(worst.epsilon) if worst.tight == "exact" else NOT_NEGATIVE,
            members=[{"theorem": bound.theorem, "epsilon": bound.epsilon} for bound in best],
            left_out=left_out_for_time(refused),
        )


def _about(question: Question, member: Population) -> Question:
    """The same question about a member."""
    return replace(question, population=member)
