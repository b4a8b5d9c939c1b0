"""Steps from DP to BDP, as certificates state them: the theorem, its evidence, its conclusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from bayesdp.statements.base import (
    Interval,
    Line,
    Name,
    Names,
    Positive,
    Reader,
    Sequence,
    Size,
    Statement,
    Whole,
    distinct,
)
from bayesdp.statements.costs import COMPOSITION, Composition, Delta, Fraction, rule_of

ADVERSARIES = ("any", "uninformed", "informed")
THEOREMS = frozenset(
    {
        "autoregressive",
        "cluster-size",
        "family",
        "finite-law",
        "gaussian-covariance",
        "gaussian-equal-variances",
        "gaussian-max-correlation",
        "gaussian-regression",
        "gaussian-vector",
        "gaussian-walk-summable",
        "graph-contraction",
        "graph-ferromagnet",
        "graph-fields",
        "graph-influence",
        "independent",
        "markov-contexts",
        "markov-contraction",
        "markov-count",
        "markov-influence",
        "markov-intervals",
        "markov-ratio",
        "markov-recursion",
        "markov-threshold",
        "markov-window",
        "panel-blocks",
        "panel-contraction",
        "tree-recursion",
    }
)
"""Every theorem that a step from DP to BDP may name."""

Adversary = Literal["any", "uninformed", "informed"]


class ColumnCost(Statement):
    """The cost of spends on one column of vector records, and the width that it is clipped to."""

    column: Name
    width: Positive
    dp_epsilon: Size
    slack: Size
    rho: Size = 0.0
    rho_slack: Size = 0.0


class Cost(Statement):
    """DP costs by kind of mechanism, pure and zCDP (`rho`); `slack` is the grid's part."""

    any: Size
    lipschitz: Size
    slack: Size
    by_column: Annotated[tuple[ColumnCost, ...], Sequence] = ()
    rho_any: Size = 0.0
    rho_lipschitz: Size = 0.0
    rho_slack: Size = 0.0


class Renyi(Statement):
    """A level at a delta that follows from a Rényi divergence of order `alpha`."""

    counted: Literal["pure", "zcdp"]
    way: Literal["renyi"]
    alpha: Fraction


class Point(Statement):
    """A level at a delta that follows from one (epsilon, delta) of the mechanism."""

    counted: Literal["pure", "zcdp"]
    way: Literal["point"]
    dp_epsilon: Size
    dp_delta: Delta
    alpha: Fraction


class Stated(Statement):
    """A level at a delta that follows from the stated (epsilon, delta) of any mechanism."""

    counted: Literal["pure", "zcdp"]
    way: Literal["stated"]
    dp_epsilon: Size
    dp_delta: Delta
    alpha: None = None


WithDelta = Annotated[Renyi | Point | Stated, Field(discriminator="way")]


class Flows(Statement):
    """The proof of one attack on a finite law: a multiplier, and flows between its cells."""

    i: Whole
    known: Annotated[tuple[Whole, ...], Sequence, AfterValidator(distinct), Field(alias="K")]
    values: Annotated[tuple[Whole, ...], Sequence, Field(alias="x_K")]
    true: Whole = Field(alias="x_i")
    other: Whole = Field(alias="x_i'")
    multiplier: Size
    flows: Annotated[tuple[Annotated[tuple[Whole, Whole, Size], Sequence], ...], Sequence]

    @model_validator(mode="after")
    def _goes_together(self) -> Flows:
        if len(self.known) != len(self.values):
            raise ValueError("not one value for each record that is known")
        if self.i in self.known:
            raise ValueError("the record that is attacked is known")
        if self.true == self.other:
            raise ValueError("the true value and the other one are the same")
        if any(first == second for first, second, _ in self.flows):
            raise ValueError("a flow from a cell to itself")
        return self

    @property
    def question(self) -> tuple[Any, ...]:
        """The attack that the proof is about, without its witness."""
        known = tuple(sorted(zip(self.known, self.values, strict=True)))
        return self.i, known, self.true, self.other


def _once(proofs: tuple[Flows, ...]) -> tuple[Flows, ...]:
    distinct(tuple(proof.question for proof in proofs))
    return proofs


