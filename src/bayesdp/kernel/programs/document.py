"""Certificates of programs: the whole document, its claim and what it rests on.

`claim` and the derivation's conclusion say the same: exact numbers as texts, beside them the double
that is not below. Everything is derived anew from the intermediate representation in `evidence`;
the numbers of the derivation may be larger than what is derived, never smaller.

**What the kernel re-derives.** From the representation in the certificate: which expressions are
private; bounds; joint sensitivities; distances of posteriors, in balls; costs of releases,
sequences, branches and partitions; kinds; the declared budget. The checker proposes by the same
rules, so that the two agree proves little. The second routes are others: an older checker with
rules of its own (`tests/oracles/program_checker/`, held against this one in
`tests/programs/test_one_checker.py`), brute force over every pair of neighbours of small databases
(`tests/kernel/test_programs.py`), and the falsifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import (
    InvalidError,
    UnknownError,
    at_least,
    ball,
    double_up,
    require,
)
from bayesdp.kernel.programs.costs import CommandsCost, Kinds, Walk
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.programs.levels import TRUTH, Scope
from bayesdp.kernel.programs.obligations import SolverObligations
from bayesdp.kernel.programs.persons import check_persons, said_of
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range, admitted
from bayesdp.kernel.programs.reading import (
    SIZE,
    Derive,
    Node,
    Program,
    Release,
    const,
    flat,
    program_of,
)
from bayesdp.kernel.programs.refusals import allow
from bayesdp.kernel.programs.rows import NotExactError, evaluate
from bayesdp.kernel.programs.setting import FractionPair, Setting
from bayesdp.kernel.reading import stated_derivation
from bayesdp.statements.assumptions import ROUNDING
from bayesdp.statements.certificates import ProgramCertificate
from bayesdp.statements.program_steps import ProgramClaim, ProgramDerivation, ProgramEvidence

RULE = "program"
STATED = "as the certificate's author states, "
"""The first words of the assumption about solvers, which are not asked here."""


@dataclass(frozen=True)
class Derived:
    """What follows from a program, and what it needs."""

    program: Program
    n: int | None
    cost: FractionPair
    kind: tuple[str, str | None, tuple[Fraction, Fraction] | None]
    solvers: tuple[str, ...]
    obligations: tuple[tuple[str, str], ...]


def check_program(certificate: ProgramCertificate) -> tuple[str, ...]:
    """What a certificate of a program assumes; `InvalidError` where its claim doesn't follow."""
    require(
        certificate.rounding == ROUNDING, "it rounds in a way that is not known here", "rounding"
    )
    derived = derive(certificate.derivation)
    check_claim(certificate.claim, derived)
    require(
        certificate.claim == certificate.derivation.conclusion,
        "the claim is not the conclusion of the derivation",
        "claim",
    )
    assuming = tuple(assumptions_from(derived))
    reason = "they are not those that the cost rests on"
    require(certificate.assumptions == assuming, reason, "assumptions")
    return assuming


def assumptions_of(plain: Mapping[str, Any]) -> list[str]:
    """What a certificate with this derivation rests on. `InvalidError` if it doesn't follow."""
    derivation = stated_derivation(plain)
    derived = derive(derivation)
    check_claim(derivation.conclusion, derived)
    return assumptions_from(derived)


def derive(derivation: ProgramDerivation, effort: Effort | None = None) -> Derived:
    """The cost of a derivation's program. `InvalidError` where its numbers are too small.

    `effort` is what is left for this and all other programs of one certificate.
    """
    try:
        return _derive(derivation.evidence, effort or Effort())
    except RecursionError:
        raise UnknownError("the program is nested too deeply", "program") from None


def _derive(evidence: ProgramEvidence, effort: Effort) -> Derived:
    program, n = program_of(evidence.program), evidence.n
    context = AdjacencyContext(program, _sizes(program, n), program.adjacency, effort=effort)
    scope = Scope(context, {})
    discharged = SolverObligations(evidence.obligations)
    check_start(program, scope, n)
    walk = Walk(Setting(scope, discharged.folds(context).__getitem__))
    spent = walk.sequence(program.body, evidence.derivation, {})
    check_end(program, walk, spent)
    discharged.finish()
    asked = tuple((what, text) for text, what in discharged.derived.items())
    kind = one_kind(walk.kinds, program)
    return Derived(program, n, spent.cost, kind, evidence.solvers, asked)


