"""Checks a program: one walk by the kernel's rules, from the representation to the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.programs.document import check_end, check_start, one_kind
from bayesdp.kernel.programs.levels import Scope
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range, admitted, folded
from bayesdp.kernel.programs.reading import Program as Read
from bayesdp.kernel.programs.refusals import RefusedError, UnprovedError
from bayesdp.kernel.programs.setting import Setting
from bayesdp.programs.check.derive import Derivation
from bayesdp.programs.check.divisors import facts
from bayesdp.programs.check.explain import Explanations
from bayesdp.programs.check.messages import explained
from bayesdp.programs.check.reading import read
from bayesdp.programs.check.refine import Refinements
from bayesdp.programs.check.refusals import Rejected, Stopped
from bayesdp.programs.ir import Command, Program, Where
from bayesdp.programs.number_text import distinct_decimals, suggested
from bayesdp.programs.verdict import ProgramVerdict, unconfirmed


def check(program: Program, n: int | None = None) -> ProgramVerdict:
    """The verdict on a program, for every size that it admits or for `n` rows. Reads no data."""
    try:
        return _check(program, n)
    except Stopped as stopped:
        return _refusal(stopped)
    except InvalidError as error:
        return unconfirmed(error.step, error.reason)
    except RecursionError:
        return ProgramVerdict("UNKNOWN", code="size", reason="The program is nested too deeply.")


def _refusal(stopped: Stopped) -> ProgramVerdict:
    return ProgramVerdict(
        "REJECTED" if isinstance(stopped, Rejected) else "UNKNOWN",
        code=stopped.code,
        reason=stopped.message,
        accepted=stopped.accepted,
        where=stopped.where,
    )


def _check(program: Program, n: int | None) -> ProgramVerdict:
    core = read(program)
    # A run must not be held to a number of records that is private.
    n = n if program.adjacency == "replace-one" else None
    size = admitted(core.requires) if n is None else Range(Fraction(n), Fraction(n))
    context = AdjacencyContext(core, size, core.adjacency)
    try:
        return _derived(program, core, context, n)
    except (RefusedError, UnprovedError) as error:
        stopped = explained(error, context)
        return unconfirmed(error.step, error.reason) if stopped is None else _refusal(stopped)


def _derived(
    program: Program, core: Read, context: AdjacencyContext, n: int | None
) -> ProgramVerdict:
    refinements = Refinements(context)
    scope = Scope(context, {})
    walk = Derivation(Setting(scope, refinements.fold), refinements, Explanations())
    for condition in core.requires:
        if folded(condition) == 0:
            raise Rejected("precondition", "This precondition is never true.", condition)
        walk.explain.public(condition, scope)
    refinements.precondition()
    check_start(core, scope, n)
    walk.explain.facts = tuple(fact for condition in core.requires for fact in facts(condition))
    spent = walk.sequence(core.body, None, {})
    after = walk.scope(spent.names)
    for returned in core.returns:
        walk.explain.public(returned, after, noted=True)
    epsilon, delta = spent.cost
    if delta >= 1:
        raise Rejected(
            "budget",
            f"The releases have delta = {suggested(delta)} together, and a delta of 1 or more "
            "promises nothing.",
            _last(program.body),
            "Give them smaller deltas: 1e-6, for example.",
        )
    _declared(program, epsilon, delta)
    check_end(core, walk, spent)
    kind, column, interval = one_kind(walk.kinds, core)
    assert isinstance(spent.node, dict)
    return ProgramVerdict(
        "ACCEPTED",
        epsilon,
        delta,
        "lipschitz" if kind == "lipschitz" else "any",
        column,
        interval,
        derivation=spent.node,
        obligations=tuple(refinements.obligations),
        solvers=refinements.solvers,
        n=n,
        notes=tuple(dict.fromkeys(walk.explain.notes)),
    )


def _declared(program: Program, epsilon: Fraction, delta: Fraction) -> None:
    for name, declared_cost, derived_cost in (
        ("epsilon", program.declared_epsilon, epsilon),
        ("delta", program.declared_delta, delta),
    ):
        if declared_cost is not None and declared_cost < derived_cost:
            declared_text, derived_text = distinct_decimals(declared_cost, derived_cost)
            raise Rejected(
                "budget",
                f"The program declares {name} = {declared_text} and costs {derived_text}.",
                _last(program.body),
                f"Declare @program({name}={derived_text}), or release less.",
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


__all__ = ["ProgramVerdict", "check"]
