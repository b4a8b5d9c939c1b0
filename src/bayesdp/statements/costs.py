"""What queries cost, as certificates state it: noise, programs, and their composition.

The derivation of a program's own certificate: `program_steps`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, StrictBool, Tag, model_validator

from bayesdp.statements.base import (
    Line,
    Name,
    Number,
    Positive,
    Sequence,
    Size,
    Statement,
    Whole,
    distinct,
)
from bayesdp.statements.program_documents import ExactNumber
from bayesdp.statements.program_steps import ProgramDerivation
from bayesdp.statements.queries import (
    PRODUCTS,
    CollectedQuery,
    FoundGroupsQuery,
    ProgramQuery,
    TableQuery,
)
from bayesdp.statements.spends import (
    COLLECTED,
    EXPONENTIAL,
    GAUSSIAN,
    LAPLACE,
    PERMUTE_AND_FLIP,
    PROGRAM,
    PURE,
    THRESHOLDED,
    Spend,
)

COMPOSITION = "sequential-composition"
PERTURBED = "randomized-response"
"""The rule about the cost of perturbed answers."""

Fraction = Annotated[tuple[Whole, Annotated[Whole, Field(ge=1)]], Sequence]
"""An exact fraction: its numerator and its denominator."""

Delta = Annotated[Number, Field(ge=0, lt=1)]
"""A probability below 1."""

Nothing = Annotated[tuple[()], Sequence]
"""No premises."""


def rule_of(plain: object) -> str:
    """The rule that a step names; an empty text for plain data that is not a step."""
    rule = plain.get("rule") if isinstance(plain, Mapping) else None
    return rule if isinstance(rule, str) else ""


class DpLevel(Statement):
    """The conclusion of a step: a DP level, in nats."""

    notion: Literal["dp"]
    epsilon: Size


class DpCost(DpLevel):
    """A DP cost: pure, and of Gaussian noise."""

    rho: Size = 0.0


class TotalCost(DpCost):
    """The cost of several queries: `delta` is the sum of the mechanisms' own deltas."""

    delta: Delta = 0.0


class QueryCost(DpCost):
    """The cost of one query, and whether its mechanism is Lipschitz."""

    kind: Literal["any", "lipschitz"]


class CostAtOwnDelta(QueryCost):
    """The cost of a query whose mechanism has a delta of its own."""

    kind: Literal["any"]
    delta: Annotated[Delta, Field(gt=0)]


class Grid(Statement):
    """The grid of `2**bits` steps on which values from `lo` to `hi` are summed."""

    lo: Number
    hi: Number
    bits: Annotated[Whole, Field(le=62)]
    masked: StrictBool
    slack: Number

    @model_validator(mode="after")
    def _goes_together(self) -> Grid:
        if not self.lo < self.hi:
            raise ValueError("a grid whose lower end is not below its upper end")
        if self.slack != 2.0 / 2.0**self.bits:
            raise ValueError("a slack other than two of its steps")
        return self


def _no_delta(spend: Spend) -> None:
    if spend.dp_delta > 0:
        raise ValueError("a delta of a mechanism that has none of its own")


class Noise(Statement):
    """A query, its noise, and the spend that the ledger keeps of it.

    Sums have a `grid`, sums of products `grids`: one for each of their columns, of as many steps.
    """

    query: TableQuery
    scale: Positive
    step: Fraction
    spend: Spend
    grid: Grid | None = None
    grids: Annotated[tuple[Grid, ...], Sequence, Field(min_length=2)] | None = None

    @model_validator(mode="after")
    def _sums_have_a_grid(self) -> Noise:
        if (self.grid is not None) != self.query.is_sum:
            raise ValueError("a grid belongs to sums, means and variances, and to nothing else")
        if (self.grids is not None) != (self.query.kind in PRODUCTS):
            raise ValueError("grids belong to covariances and regressions, and to nothing else")
        return self

    @model_validator(mode="after")
    def _without_a_delta(self) -> Noise:
        _no_delta(self.spend)
        return self

    @model_validator(mode="after")
    def _roots_are_gaussian(self) -> Noise:
        if self.query.strategy == "square-root" and not isinstance(self, GaussianNoise):
            raise ValueError("the matrix of cumulative sums with other noise than Gaussian")
        return self

    @model_validator(mode="after")
    def _quantiles_are_chosen(self) -> Noise:
        if isinstance(self, PureChoice | ZcdpChoice) != (self.query.kind == "quantile"):
            raise ValueError("a quantile is chosen among candidates, and nothing else is")
        return self


class LaplaceNoise(Noise):
    """Discrete Laplace noise on a query, with the sensitivity in l1."""

    sensitivity: Annotated[Whole, Field(ge=1)]


class GaussianNoise(Noise):
    """Discrete Gaussian noise on a query, with the square of the sensitivity in l2."""

    sensitivity_squared: Annotated[Whole, Field(ge=1)]


class PureChoice(Noise):
    """A choice among candidates at a pure cost, with the move of any candidate's score.

    Scores are in steps of the `step`, a fraction of a row. Where a record has rows in several
    groups, it is the sum over groups of how far the scores of one group move.
    """

    sensitivity: Annotated[Whole, Field(ge=1)]


class ZcdpChoice(Noise):
    """The same at a cost in zCDP, with the square of the move, or its sum over groups."""

    sensitivity_squared: Annotated[Whole, Field(ge=1)]


class LaplaceStep(Statement):
    """A step: the pure cost of discrete Laplace noise."""

    rule: Literal["discrete-laplace"]
    conclusion: QueryCost
    evidence: LaplaceNoise
    premises: Nothing