def check_start(program: Program, scope: Scope, n: int | None) -> None:
    """Check the names and the preconditions of a program, before its commands."""
    check_persons(program)
    _check_names(program)
    _check_requires(program, scope, n)


def check_end(program: Program, walk: Walk, spent: CommandsCost) -> None:
    """Check what a program returns and what it declares, after its commands."""
    scope = walk.scope(spent.names)
    for returned in program.returns:
        scope.public(returned)
    _check_declared(program, spent.cost)
    require(spent.cost[1] < 1, "a delta of 1 or more promises nothing", "delta")


def obligations_of(plain: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What solvers must find unsatisfiable: what it is about, and its text in SMT-LIB.

    Derived from the program, whatever a certificate quotes. `InvalidError` if it doesn't follow.
    """
    return derive(stated_derivation(plain)).obligations


def _sizes(program: Program, n: int | None) -> Range:
    sizes = admitted(program.requires)
    require(sizes.low <= sizes.high, "no number of records is admitted", "requires")
    if n is None:
        return sizes
    require(
        program.adjacency == "replace-one",
        "the number of records is private, and the derivation fixes it",
        "n",
    )
    require(
        sizes.low <= n <= sizes.high, "the preconditions do not admit this number of records", "n"
    )
    return Range(Fraction(n), Fraction(n))


def _check_names(program: Program) -> None:
    """Each release has a name of its own, since costs are stated by name.

    Both sides of a branch may derive a value of the same name.
    `db.size` is the name of the number of records.
    """
    commands = list(flat(program.body))
    derived = {command.name for command in commands if isinstance(command, Derive)}
    released: set[str] = set()
    for command in commands:
        if isinstance(command, Release):
            free = command.name not in derived
            allow(free, "twice", "a derived value has the name of a release", command, "name")
            free = command.name not in released
            allow(free, "twice", "two releases of one name", command, "name")
            released.add(command.name)
    taken = derived | released
    require("db.size" not in taken, "a command has the name of the number of records", "name")
    require(not taken & set(program.parameters), "a command has the name of a parameter", "name")


def _check_requires(program: Program, scope: Scope, n: int | None) -> None:
    """Preconditions are about public values; one that is certainly false would prove anything."""
    for precondition in program.requires:
        require(scope.public(precondition) == TRUTH, "a precondition is true or false", "requires")
        if n is not None or not any(part.op == "public" for part in precondition.walk()):
            _check_holds(precondition, n or 1, scope.context)


def check_admitted(derived: Derived, n: int) -> None:
    """`InvalidError` unless the preconditions hold for a table of n records."""
    sizes = admitted(derived.program.requires)
    require(
        sizes.low <= n <= sizes.high,
        "the preconditions do not admit this number of records",
        "requires",
    )
    context = AdjacencyContext(derived.program, sizes, derived.program.adjacency)
    for precondition in derived.program.requires:
        _check_holds(precondition, n, context)


def _check_holds(node: Node, n: int, context: AdjacencyContext) -> None:
    """`InvalidError` where a precondition is false.

    The interpreter checks those about public columns: the assumptions say so.
    """
    holds = _decided(node, n, context)
    require(holds is not False, "a precondition is false", "requires")
    if holds is None and not _asks_table(node):
        raise UnknownError("it is not decided whether a precondition holds", "requires")


def _asks_table(node: Node) -> bool:
    return any(part.op in ("sum", "count") for part in node.walk())


def _decided(node: Node, n: int, context: AdjacencyContext) -> bool | None:
    """Whether it holds at this number of records; None where that depends on anything else."""
    if node.op in ("and", "or"):
        parts = [_decided(arg, n, context) for arg in node.args]
        decides = node.op == "or"
        return decides if decides in parts else None if None in parts else not decides
    if node.op == "not":
        inner = _decided(node.args[0], n, context)
        return None if inner is None else not inner
    try:
        value = evaluate(_at(node, n), {}, context.program.columns)
    except (NotExactError, ZeroDivisionError):
        return None
    return value if isinstance(value, bool) else None


def _at(node: Node, n: int) -> Node:
    if node == SIZE:
        return const(Fraction(n))
    return replace(node, args=tuple(_at(arg, n) for arg in node.args))


def _check_declared(program: Program, cost: FractionPair) -> None:
    for what, declared, derived in zip(
        ("epsilon", "delta"), (program.epsilon, program.delta), cost, strict=True
    ):
        enough = declared is None or declared >= derived
        require(enough, f"the declared {what} is below the derived one", "declared")
    silent = program.epsilon is not None and program.delta is None
    require(not silent or cost[1] == 0, "a delta that is not declared", "declared")


def one_kind(
    kinds: Kinds, program: Program
) -> tuple[str, str | None, tuple[Fraction, Fraction] | None]:
    """The kind of all releases: lipschitz if each is, in the same column and interval.

    A column that is made of several rows of the table is none of the table's.
    """
    same = bool(kinds) and all(kind == kinds[0] for kind in kinds) and program.persons is None
    return kinds[0] if same else ("any", None, None)


# -- the claim -------------------------------------------------------------------------------------


def check_claim(claim: ProgramClaim, derived: Derived) -> None:
    """`InvalidError` where the claim says more than follows."""
    require(
        claim.adjacency == derived.program.adjacency,
        "the claim is about another adjacency than the program declares",
        "claim",
    )
    doubles, exact = (claim.epsilon, claim.delta), (claim.exact.epsilon, claim.exact.delta)
    for what, double, claimed, due in zip(
        ("epsilon", "delta"), doubles, exact, derived.cost, strict=True
    ):
        if claimed < due:
            said = f"{float(claimed)!r} is claimed, and {float(due)!r} is what follows"
            raise InvalidError(said, f"claim: {what}")
        at_least(double, ball(claimed), f"claim: {what}")
        require(
            double == double_up(ball(claimed)),
            "the double is not the exact number, rounded up",
            f"claim: {what}",
        )
    if claim.kind == "any":
        bare = (claim.column, claim.interval) == (None, None)
        require(bare, "a column or an interval belongs to the kind lipschitz only", "claim")
        return
    kind, column, place = derived.kind
    require(kind == "lipschitz", "the claimed kind is not the one that is derived", "claim")
    require(claim.column == column, "the claimed column is not the one that is derived", "claim")
    require(
        place is not None and claim.interval == place,
        "the claimed interval is not the one that is derived",
        "claim",
    )


# -- what it rests on ------------------------------------------------------------------------


def assumptions_from(derived: Derived) -> list[str]:
    """What a certificate of this derivation rests on, in order."""
    program = derived.program
    said = []
    if program.adjacency == "replace-one":
        said.append("adjacency is: replace one record; the number of records is public")
        public = [name or "the record" for name, column in program.columns.items() if column.public]
        if public:
            said.append(f"not protected, because declared public: {', '.join(public)}")
    else:
        said.append("adjacency is: one record enters or leaves; the number of records is private")
    said += said_of(program.persons) if program.persons is not None else ()
    if derived.n is not None:
        said.append(f"the table has exactly {derived.n} records")
    if any(derived.n is None or _asks_table(precondition) for precondition in program.requires):
        said.append(
            "the preconditions of the program hold: they are checked before anything is released, "
            "and nothing is said of other tables"
        )
    said += [
        "declared bounds and labels are enforced when the table is loaded; NaN is refused",
        f"the program's text ({program.source}) is read as it is meant (parser and lowering)",
        "the interpreter computes what the intermediate representation says, and nothing else",
        "noise is drawn from OpenDP's samplers, calibrated to the stated sensitivities",
    ]
    if derived.obligations:
        said.append(_solved(derived.solvers, len(derived.obligations)))
    return said


def _solved(solvers: tuple[str, ...], obligations: int) -> str:
    who = " and ".join(solvers)
    agreed = f"{who} agree" if len(solvers) > 1 else f"{who} alone says"
    many = f"{obligations} obligation{'s' * (obligations != 1)}"
    return f"{STATED}{agreed} that the negations of {many} about folds can't be satisfied"
