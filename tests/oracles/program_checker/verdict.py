"""Checks a program by the rules of this oracle."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from bayesdp.programs.ir import Command, Program, Where
from bayesdp.programs.number_text import distinct_decimals, suggested
from bayesdp.programs.verdict import ProgramVerdict
from tests.oracles.program_checker.costs import Costs
from tests.oracles.program_checker.divisors import facts
from tests.oracles.program_checker.intervals import Context, Interval
from tests.oracles.program_checker.refine import Refinements
from tests.oracles.program_checker.refusals import Rejected, Stopped, Unknown
from tests.oracles.program_checker.sensitivity import AdjacencyContext, constant_of
from tests.oracles.program_checker.sizes import admitted


def check(program: Program, n: int | None = None) -> ProgramVerdict:
    """Check a program for differential privacy, for every size that it admits or for `n` rows."""
    try:
        return _check(program, n)
    except Rejected as refusal:
        return _refusal("REJECTED", refusal)
    except Unknown as refusal:
        return _refusal("UNKNOWN", refusal)
    except RecursionError:
        return ProgramVerdict("UNKNOWN", code="size", reason="The program is nested too deeply.")


def _refusal(verdict: Literal["REJECTED", "UNKNOWN"], stopped: Stopped) -> ProgramVerdict:
    return ProgramVerdict(
        verdict,
        code=stopped.code,
        reason=stopped.message,
        accepted=stopped.accepted,
        where=stopped.where,
    )


def _check(program: Program, n: int | None) -> ProgramVerdict:
    size = admitted(program.requires) if n is None else Interval(Fraction(n), Fraction(n))
    # Where records enter and leave, their number is private: nothing is known of it.
    known = {"db.size": size} if program.adjacency == "replace-one" else {}
    context = Context(dict(program.record), known)
    refinements = Refinements(context, program.requires)
    world = AdjacencyContext(program.adjacency, context, refinements.fold)
    costs = Costs(world, refinements)
    for item in program.requires:
        if constant_of(item) == 0:
            raise Rejected("precondition", "This precondition is never true.", item)
        costs.public_only(item)
    refinements.precondition()
    costs.facts = tuple(fact for requirement in program.requires for fact in facts(requirement))
    price = costs.sequence(program.body)
    for item in program.returns:
        costs.after(item)
    epsilon, delta = price.cost
    if delta >= 1:
        raise Rejected(
            "budget",
            f"The releases have delta = {suggested(delta)} together, and a delta of 1 or more "
            "promises nothing.",
            _last(program.body),
            "Give them smaller deltas: 1e-6, for example.",
        )
    _declared(program, epsilon, delta)
    kind, column, interval = _kind(costs.kinds)
    return ProgramVerdict(
        "ACCEPTED",
        epsilon,
        delta,
        kind,
        column,
        interval,
        derivation=price.node,
        obligations=tuple(refinements.obligations),
        solvers=refinements.solvers,
        # A private number of records is nothing that a run may be held to.
        n=n if program.adjacency == "replace-one" else None,
        notes=tuple(dict.fromkeys(costs.notes)),
    )


def _declared(program: Program, epsilon: Fraction, delta: Fraction) -> None:
    for name, declared, derived in (
        ("epsilon", program.declared_epsilon, epsilon),
        ("delta", program.declared_delta, delta),
    ):
        if declared is not None and declared < derived:
            given, needed = distinct_decimals(declared, derived)
            raise Rejected(
                "budget",
                f"The program declares {name} = {given} and costs {needed}.",
                _last(program.body),
                f"Declare @program({name}={needed}), or release less.",
            )
    if program.declared_epsilon is not None and program.declared_delta is None and delta > 0:
        raise Rejected(
            "budget",
            f"The program declares no delta and costs delta = {suggested(delta)}.",
            _last(program.body),
            f"Declare @program(epsilon=..., delta={suggested(delta)}).",
        )


def _last(body: Sequence[Command]) -> Where | None:
    return body[-1].where if body else None


def _kind(
    kinds: Sequence[tuple[str, str, tuple[Fraction, Fraction] | None]],
) -> tuple[Literal["any", "lipschitz"], str | None, tuple[Fraction, Fraction] | None]:
    if kinds and all(kind == kinds[0] and kind[0] == "lipschitz" for kind in kinds):
        return "lipschitz", kinds[0][1], kinds[0][2]
    return "any", None, None


__all__ = ["ProgramVerdict", "check"]