class _ZcdpStep(Statement):
    conclusion: QueryCost
    premises: Nothing

    @model_validator(mode="after")
    def _no_pure_cost(self) -> _ZcdpStep:
        if self.conclusion.epsilon != 0.0:
            raise ValueError("a pure cost of a mechanism whose cost is in zCDP")
        return self


class GaussianStep(_ZcdpStep):
    """A step: the zCDP cost of discrete Gaussian noise."""

    rule: Literal["discrete-gaussian"]
    evidence: GaussianNoise


class PermuteAndFlipStep(Statement):
    """A step: the pure cost of a choice by the largest score with exponential noise."""

    rule: Literal["permute-and-flip"]
    conclusion: QueryCost
    evidence: PureChoice
    premises: Nothing


class ExponentialStep(_ZcdpStep):
    """A step: the zCDP cost of a choice by the exponential mechanism."""

    rule: Literal["exponential-mechanism"]
    evidence: ZcdpChoice


class Thresholded(Statement):
    """A count by groups that are found in the data, and the spend that the ledger keeps of it.

    Discrete Laplace noise of the `scale` is for counts that a record moves by the `sensitivity` in
    l1. Shown are the groups whose noisy count is at least the `threshold`.
    """

    query: FoundGroupsQuery
    sensitivity: Annotated[Whole, Field(ge=1)]
    scale: Positive
    threshold: Annotated[Whole, Field(ge=1)]
    spend: Spend

    @model_validator(mode="after")
    def _at_a_threshold(self) -> Thresholded:
        if self.spend.mechanism != THRESHOLDED:
            raise ValueError("groups that are found, with the spend of another mechanism")
        return self


class ThresholdedStep(Statement):
    """A step: the pure cost and the delta of counts by groups that are found in the data."""

    rule: Literal["thresholded-laplace"]
    conclusion: CostAtOwnDelta
    evidence: Thresholded
    premises: Nothing

    @model_validator(mode="after")
    def _no_zcdp_cost(self) -> ThresholdedStep:
        if self.conclusion.rho != 0.0:
            raise ValueError("a cost in zCDP of a mechanism whose cost is pure")
        return self


class Collected(Statement):
    """A query of perturbed answers, and the spend that the ledger keeps of their collection."""

    query: CollectedQuery
    spend: Spend

    @model_validator(mode="after")
    def _at_collection(self) -> Collected:
        _no_delta(self.spend)
        if self.spend.mechanism != COLLECTED:
            raise ValueError("perturbed answers with the spend of another mechanism")
        return self


class CollectedStep(Statement):
    """A step: the pure cost of answers that were perturbed when they were collected."""

    rule: Literal["randomized-response"]
    conclusion: QueryCost
    evidence: Collected
    premises: Nothing

    @model_validator(mode="after")
    def _no_zcdp_cost(self) -> CollectedStep:
        if self.conclusion.rho != 0.0:
            raise ValueError("a cost in zCDP of a mechanism whose cost is pure")
        return self


class ProgramCost(Statement):
    """A program as a query: the columns of its fields, its spends, the cost of its Gaussians.

    The field of a record that is one value has no name.
    """

    query: ProgramQuery
    fields: dict[Line, Name]
    spends: Annotated[tuple[Spend, ...], Sequence, Field(min_length=1, max_length=2)]
    gaussian: dict[Name, ExactNumber] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _without_a_delta(self) -> ProgramCost:
        for spend in self.spends:
            _no_delta(spend)
        return self


class ProgramStep(Statement):
    """A step: the cost of a program, over the derivation of the program's own certificate."""

    rule: Literal["program"]
    conclusion: QueryCost
    evidence: ProgramCost
    premises: Annotated[tuple[ProgramDerivation], Sequence]


QueryStep = Annotated[
    Annotated[LaplaceStep, Tag(LAPLACE)]
    | Annotated[GaussianStep, Tag(GAUSSIAN)]
    | Annotated[PermuteAndFlipStep, Tag(PERMUTE_AND_FLIP)]
    | Annotated[ExponentialStep, Tag(EXPONENTIAL)]
    | Annotated[ThresholdedStep, Tag(THRESHOLDED)]
    | Annotated[CollectedStep, Tag(PERTURBED)]
    | Annotated[ProgramStep, Tag(PROGRAM)],
    Discriminator(rule_of),
]


class Adjacency(Statement):
    """When two databases are neighbours."""

    adjacency: Literal["replace one record"]


class Composition(Statement):
    """A step: the DP cost of all queries of a release."""

    rule: Literal["sequential-composition"]
    conclusion: TotalCost
    evidence: Adjacency
    premises: Annotated[tuple[QueryStep, ...], Sequence, Field(min_length=1)]

    @model_validator(mode="after")
    def _of_one_noise(self) -> Composition:
        rules = [step.rule for step in self.premises]
        if PROGRAM in rules and set(rules[rules.index(PROGRAM) :]) != {PROGRAM}:
            raise ValueError("a query after a program: programs come last")
        if PERTURBED in rules and {*rules[rules.index(PERTURBED) :]} - {PERTURBED, PROGRAM}:
            raise ValueError("noise after perturbed answers: they come after all noise")
        later = {THRESHOLDED, PERTURBED, PROGRAM}
        if THRESHOLDED in rules and {*rules[rules.index(THRESHOLDED) :]} - later:
            raise ValueError("other noise after that of groups that are found")
        if len({rule in PURE for rule in rules if rule not in (PERTURBED, PROGRAM)}) > 1:
            raise ValueError("noise of two kinds: all queries of a release share one kind")
        distinct(tuple(step.evidence.query.name for step in self.premises))
        return self
