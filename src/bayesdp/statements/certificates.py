"""Certificates, one class for each kind of derivation: every line that one may have.

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
    Line,
    Name,
    Names,
    Positive,
    Reader,
    Sequence,
    Size,
    Statement,
    Yes,
)
from bayesdp.statements.claims import BdpClaim, ConversionClaim, DpClaim, RelationsClaim, Secrets
from bayesdp.statements.conversions import Conversion
from bayesdp.statements.costs import Delta
from bayesdp.statements.program_steps import ProgramClaim, ProgramDerivation
from bayesdp.statements.results import Result
from bayesdp.statements.spends import Spend, protected_unit
from bayesdp.statements.steps import Relation, RelationsStep, ReleaseStep

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
