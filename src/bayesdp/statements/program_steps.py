"""What a program costs, as certificates state it: the derivation of its cost, and the claim.

The derivation has a node for each command of the program, in order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, StrictBool, Tag, model_validator

from bayesdp.statements.base import Reader, Sequence, Size, Statement, one_form
from bayesdp.statements.program_documents import ExactNumber, Expression, ProgramDocument, Text

SOLVERS = ("z3", "cvc5")
MOST_OBLIGATIONS, MOST_LETTERS = 200, 500_000


def _not_negative(number: Fraction) -> Fraction:
    if number < 0:
        raise ValueError("a number below 0")
    return number


Ends = Annotated[tuple[ExactNumber, ExactNumber], Sequence]

# -- the derivation ------------------------------------------------------------------------------


class Sensitivity(Statement):
    """The most that a value moves in a norm (l2: the square of it), and the rule that says so."""

    norm: Literal["l1", "l2", "score", "log-likelihood"]
    value: Expression
    by: Text


class ReleaseNode(Statement):
    """The cost of a release, also where one record only enters or leaves."""

    release: Text
    rule: Text
    epsilon: ExactNumber
    delta: ExactNumber
    sensitivity: Sensitivity
    entering: Annotated[ExactNumber, AfterValidator(_not_negative)] | None
    kind: Literal["any", "lipschitz"]
    column: Text | None
    interval: Ends | None


class DeriveNode(Statement):
    """A derived value, which costs nothing."""

    derive: Text


class BranchNode(Statement):
    """The costs of both sides of a branch."""

    branch: Annotated[tuple[SequenceNode, SequenceNode], Sequence]


class Pieces(Statement):
    """The commands of each piece of a partition, and whether they read their piece only."""

    column: Text
    public: StrictBool
    confined: StrictBool
    of: Annotated[tuple[SequenceNode, ...], Sequence]


class PartsNode(Statement):
    """The costs of the pieces of a partition."""

    parts: Pieces


_FORMS = (("release", "a release"), ("derive", "a derived value"), ("branch", "a branch"))
Node = Annotated[
    Annotated[ReleaseNode, Tag("a release")]
    | Annotated[DeriveNode, Tag("a derived value")]
    | Annotated[BranchNode, Tag("a branch")]
    | Annotated[PartsNode, Tag("a partition")],
    Discriminator(lambda plain: one_form(plain, _FORMS, "a partition")),
]


class SequenceNode(Statement):
    """The costs of commands that run one after the other."""

    sequence: Annotated[tuple[Node, ...], Sequence]


# -- the whole derivation, and the claim -----------------------------------------------------------


class Obligation(Statement):
    """A statement that solvers proved: what it is about, and its negation in SMT-LIB."""

    what: str
    text: Annotated[str, Field(max_length=MOST_LETTERS)]
    solvers: Annotated[tuple[Literal["z3", "cvc5"], ...], Sequence]


class ProgramEvidence(Statement):
    """The program, its number of records if that is fixed, and the derivation of its cost."""

    program: ProgramDocument
    n: Annotated[int, Field(ge=1)] | None
    derivation: SequenceNode
    obligations: Annotated[tuple[Obligation, ...], Sequence, Field(max_length=MOST_OBLIGATIONS)]
    solvers: Annotated[tuple[Literal["z3", "cvc5"], ...], Sequence]

    @model_validator(mode="after")
    def _solvers_agree(self) -> ProgramEvidence:
        if self.solvers != tuple(solver for solver in SOLVERS if solver in self.solvers):
            raise ValueError("solvers other than z3 and cvc5, or in another order")
        if bool(self.solvers) != bool(self.obligations):
            raise ValueError("solvers without obligations, or obligations without solvers")
        if any(asked.solvers != self.solvers for asked in self.obligations):
            raise ValueError("an obligation that other solvers agreed on")
        return self


class ExactCost(Statement):
    """A cost in exact numbers."""

    epsilon: ExactNumber
    delta: ExactNumber


class ProgramClaim(Statement):
    """The DP cost of a program: exact, and as doubles that are not below it."""

    notion: Literal["dp"]
    epsilon: Size
    delta: Size
    exact: ExactCost
    kind: Literal["any", "lipschitz"]
    column: Text | None
    interval: Ends | None
    adjacency: Literal["replace-one", "add-remove"]


class ProgramDerivation(Statement):
    """The derivation of a program's own certificate, which rests on nothing else."""

    rule: Literal["program"]
    conclusion: ProgramClaim
    evidence: ProgramEvidence
    premises: Annotated[tuple[()], Sequence]


_DERIVATION: Reader[ProgramDerivation] = Reader(ProgramDerivation)
_RELEASE: Reader[ReleaseNode] = Reader(ReleaseNode)


def read_derivation(plain: object, place: str = "derivation") -> ProgramDerivation:
    """The derivation that plain data states.

    Raises `StatementError` for other data, and `NotKnownError` as `read_document` does.
    """
    return _DERIVATION.read(plain, place)


def read_node(plain: object, place: str = "derivation") -> ReleaseNode:
    """The node of one release. Raises `StatementError` for other data."""
    return _RELEASE.read(plain, place)
