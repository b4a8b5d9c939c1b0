"""Derivation steps as certificates state them: one class for each kind of rule.

What a program's own derivation holds is read by the rules about programs; here it is plain data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    StrictBool,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from bayesdp.statements.base import (
    Line,
    Name,
    Names,
    Number,
    Positive,
    Sequence,
    Size,
    Statement,
    Whole,
    all_visible,
    distinct,
    read,
)
from bayesdp.statements.queries import ProgramQuery, TableQuery
from bayesdp.statements.spends import GAUSSIAN, LAPLACE, PROGRAM, Spend

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
        "gaussian-vector",
        "gaussian-walk-summable",
        "graph-contraction",
        "graph-influence",
        "independent",
        "markov-contraction",
        "markov-count",
        "markov-influence",
        "markov-ratio",
        "markov-recursion",
        "markov-threshold",
        "markov-window",
        "tree-recursion",
    }
)
"""Every theorem that a step from DP to BDP may name."""

COMPOSITION, DATA_SET, APPROXIMATE_DP = "sequential-composition", "data-set", "approximate-dp"
RELATION = "relation:"
"""Before the name of a relation between notions."""

Adversary = Literal["any", "uninformed", "informed"]
Kind = Literal["any", "lipschitz"]
Delta = Annotated[Number, Field(ge=0, lt=1)]
Interval = Annotated[tuple[Number, Number], Sequence]
Fraction = Annotated[tuple[Whole, Annotated[Whole, Field(ge=1)]], Sequence]
"""An exact fraction: its numerator and its denominator."""

Nothing = Annotated[tuple[()], Sequence]
Nowhere = Annotated[dict[str, Any], Field(max_length=0)]


class DpLevel(Statement):
    """A DP level."""

    notion: Literal["dp"]
    epsilon: Size


class DpCost(DpLevel):
    """A DP cost: pure, and of Gaussian noise."""

    rho: Size = 0.0


# -- queries ------------------------------------------------------------------------------------


class QueryCost(DpCost):
    """What one query costs, and whether its mechanism is Lipschitz."""

    kind: Kind


class Grid(Statement):
    """The grid of integers on which values from `lo` to `hi` are summed."""

    lo: Number
    hi: Number
    bits: Annotated[Whole, Field(le=62)]
    masked: StrictBool
    slack: Number

    @model_validator(mode="after")
    def _goes_together(self) -> Grid:
        if not self.lo < self.hi:
            raise ValueError("a grid between no two numbers")
        if self.slack != 2.0 / 2.0**self.bits:
            raise ValueError("the grid's slack is two of its steps")
        return self


class Noise(Statement):
    """A query, its noise, and the spend that the ledger keeps of it."""

    query: TableQuery
    scale: Positive
    step: Fraction
    spend: Spend
    grid: Grid | None = None

    @model_validator(mode="after")
    def _sums_have_a_grid(self) -> Noise:
        if (self.grid is not None) != (self.query.kind in ("sum", "mean")):
            raise ValueError("a grid belongs to sums and means, and to nothing else")
        return self


class LaplaceNoise(Noise):
    """With the sensitivity in l1."""

    sensitivity: Annotated[Whole, Field(ge=1)]


class GaussianNoise(Noise):
    """With the square of the sensitivity in l2."""

    sensitivity_squared: Annotated[Whole, Field(ge=1)]


class LaplaceStep(Statement):
    """The pure cost of discrete Laplace noise."""

    rule: Literal["discrete-laplace"]
    conclusion: QueryCost
    evidence: LaplaceNoise
    premises: Nothing


class GaussianStep(Statement):
    """The zCDP cost of discrete Gaussian noise."""

    rule: Literal["discrete-gaussian"]
    conclusion: QueryCost
    evidence: GaussianNoise
    premises: Nothing

    @model_validator(mode="after")
    def _no_pure_cost(self) -> GaussianStep:
        if self.conclusion.epsilon != 0.0:
            raise ValueError("a pure cost of Gaussian noise")
        return self


class ProgramCost(Statement):
    """A program as a query: the columns of its fields, its spends, the cost of its Gaussians."""

    query: ProgramQuery
    fields: dict[Name, Name]
    spends: Annotated[tuple[Spend, ...], Sequence, Field(min_length=1, max_length=2)]
    gaussian: dict[Name, Line] = Field(default_factory=dict)


def _program_texts(plain: dict[str, Any]) -> dict[str, Any]:
    all_visible(plain, frozenset({"obligations", "labels", "columns"}))
    return plain


ProgramPart = Annotated[dict[str, Any], AfterValidator(_program_texts)]
"""A part of a program's certificate, which the rules about programs read."""


