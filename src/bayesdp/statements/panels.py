"""Panels: clusters of members who are observed again and again, and influence each other."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bayesdp.statements.base import Count, Number, PopulationStatement

OddsRatio = Annotated[Number, Field(ge=1)]
"""The most that the odds of two values change with another record: 1 is no influence."""


class Panel(PopulationStatement):
    """Independent clusters of at most `series` members, with records of at most `length` steps.

    The law of a cluster is a product of factors of single records and of pairs. Each number bounds
    the cross ratio of a kind of pair; `others_now` may be left open, and `others_previous` is about
    clusters of several members. With `shared_previous` the
    cluster has a state of its own at each step, which is not a record.
    """

    model: Literal["panel"]
    series: Count
    length: Count
    own_previous: OddsRatio
    others_previous: OddsRatio | None = None
    others_now: OddsRatio | None = None
    shared_previous: OddsRatio | None = None
    shared_now: OddsRatio | None = None

    @model_validator(mode="after")
    def _complete(self) -> Panel:
        if self.others_previous is None and self.series > 1:
            raise ValueError("several members, and not how they follow each other")
        if self.shared_now is not None and self.shared_previous is None:
            raise ValueError("how a shared state shows, and not how it follows itself")
        return self