_WITNESSES: Mapping[str, Reader[Any]] = {
    "proofs": Reader(Annotated[tuple[Flows, ...], Sequence, AfterValidator(_once)]),
    "mechanism": Reader(Line),
    "steps": Reader(Whole),
    "closed": Reader(list[list[list[Size]]]),
    "row_sums": Reader(list[Positive]),
    "radius": Reader(Whole),
    "messages": Reader(Annotated[list[Size], Field(min_length=1)]),
    "contexts": Reader(list[list[Annotated[str, Field(pattern=r"^[01*]{1,200}$")]]]),
    "target": Reader(Size),
}
_OF_WINDOWS: Reader[list[float | None]] = Reader(
    Annotated[list[Size | None], Field(min_length=3, max_length=3)]
)
DETAILS: Mapping[str, frozenset[str]] = {
    "finite-law": frozenset({"proofs"}),
    "gaussian-walk-summable": frozenset({"row_sums"}),
    "graph-contraction": frozenset({"messages"}),
    "graph-ferromagnet": frozenset({"radius"}),
    "graph-fields": frozenset({"messages"}),
    "graph-influence": frozenset({"row_sums"}),
    "markov-contexts": frozenset({"contexts", "closed", "target"}),
    "markov-count": frozenset({"mechanism"}),
    "markov-intervals": frozenset({"target"}),
    "markov-recursion": frozenset({"steps", "closed"}),
    "markov-threshold": frozenset({"steps", "closed"}),
    "markov-window": frozenset({"closed"}),
    "panel-contraction": frozenset({"messages"}),
}
"""The keys of a step's `details` that each theorem's rule reads; other rules read none."""


class Converted(Statement):
    """The conclusion of a conversion: a BDP level."""

    notion: Literal["bdp"]
    epsilon: Size
    adversary: Adversary
    delta: Delta = 0.0


class ConversionEvidence(Statement):
    """The cost that is converted, and the population; `details` are witnesses for the rule."""

    population: dict[str, Any]
    covers: Names
    independent: Names
    secrets: Literal["bounded", "unbounded"]
    cost: Cost
    interval: Interval | None = None
    delta: WithDelta | None = None
    details: dict[str, Any] = Field(default_factory=dict)


def _theorem(rule: str) -> str:
    if rule not in THEOREMS:
        raise ValueError("no theorem of this name")
    return rule


class Conversion(Statement):
    """A step from DP to BDP by one theorem. The step of a family has a step for each member."""

    rule: Annotated[str, AfterValidator(_theorem)]
    conclusion: Converted
    evidence: ConversionEvidence
    premises: Annotated[
        tuple[
            Annotated[
                Annotated[Composition, Tag(COMPOSITION)] | Annotated[Conversion, Tag("")],
                Discriminator(lambda plain: COMPOSITION if rule_of(plain) == COMPOSITION else ""),
            ],
            ...,
        ],
        Sequence,
    ]

    @property
    def composition(self) -> Composition | None:
        """The step below that composes the converted costs; `None` outside of releases."""
        first = self.premises[0] if self.premises else None
        return first if isinstance(first, Composition) else None

    @property
    def members(self) -> tuple[Conversion, ...]:
        """The steps of a family's members; none for other populations."""
        return tuple(step for step in self.premises if isinstance(step, Conversion))

    @model_validator(mode="after")
    def _goes_together(self) -> Conversion:
        for name, witness in self.evidence.details.items():
            if name not in DETAILS.get(self.rule, ()):
                raise ValueError(f"details: no rule of this theorem reads {name!r}")
            of_windows = self.rule == "markov-window"
            reader = _OF_WINDOWS if of_windows else _WITNESSES[name]
            reader.read(witness, f"details: {name}")
        if any(isinstance(step, Composition) for step in self.premises[1:]):
            raise ValueError("a composition of costs stands after the first premise")
        if self.members and self.rule != "family":
            raise ValueError("steps of members under a theorem that is not about families")
        for member in self.members:
            self._holds(member)
        return self

    def _holds(self, member: Conversion) -> None:
        if member.premises:
            raise ValueError("the step of a member rests on a premise of its own")
        if member.conclusion.epsilon > self.conclusion.epsilon:
            raise ValueError("the level of a member is above the family's")
        for key in ("covers", "independent", "interval"):
            if getattr(member.evidence, key) != getattr(self.evidence, key):
                raise ValueError(f"{key}: a member states another than its family")
