"""Results: the answers that a certificate of a release shows, each with its noise and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    Line,
    Name,
    Number,
    Plain,
    Positive,
    Size,
    Statement,
    Whole,
)
from bayesdp.statements.columns import CellKey, Value, is_group_name
from bayesdp.statements.queries import AVERAGES, FOUND_GROUPS, RANDOMIZED_RESPONSE, NumberKind
from bayesdp.statements.spends import PROGRAM, ZCDP


def _group_name(text: str) -> str:
    if not is_group_name(text):
        raise ValueError("a text that names no group")
    return text


class ErrorMargin(Statement):
    """The noise moves a number by more than `value` with probability at most 1 - `confidence`."""

    confidence: Annotated[Number, Field(ge=0.5, lt=1)]
    value: Size


class RankMargin(Statement):
    """The rank of a quantile is off by more than `rows` with probability at most 1 - `confidence`.

    Ranks are those of the values, each rounded to the nearest candidate.
    """

    confidence: Annotated[Number, Field(ge=0.5, lt=1)]
    rows: Size


class ResultNoise(Statement):
    """The noise of a number, in the unit of the result."""

    distribution: Literal["discrete-laplace", "discrete-gaussian"]
    scale: Positive
    step: Positive


class ChoiceNoise(Statement):
    """The mechanism that chose a quantile: its scale in steps, each a share `step` of a row."""

    distribution: Literal["permute-and-flip", "exponential-mechanism"]
    scale: Positive
    step: Positive


class _NoisyResult(Statement):
    """What a result of a query of a table always says: its query, its value and its cost."""

    query: Name
    group: CellKey | None = None
    value: Number
    unit: Line
    noise: ResultNoise | ChoiceNoise
    dp_epsilon: Size | None = None
    dp_rho: Size | None = None

    @model_validator(mode="after")
    def _cost_of_its_noise(self) -> _NoisyResult:
        zcdp = self.noise.distribution in ZCDP
        due, other = (self.dp_rho, self.dp_epsilon)[:: 1 if zcdp else -1]
        if due is None or other is not None:
            raise ValueError("a cost of another kind than its noise has")
        return self

    @property
    def cost(self) -> float:
        """The number's DP cost: pure, or in zCDP."""
        return float((self.dp_epsilon or 0.0) + (self.dp_rho or 0.0))


class NumberResult(_NoisyResult):
    """A released number: of which query, group and cell, over how many rows if it is an average."""

    kind: NumberKind
    cell: CellKey | None = None
    rows: Count | None = None
    error: ErrorMargin
    noise: ResultNoise

    @model_validator(mode="after")
    def _goes_together(self) -> NumberResult:
        if (self.rows is not None) != (self.kind in AVERAGES):
            raise ValueError("rows belong to averages, and each average has them")
        return self


class QuantileResult(_NoisyResult):
    """A released quantile: one of the query's candidates, in the unit of its column."""

    kind: Literal["quantile"]
    rank_error: RankMargin
    noise: ChoiceNoise


class Between(Statement):
    """The number of records lies from `low` to `high` with this probability, at least."""

    confidence: Annotated[Number, Field(ge=0.5, lt=1)]
    low: Whole
    high: Whole


class CollectedResult(Statement):
    """How many records hold a state, from perturbed answers.

    So many `answers` name the state `cell`. `value` is the unbiased estimate of the number of
    records that hold it, `share` the same as a share of all records.
    """

    query: Name
    kind: Literal["randomized_response"]
    cell: Value
    answers: Whole
    value: Number
    share: Number
    between: Between
    dp_epsilon: Size


class FoundResult(Statement):
    """The noisy count of a group that was found in the data, at least the `threshold`.

    `error` is that of the noise: with at most the rest of the probability the group is shown *and*
    the count is off by more.
    """

    query: Name
    kind: Literal["found_groups"]
    group: Annotated[str, AfterValidator(_group_name)]
    value: Number
    error: ErrorMargin
    threshold: Annotated[Whole, Field(ge=1)]
    noise: ResultNoise
    dp_epsilon: Size


class SeriesResult(_NoisyResult):
    """A released number of a series: of a period, of all periods up to it, or of any in a row.

    `error` is that of this number alone. With `simultaneous` all of the query's answers are right
    at once: for ranges, all sums of periods in a row.
    """

    kind: Literal["series"]
    cell: CellKey | None = None
    error: ErrorMargin
    simultaneous: ErrorMargin
    noise: ResultNoise

    @model_validator(mode="after")
    def _goes_together(self) -> SeriesResult:
        if self.error.confidence != self.simultaneous.confidence:
            raise ValueError("errors of two confidences")
        return self


class ProgramResult(Statement):
    """What a program released and returned, for `read_released` and `read_output`."""

    query: Name
    kind: Literal["program"]
    outputs: list[Plain]
    releases: dict[Name, Plain]
    dp_epsilon: Size = 0.0
    dp_rho: Size = 0.0


def _form_of_result(plain: object) -> str:
    kind = plain.get("kind") if isinstance(plain, Mapping) else None
    forms = (PROGRAM, "quantile", "series", RANDOMIZED_RESPONSE, FOUND_GROUPS)
    return str(kind) if kind in forms else "number"


Result = Annotated[
    Annotated[NumberResult, Tag("number")]
    | Annotated[QuantileResult, Tag("quantile")]
    | Annotated[CollectedResult, Tag(RANDOMIZED_RESPONSE)]
    | Annotated[FoundResult, Tag(FOUND_GROUPS)]
    | Annotated[SeriesResult, Tag("series")]
    | Annotated[ProgramResult, Tag(PROGRAM)],
    Discriminator(_form_of_result),
]
