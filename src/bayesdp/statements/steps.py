"""Derivations as certificates state them: of releases, and of relations between notions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import Name, Names, Positive, Reader, Sequence, Size, Statement
from bayesdp.statements.conversions import THEOREMS, Conversion, Cost, Renyi
from bayesdp.statements.costs import (
    COMPOSITION,
    PERTURBED,
    Composition,
    Delta,
    DpLevel,
    Nothing,
    rule_of,
)
from bayesdp.statements.spends import (
    EXPONENTIAL,
    GAUSSIAN,
    LAPLACE,
    PERMUTE_AND_FLIP,
    PROGRAM,
    THRESHOLDED,
)

DATA_SET, APPROXIMATE_DP = "data-set", "approximate-dp"
RELATION = "relation:"
"""Before the name of a relation between notions."""

Nowhere = Annotated[dict[str, Any], Field(max_length=0)]
"""No evidence."""

# -- releases -----------------------------------------------------------------------------------


class DpAtOwnDelta(DpLevel):
    """A DP level; `delta` is the sum of the mechanisms' own deltas."""

    delta: Delta = 0.0


class DataSetStep(Statement):
    """A step: the pure DP cost of all spends of a data set, and the sum of their deltas."""

    rule: Literal["data-set"]
    conclusion: DpAtOwnDelta
    evidence: Nowhere
    premises: Nothing


class DpAtDelta(DpLevel):
    """A DP level with a delta."""

    delta: Delta


class DeltaEvidence(Statement):
    """The cost that has a level at a delta, and the way in which the level follows.

    `own_delta` is the part of the delta that is the mechanisms' own: the rest is the order's.
    """

    cost: Cost
    delta: Renyi
    own_delta: Delta = 0.0


class ApproximateStep(Statement):
    """A step: the DP level of Gaussian noise at a delta."""

    rule: Literal["approximate-dp"]
    conclusion: DpAtDelta
    evidence: DeltaEvidence
    premises: Annotated[tuple[Composition, ...], Sequence, Field(max_length=1)]

    @property
    def composition(self) -> Composition | None:
        """The step below that composes the costs; `None` outside of releases."""
        return self.premises[0] if self.premises else None


LevelStep = Annotated[
    Annotated[Composition, Tag(COMPOSITION)]
    | Annotated[DataSetStep, Tag(DATA_SET)]
    | Annotated[ApproximateStep, Tag(APPROXIMATE_DP)]
    | Annotated[Conversion, Tag("")],
    Discriminator(
        lambda plain: (
            rule_of(plain) if rule_of(plain) in (COMPOSITION, DATA_SET, APPROXIMATE_DP) else ""
        )
    ),
]


class ReleaseLevel(Statement):
    """The level that a release claims."""

    notion: Literal["dp", "bdp"]
    epsilon: Size
    delta: Delta = 0.0


class Budget(Statement):
    """The level that a study may spend, in nats, and its delta."""

    total: Positive
    delta: Delta = 0.0


class ReleaseStep(Statement):
    """A release: the level of its own spends, and beside it that of the data set's."""

    rule: Literal["release"]
    conclusion: ReleaseLevel
    evidence: Budget
    premises: Annotated[tuple[LevelStep, ...], Sequence, Field(min_length=1, max_length=2)]

    @model_validator(mode="after")
    def _goes_together(self) -> ReleaseStep:
        own, *others = self.premises
        dp = self.conclusion.notion == "dp"
        if any(isinstance(step, Conversion) == dp for step in self.premises):
            raise ValueError("a level of another notion than concluded")
        if _composed(own) is None:
            raise ValueError("DP costs come first")
        if any(_composed(step) is not None for step in others):
            raise ValueError("costs of queries stand after the first premise")
        return self

    @property
    def composition(self) -> Composition:
        """The DP costs of the queries."""
        composition = _composed(self.premises[0])
        assert composition is not None
        return composition


def _composed(
    step: Composition | DataSetStep | ApproximateStep | Conversion,
) -> Composition | None:
    """The costs of queries that a step is, or rests on."""
    if isinstance(step, Composition | DataSetStep):
        return step if isinstance(step, Composition) else None
    return step.composition


# -- relations ----------------------------------------------------------------------------------


class NotionLevel(Statement):
    """A level of a notion."""

    notion: Name
    level: Size


class Given(Statement):
    """A step: a level that is given."""

    rule: Literal["given"]
    conclusion: NotionLevel
    evidence: Nowhere
    premises: Nothing


class RelationEvidence(Statement):
    """The facts about the population that a relation needs; for a conversion of DP also that."""

    hypotheses: Names
    conversion: Conversion | None = None


class Relation(Statement):
    """A step: the level of one notion that follows from another's."""

    rule: Annotated[str, Field(pattern="^relation:[a-z-]+$")]
    conclusion: NotionLevel
    evidence: RelationEvidence
    premises: Annotated[tuple[Link], Sequence]


Link = Annotated[
    Annotated[Given, Tag("given")] | Annotated[Relation, Tag("")],
    Discriminator(lambda plain: "given" if rule_of(plain) == "given" else ""),
]
"""One step of a chain of relations."""


class NotionLevels(Statement):
    """Levels of several notions."""

    claims: Annotated[tuple[NotionLevel, ...], Sequence, Field(min_length=1)]


class RelationsStep(Statement):
    """A step: one chain of relations for each notion that is claimed."""

    rule: Literal["relations"]
    conclusion: NotionLevels
    evidence: Nowhere
    premises: Annotated[tuple[Link, ...], Sequence, Field(min_length=1)]


def unknown_rules(derivation: object) -> Iterator[str]:
    """The rules of a derivation that no class is about; programs' own have their reader."""
    if not isinstance(derivation, Mapping):
        return
    rule, premises = derivation.get("rule"), derivation.get("premises")
    if isinstance(rule, str) and not (rule in _KNOWN or rule.startswith(RELATION)):
        yield rule
    for premise in premises if isinstance(premises, list) and rule != PROGRAM else ():
        yield from unknown_rules(premise)


_KNOWN = THEOREMS | {
    "release", "relations", "given", COMPOSITION, DATA_SET, APPROXIMATE_DP, LAPLACE, GAUSSIAN,
    PERMUTE_AND_FLIP, EXPONENTIAL, THRESHOLDED, PERTURBED, PROGRAM,
}  # fmt: skip
StepWithLevel = Annotated[
    Annotated[ApproximateStep, Tag(APPROXIMATE_DP)] | Annotated[Conversion, Tag("")],
    Discriminator(lambda plain: APPROXIMATE_DP if rule_of(plain) == APPROXIMATE_DP else ""),
]
"""A step that has a level of its own."""

_LEVEL: Reader[StepWithLevel] = Reader(StepWithLevel)


def read_level(plain: object, place: str = "derivation") -> StepWithLevel:
    """The step that plain data states: from DP to BDP, or to a DP level at a delta.

    Raises `StatementError` for anything else.
    """
    return _LEVEL.read(plain, place)