class ProgramStep(Statement):
    """The cost of a program, over the derivation of the program's own certificate."""

    rule: Literal["program"]
    conclusion: QueryCost
    evidence: ProgramCost
    premises: Annotated[tuple[ProgramPart], Sequence]


def _rule(plain: object) -> str:
    rule = plain.get("rule") if isinstance(plain, Mapping) else None
    return rule if isinstance(rule, str) else ""


QueryStep = Annotated[
    Annotated[LaplaceStep, Tag(LAPLACE)]
    | Annotated[GaussianStep, Tag(GAUSSIAN)]
    | Annotated[ProgramStep, Tag(PROGRAM)],
    Discriminator(_rule),
]


class Adjacency(Statement):
    """When two databases are neighbours."""

    adjacency: Literal["replace one record"]


class Composition(Statement):
    """The DP cost of all queries of a release."""

    rule: Literal["sequential-composition"]
    conclusion: DpCost
    evidence: Adjacency
    premises: Annotated[tuple[QueryStep, ...], Sequence, Field(min_length=1)]

    @model_validator(mode="after")
    def _of_one_noise(self) -> Composition:
        rules = [step.rule for step in self.premises]
        if PROGRAM in rules and set(rules[rules.index(PROGRAM) :]) != {PROGRAM}:
            raise ValueError("programs come last")
        if len(set(rules) - {PROGRAM}) > 1:
            raise ValueError("noise of two kinds")
        distinct(tuple(step.evidence.query.name for step in self.premises))
        return self


# -- conversions --------------------------------------------------------------------------------


class ColumnCost(Statement):
    """What the spends on one column of vector records cost, and the width it is clipped to."""

    column: Name
    width: Positive
    dp_epsilon: Size
    slack: Size
    rho: Size = 0.0
    rho_slack: Size = 0.0


class Cost(Statement):
    """Costs by kind of mechanism, pure and (`rho`) of Gaussian noise; `slack` is of the grid."""

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
    """The same, of any mechanism with this (epsilon, delta)."""

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
            raise ValueError("two values that are one")
        if any(first == second for first, second, _ in self.flows):
            raise ValueError("a flow to itself")
        return self

    @property
    def question(self) -> tuple[Any, ...]:
        """What it is about."""
        known = tuple(sorted(zip(self.known, self.values, strict=True)))
        return self.i, known, self.true, self.other


def _once(proofs: tuple[Flows, ...]) -> tuple[Flows, ...]:
    distinct(tuple(proof.question for proof in proofs))
    return proofs


_WITNESSES: dict[str, TypeAdapter[Any]] = {
    "proofs": TypeAdapter(Annotated[tuple[Flows, ...], Sequence, AfterValidator(_once)]),
    "mechanism": TypeAdapter(Line),
    "steps": TypeAdapter(Whole),
    "closed": TypeAdapter(list[list[list[Size]]]),
}
DETAILS: Mapping[str, frozenset[str]] = {
    "finite-law": frozenset({"proofs"}),
    "markov-count": frozenset({"mechanism"}),
    "markov-recursion": frozenset({"steps", "closed"}),
    "markov-threshold": frozenset({"steps", "closed"}),
}
"""What each theorem's rule reads of its step's `details`; all others read nothing."""


class Converted(Statement):
    """A BDP level."""

    notion: Literal["bdp"]
    epsilon: Size
    adversary: Adversary
    delta: Delta = 0.0


class ConversionEvidence(Statement):
    """What is converted, about which population; `details` are witnesses that the rule reads."""

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
    """A step from DP to BDP by one theorem. A family has one below it for each member."""

    rule: Annotated[str, AfterValidator(_theorem)]
    conclusion: Converted
    evidence: ConversionEvidence
    premises: Annotated[
        tuple[
            Annotated[
                Annotated[Composition, Tag(COMPOSITION)] | Annotated[Conversion, Tag("")],
                Discriminator(lambda plain: COMPOSITION if _rule(plain) == COMPOSITION else ""),
            ],
            ...,
        ],
        Sequence,
    ]

    @property
    def composition(self) -> Composition | None:
        """The costs that are converted, in the step of a release."""
        first = self.premises[0] if self.premises else None
        return first if isinstance(first, Composition) else None

    @property
    def members(self) -> tuple[Conversion, ...]:
        """The steps of a family's members."""
        return tuple(step for step in self.premises if isinstance(step, Conversion))

    @model_validator(mode="after")
    def _goes_together(self) -> Conversion:
        for name, witness in self.evidence.details.items():
            if name not in DETAILS.get(self.rule, ()):
                raise ValueError(f"details: no rule of this theorem reads {name!r}")
            try:
                _WITNESSES[name].validate_python(witness, strict=True)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                raise ValueError(f"details: {name}: {first['msg']}") from None
        if any(isinstance(step, Composition) for step in self.premises[1:]):
            raise ValueError("a premise too many")
        if self.members and self.rule != "family":
            raise ValueError("a premise too many")
        for member in self.members:
            self._holds(member)
        return self

    def _holds(self, member: Conversion) -> None:
        if member.premises:
            raise ValueError("a premise too many under a member's step")
        if member.conclusion.epsilon > self.conclusion.epsilon:
            raise ValueError("the level of a member is above the family's")
        for key in ("covers", "independent", "interval"):
            if getattr(member.evidence, key) != getattr(self.evidence, key):
                raise ValueError(f"{key}: a member's is another")


