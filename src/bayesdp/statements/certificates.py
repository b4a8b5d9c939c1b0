"""Certificates: every line that one may have, by what its derivation's root is about.

A reader takes every line of a certificate for checked. So a key that no class here has is refused,
and prose is either derived again (the assumptions) or always the same (`NOT_PROTECTED`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    Interval,
    Line,
    Name,
    Names,
    Number,
    Plain,
    Positive,
    Reader,
    Sequence,
    Size,
    Statement,
    Whole,
    Yes,
)
from bayesdp.statements.columns import CellKey, Value, is_group_name
from bayesdp.statements.conversions import Adversary, Conversion, Cost
from bayesdp.statements.costs import Delta
from bayesdp.statements.program_steps import ProgramClaim, ProgramDerivation
from bayesdp.statements.queries import AVERAGES, FOUND_GROUPS, RANDOMIZED_RESPONSE, NumberKind
from bayesdp.statements.spends import PROGRAM, ZCDP, Spend, protected_unit
from bayesdp.statements.steps import NotionLevel, Relation, RelationsStep, ReleaseStep

FORMAT = "bayesdp-certificate"
VERSION = 1
NOT_PROTECTED = (
    "that somebody's record is in the table, and how many records there are",
    "columns declared public, and who belongs to which cluster or series",
    "facts about the group or the population that would be learned without the record too",
)
"""What no level of a release protects."""

_SOFTWARE = re.compile(r"bayesdp [0-9]+(\.[0-9]+)*[0-9A-Za-z.+-]{0,40}")


def _software(name: str) -> str:
    if _SOFTWARE.fullmatch(name) is None:
        raise ValueError("not a version of this package, such as 'bayesdp 1.0'")
    return name


def _moment(time: str) -> str:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        raise ValueError("not a date and time of ISO 8601") from None
    return time


def _the_same(words: tuple[str, ...]) -> tuple[str, ...]:
    if words != NOT_PROTECTED:
        raise ValueError("not the list of what no level protects, the same for all certificates")
    return words


DeclaredPopulation = dict[str, Any]
"""A population as it is declared, for `read_population`."""


class Certificate(Statement):
    """The lines that every certificate has. Digest and signature are about all others."""

    format: Literal["bayesdp-certificate"]
    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    digest: Line = ""
    signature: Any = None
    software: Annotated[Line, AfterValidator(_software)]
    rounding: Line
    assumptions: Annotated[tuple[Line, ...], Sequence]


# -- claims -------------------------------------------------------------------------------------


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


# -- results ------------------------------------------------------------------------------------


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


# -- documents ----------------------------------------------------------------------------------


class ProgramText(Statement):
    """The program that was asked: the digest of its text, and what its cost rests on."""

    query: Name
    program: Name
    source: Line
    assuming: Annotated[tuple[Line, ...], Sequence]


class DataSet(Statement):
    """What a data set has spent, this release included."""

    level: Size
    delta: Delta = 0.0
    dp_epsilon: Size
    dp_rho: Size = 0.0
    dp_delta: Delta = 0.0
    total: Positive
    secrets: Secrets
    earlier_spends: Annotated[tuple[Spend, ...], Sequence]


class RowParts(Statement):
    """Each row of the table holds a `number` of records, told apart by the column `position`."""

    position: Name
    number: Annotated[Count, Field(ge=2)]


class LookUp(Statement):
    """A public table: `columns` are looked up in it by the value of the columns `by`."""

    table: Name
    by: Annotated[Names, Field(min_length=1)]
    columns: Annotated[Names, Field(min_length=1)]


class CollectedColumn(Statement):
    """A column of answers, and the epsilon with which each was perturbed at collection."""

    column: Name
    epsilon: Positive


_HASH = re.compile(r"[0-9a-f]{64}")


def _hash(text: str) -> str:
    if _HASH.fullmatch(text) is None:
        raise ValueError("not a SHA-256 in hex: 64 small digits")
    return text


class DebitEntry(Statement):
    """Where the debit of a release stands in its ledger: the entry's number and its hash.

    The hash is over all entries up to this one. Only the ledger can tell whether it is there.
    """

    sequence: Count
    head: Annotated[Line, AfterValidator(_hash)]


class ReleaseCertificate(Certificate):
    """The certificate of a release: what was asked, the results, and the data set's state.

    Where the data set shares `people` with others, the state is that of all of these.
    """

    release: Name
    ledger: DebitEntry | None = None
    time: Annotated[Line, AfterValidator(_moment)]
    dataset: Name
    people: Name | None = None
    unit: Name
    rows_per_unit: Count | None
    max_rows: Count | None = None
    balanced: Yes | None = None
    parts: RowParts | None = None
    joined: Annotated[tuple[LookUp, ...], Sequence] = ()
    n: Count
    columns: dict[str, Any]
    public_blocks: Names = ()
    collected: Annotated[tuple[CollectedColumn, ...], Sequence] = ()
    programs: Annotated[tuple[ProgramText, ...], Sequence] = ()
    population: DeclaredPopulation | None
    claim: Annotated[DpClaim | BdpClaim, Field(discriminator="notion")]
    results: Annotated[tuple[Result, ...], Sequence]
    data_set: DataSet
    not_protected: Annotated[tuple[Line, ...], Sequence, AfterValidator(_the_same)]
    derivation: ReleaseStep

    @model_validator(mode="after")
    def _goes_together(self) -> ReleaseCertificate:
        if (self.claim.notion == "dp") != (self.population is None):
            raise ValueError("BDP is about a population, and DP about none")
        if self.derivation.conclusion.notion != self.claim.notion:
            raise ValueError("a notion other than that of the derivation")
        limits = [limit for limit in (self.rows_per_unit, self.max_rows) if limit is not None]
        if len(limits) != (self.unit != "row"):
            raise ValueError(
                "rows_per_unit or max_rows belongs to records of several rows, and each of those "
                "has one of both"
            )
        if self.balanced and self.unit == "row":
            raise ValueError("balanced belongs to records of several rows")
        if self.people is not None and self.unit == "row" and self.parts is not None:
            raise ValueError("a row of several records, and people who have one record each")
        return self

    @property
    def protected_unit(self) -> str:
        """What a record is, as all spends of the data set say it."""
        return protected_unit(self.unit, None if self.parts is None else self.parts.position)

    @property
    def rows_per_record(self) -> int:
        """The most rows of a record that count: it has no more, or the others are left out."""
        return self.rows_per_unit or self.max_rows or 1


class ConversionCertificate(Certificate):
    """The certificate of a conversion alone: for every mechanism of the stated cost."""

    population: DeclaredPopulation
    claim: ConversionClaim
    derivation: Conversion

    @model_validator(mode="after")
    def _goes_together(self) -> ConversionCertificate:
        _require_no_release(self.derivation, self.population)
        return self


def _require_no_release(step: Conversion, population: DeclaredPopulation | None) -> None:
    """Raises `ValueError` for costs and columns that only a release declares."""
    if step.composition is not None:
        raise ValueError("costs of queries, which only a release asks")
    if list(step.evidence.covers) != (population or {}).get("covers", []):
        raise ValueError("covers: other columns than the population's")
    if step.evidence.independent or step.evidence.interval is not None:
        raise ValueError("columns that nobody declares: only a release declares any")


class RelationsCertificate(Certificate):
    """The certificate of what given levels of notions imply."""

    population: DeclaredPopulation | None
    declared: Names
    claim: RelationsClaim
    derivation: RelationsStep

    @model_validator(mode="after")
    def _goes_together(self) -> RelationsCertificate:
        for step in self.derivation.premises:
            while isinstance(step, Relation):
                if step.evidence.conversion is not None:
                    _require_no_release(step.evidence.conversion, self.population)
                (step,) = step.premises
        return self


class ProgramCertificate(Certificate):
    """The certificate of a program alone."""

    claim: ProgramClaim
    derivation: ProgramDerivation


def _root(plain: object) -> str:
    """What a document is about: the rule at the root of its derivation."""
    derivation = plain.get("derivation") if isinstance(plain, Mapping) else None
    rule = derivation.get("rule") if isinstance(derivation, Mapping) else None
    return _ROOTS.get(rule, "of a conversion") if isinstance(rule, str) else "of a conversion"


_ROOTS = {
    "release": "of a release",
    "relations": "of relations",
    "program": "of a program",
}
AnyCertificate = Annotated[
    Annotated[ReleaseCertificate, Tag("of a release")]
    | Annotated[ConversionCertificate, Tag("of a conversion")]
    | Annotated[RelationsCertificate, Tag("of relations")]
    | Annotated[ProgramCertificate, Tag("of a program")],
    Discriminator(_root),
]
_CERTIFICATE: Reader[AnyCertificate] = Reader(AnyCertificate)


def read_certificate(plain: object) -> AnyCertificate:
    """The certificate that a document states, as one of the classes above.

    Raises `StatementError` naming the first problem.
    """
    return _CERTIFICATE.read(plain, "")
