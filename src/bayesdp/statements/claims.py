"""Claims: what a certificate says that was shown, of a release, a conversion or relations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bayesdp.statements.base import (
    Count,
    Interval,
    Name,
    Number,
    Sequence,
    Size,
    Statement,
)
from bayesdp.statements.conversions import Adversary, Cost
from bayesdp.statements.costs import Delta
from bayesdp.statements.steps import NotionLevel


class DpClaim(Statement):
    """The claim of a release without a population: a DP level, and what the queries cost.

    `dp_delta` is the sum of the mechanisms' own deltas, which is a part of `delta`.
    """

    notion: Literal["dp"]
    epsilon: Size
    delta: Delta
    dp_epsilon: Size
    dp_rho: Size = 0.0
    dp_delta: Delta = 0.0


class AnyValues(Statement):
    """The secret values of a level that holds whatever the values are."""

    kind: Literal["any values that the population gives a positive probability"]


class BoundedValues(Statement):
    """The secret values of a level that holds in an interval, or for each column in its own."""

    kind: Literal["bounded"]
    interval: Interval | None = None
    intervals: dict[Name, Interval] | None = None

    @model_validator(mode="after")
    def _of_one_form(self) -> BoundedValues:
        if (self.interval is None) == (self.intervals is None):
            raise ValueError("neither an interval alone nor intervals by column alone")
        return self


Secrets = Annotated[AnyValues | BoundedValues, Field(discriminator="kind")]


class BdpClaim(Statement):
    """A BDP level of a release: against whom, and for which values."""

    notion: Literal["bdp"]
    epsilon: Size
    delta: Delta
    dp_epsilon: Size
    dp_rho: Size = 0.0
    adversary: Adversary
    scope: Literal["the declared population"]
    secrets: Secrets


class ConversionClaim(Statement):
    """A BDP level of all mechanisms of one DP cost and kind."""

    notion: Literal["bdp"]
    epsilon: Size
    delta: Delta
    dp_epsilon: Size
    dp_rho: Size = 0.0
    dp_delta: Delta = 0.0
    cost: Cost
    adversary: Adversary
    scope: Literal["the declared population"]
    secrets: Literal["bounded", "unbounded"]


class Parameters(Statement):
    """The parameters of notions: how large a group is, and the value of a default record."""

    size: Count
    default: Number


class RelationsClaim(Statement):
    """Levels of several notions."""

    claims: Annotated[tuple[NotionLevel, ...], Sequence, Field(min_length=1)]
    parameters: Parameters