# -- releases -----------------------------------------------------------------------------------


class DataSetStep(Statement):
    """The pure DP cost of all spends of a data set."""

    rule: Literal["data-set"]
    conclusion: DpLevel
    evidence: Nowhere
    premises: Nothing


class DpAtDelta(DpLevel):
    """A DP level with a delta."""

    delta: Delta


class DeltaEvidence(Statement):
    """The cost that has the level, and how it follows."""

    cost: Cost
    delta: Renyi


class ApproximateStep(Statement):
    """The DP level of Gaussian noise at a delta."""

    rule: Literal["approximate-dp"]
    conclusion: DpAtDelta
    evidence: DeltaEvidence
    premises: Annotated[tuple[Composition, ...], Sequence, Field(max_length=1)]

    @property
    def composition(self) -> Composition | None:
        """The costs that have this level, in the step of a release."""
        return self.premises[0] if self.premises else None


LevelStep = Annotated[
    Annotated[Composition, Tag(COMPOSITION)]
    | Annotated[DataSetStep, Tag(DATA_SET)]
    | Annotated[ApproximateStep, Tag(APPROXIMATE_DP)]
    | Annotated[Conversion, Tag("")],
    Discriminator(
        lambda plain: (
            _rule(plain) if _rule(plain) in (COMPOSITION, DATA_SET, APPROXIMATE_DP) else ""
        )
    ),
]


class ReleaseLevel(Statement):
    """The level that a release claims."""

    notion: Literal["dp", "bdp"]
    epsilon: Size
    delta: Delta = 0.0


class Budget(Statement):
    """What a study may spend."""

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
            raise ValueError("a premise too many")
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
    """A level that is given."""

    rule: Literal["given"]
    conclusion: NotionLevel
    evidence: Nowhere
    premises: Nothing


class RelationEvidence(Statement):
    """What a relation needs of the population, and the conversion of DP that it stands for."""

    hypotheses: Names
    conversion: Conversion | None = None


class Relation(Statement):
    """What one notion says of another."""

    rule: Annotated[str, Field(pattern="^relation:[a-z-]+$")]
    conclusion: NotionLevel
    evidence: RelationEvidence
    premises: Annotated[
        tuple[
            Annotated[
                Annotated[Given, Tag("given")] | Annotated[Relation, Tag("")],
                Discriminator(lambda plain: "given" if _rule(plain) == "given" else ""),
            ]
        ],
        Sequence,
    ]


class NotionLevels(Statement):
    """Levels of several notions."""

    claims: Annotated[tuple[NotionLevel, ...], Sequence, Field(min_length=1)]


class RelationsStep(Statement):
    """One chain of relations for each notion that is claimed."""

    rule: Literal["relations"]
    conclusion: NotionLevels
    evidence: Nowhere
    premises: Annotated[
        tuple[
            Annotated[
                Annotated[Given, Tag("given")] | Annotated[Relation, Tag("")],
                Discriminator(lambda plain: "given" if _rule(plain) == "given" else ""),
            ],
            ...,
        ],
        Sequence,
        Field(min_length=1),
    ]


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
    PROGRAM,
}  # fmt: skip
_LEVEL: TypeAdapter[Any] = TypeAdapter(
    Annotated[
        Annotated[ApproximateStep, Tag(APPROXIMATE_DP)] | Annotated[Conversion, Tag("")],
        Discriminator(lambda plain: APPROXIMATE_DP if _rule(plain) == APPROXIMATE_DP else ""),
    ]
)


def read_level(plain: object, place: str = "derivation") -> Any:
    """The step that plain data states: from DP to BDP, or to a DP level at a delta."""
    return read(_LEVEL, plain, place)
