"""Panels: clusters of members who are observed again and again, and influence each other."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from bayesdp.errors import InputError
from bayesdp.populations.base import MOST_RECORDS, Population
from bayesdp.statements.base import exact_text

_PAIRS = {
    "own_previous": "a member's next record",
    "others_previous": "another member's next record",
    "others_now": "two members at the same step",
}
ODDS_RATIOS = (*_PAIRS, "shared_previous", "shared_now")
"""The fields that are odds ratios."""


class Panel(Population):
    """Mutually independent clusters of `series` members over `length` steps (theory 3.7p).

    A record is one member at one step. The law of a cluster is proportional to a product of
    non-negative factors of single records, whatever they are, and of positive factors of pairs.
    Each number below is an odds ratio of at least 1: the largest cross ratio that the factors of
    such pairs have, for any two values of either record.

    `own_previous` is of a member's neighbouring steps, `others_previous` of one member and another
    one a step later (1: none; needed where there are several members), `others_now` of two members
    at the same step (left out: anything is possible between them). `shared_previous` says that the
    cluster has a state of its own that is not a record, such as the weather, and is of its
    neighbouring steps; `shared_now` is of that state and a member at the same step (left out:
    anything).

    `series` counts every member whose records influence others, also those in no table; `length`
    the steps that the table may have records of. Clusters may have fewer of both, and gaps, and may
    have begun before and go on after.
    """

    model: Literal["panel"] = "panel"
    series: int = Field(ge=1, le=MOST_RECORDS)
    length: int = Field(ge=1, le=MOST_RECORDS)
    own_previous: float
    others_previous: float | None = None
    others_now: float | None = None
    shared_previous: float | None = None
    shared_now: float | None = None

    structure: ClassVar[str] = "panel"

    @model_validator(mode="after")
    def _odds_ratios(self) -> Panel:
        for name in ODDS_RATIOS:
            value = getattr(self, name)
            if value is not None and value < 1.0:
                inverse = f"{1.0 / value:.6g}" if value > 0.0 else "its inverse"
                raise InputError(
                    f"population.{name}",
                    value,
                    expected="an odds ratio of at least 1, 1 for no influence",
                    remedy=f"An influence that lowers odds counts as its inverse: {inverse}.",
                )
        if self.others_previous is None and self.series > 1:
            raise InputError(
                "population.others_previous",
                expected="an odds ratio: a member's record and the next one of another member",
                remedy="Write others_previous = 1 if there is no such influence.",
                shown=False,
            )
        if self.shared_now is not None and self.shared_previous is None:
            raise InputError(
                "population.shared_previous",
                expected="how the shared state follows itself, since shared_now is given",
                remedy="Write shared_previous = 1 for a state that is new at each step.",
                shown=False,
            )
        if self.group_size > MOST_RECORDS:
            raise InputError(
                "population.length",
                self.length,
                expected=f"at most {MOST_RECORDS} records in a cluster: series times length",
                remedy="Write how many there are at most.",
            )
        return self

    @property
    def group_size(self) -> int:
        """`series * length`: the records of one cluster."""
        return self.series * self.length

    def describe(self) -> str:
        """One sentence in plain English."""
        pairs = [
            f"{exact_text(value)} for {words}"
            for name, words in _PAIRS.items()
            if (value := getattr(self, name)) is not None
        ]
        if self.shared_previous is not None:
            pairs.append(
                f"{exact_text(self.shared_previous)} for a shared state and its next value"
            )
            if self.shared_now is not None:
                pairs.append(f"{exact_text(self.shared_now)} for the shared state and a member")
        free = "" if self.others_now is not None else "; at the same step anything is possible"
        return (
            f"mutually independent clusters of at most {self.series} members over at most "
            f"{self.length} steps, whose records influence each other in pairs, with odds ratios "
            f"of at most {', '.join(pairs)}{free}"
        )
