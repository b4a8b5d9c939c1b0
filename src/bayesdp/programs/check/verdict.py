"""The verdict on a program: ACCEPTED with its cost, REJECTED with the place, or UNKNOWN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from bayesdp.programs.check.costs import Costs
from bayesdp.programs.check.intervals import UNIT, Context, Interval, bounds, of_type
from bayesdp.programs.check.refine import Refinements
from bayesdp.programs.check.refusals import Rejected, Stopped, Unknown
from bayesdp.programs.check.rows import check_row
from bayesdp.programs.check.sensitivity import World, constant_of
from bayesdp.programs.ir import Branch, Command, Expr, Parts, Program, Release, Where

TRUSTED = (
    "the program file is read as its text says (parser and lowering)",
    "the interpreter computes what the intermediate representation says",
    "noise is drawn from OpenDP's samplers",
)


@dataclass(frozen=True)
class Verdict:
    """What the checker says of a program.

    `dp_epsilon` and `dp_delta` are exact; `kind` is "lipschitz" where every release adds Laplace
    noise to a multiple of the sum of one clipped column (`column`, `interval`), else "any".
    """

    verdict: Literal["ACCEPTED", "REJECTED", "UNKNOWN"]
    dp_epsilon: Fraction = Fraction(0)
    dp_delta: Fraction = Fraction(0)
    kind: Literal["any", "lipschitz"] = "any"
    column: str | None = None
    interval: tuple[Fraction, Fraction] | None = None
    code: str = ""
    reason: str = ""
    accepted: str = ""
    where: Where | None = None
    derivation: dict[str, Any] = field(default_factory=dict)
    obligations: tuple[dict[str, Any], ...] = ()
    solvers: tuple[str, ...] = ()
    n: int | None = None
    name: str = ""
    adjacency: str = "replace-one"
    shown: str = ""  # the reason with the source line and a caret under the place

    def __str__(self) -> str:
        from bayesdp.programs.words import in_words

        return in_words(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the verdict, the cost, and where and why if it is no."""
        from bayesdp.programs.words import as_data

        return as_data(self)

    @property
    def line(self) -> int | None:
        """The line of the source that the reason points at."""
        return None if self.where is None else self.where.line

    @property
    def trusted(self) -> tuple[str, ...]:
        """What the verdict rests on beyond the rules."""
        if not self.obligations:
            return TRUSTED
        agreed = " and ".join(self.solvers)
        said = f"{agreed} agree" if len(self.solvers) > 1 else f"{agreed} alone says"
        many = f"{len(self.obligations)} obligation{'s' * (len(self.obligations) != 1)}"
        return (*TRUSTED, f"{said} that the negation of {many} can't be satisfied")


def check(program: Program, n: int | None = None) -> Verdict:
    """Check a program for differential privacy, for every size that it admits or for `n` rows."""
    try:
        return _check(program, n)
    except Rejected as found:
        return _refusal("REJECTED", found)
    except Unknown as found:
        return _refusal("UNKNOWN", found)
    except RecursionError:
        return Verdict("UNKNOWN", code="size", reason="The program is nested too deeply.")


def _refusal(verdict: Literal["REJECTED", "UNKNOWN"], found: Stopped) -> Verdict:
    return Verdict(
        verdict, code=found.code, reason=found.message, accepted=found.accepted, where=found.where
    )


def _check(program: Program, n: int | None) -> Verdict:
    columns = dict(program.record)
    size = admitted(program.requires) if n is None else Interval(Fraction(n), Fraction(n))
    context = Context(columns, {"db.size": size})
    refinements = Refinements(context, program.requires)
    world = World(program.adjacency, context, refinements.fold)
    for one in program.requires:
        if constant_of(one) == 0:
            raise Rejected("precondition", "This precondition is never true.", one)
    refinements.precondition()
    for data in _all_data(program.body):
        check_row(data.args[0], context)
        check_row(data.args[1], context)
        bounds(data.args[1], context)
    least = max(1, int(size.low)) if size.low is not None else 1
    costs = Costs(program, world, refinements, least)
    price = costs.sequence(program.body)
    for one in program.returns:
        costs.public_only(one)
    epsilon, delta = price.cost
    _declared(program, epsilon, delta)
    kind, column, interval = _kind(costs.kinds)
    return Verdict(
        "ACCEPTED",
        epsilon,
        delta,
        kind,
        column,
        interval,
        derivation=price.node,
        obligations=tuple(refinements.obligations),
        solvers=refinements.solvers,
        n=n,
    )


def _declared(program: Program, epsilon: Fraction, delta: Fraction) -> None:
    for name, declared, derived in (
        ("epsilon", program.declared_epsilon, epsilon),
        ("delta", program.declared_delta, delta),
    ):
        if declared is not None and declared < derived:
            raise Rejected(
                "budget",
                f"The program declares {name} = {_shown(declared)} and costs {_shown(derived)}.",
                _last(program.body),
                f"Declare @program({name}={_shown(derived)}), or release less.",
            )
    if program.declared_epsilon is not None and program.declared_delta is None and delta > 0:
        raise Rejected(
            "budget",
            f"The program declares no delta and costs delta = {_shown(delta)}.",
            _last(program.body),
            f"Declare @program(epsilon=..., delta={_shown(delta)}).",
        )


def _last(body: Sequence[Command]) -> Where | None:
    return body[-1].where if body else None


def _kind(
    kinds: Sequence[tuple[str, str, tuple[Fraction, Fraction] | None]],
) -> tuple[Literal["any", "lipschitz"], str | None, tuple[Fraction, Fraction] | None]:
    if kinds and all(one == kinds[0] and one[0] == "lipschitz" for one in kinds):
        return "lipschitz", kinds[0][1], kinds[0][2]
    return "any", None, None


def admitted(requires: Sequence[Expr]) -> Interval:
    """The sizes that the preconditions admit, at least as wide; 1 row is the least."""
    low, high = Fraction(1), None
    for one in requires:
        for op, bound in _about_size(one):
            if op in ("ge", "eq"):
                low = max(low, bound)
            elif op == "gt":
                low = max(low, bound + 1 if bound.denominator == 1 else bound)
            if op in ("le", "eq") or op == "lt":
                high = bound if high is None else min(high, bound)
    return Interval(low, high)


def _about_size(expr: Expr) -> list[tuple[str, Fraction]]:
    if expr.op == "and":
        return [found for one in expr.args for found in _about_size(one)]
    if expr.op not in ("ge", "gt", "le", "lt", "eq"):
        return []
    left, right = expr.args
    size = Expr("public", (), ("db.size",))
    turned = {"ge": "le", "gt": "lt", "le": "ge", "lt": "gt", "eq": "eq"}
    for one, other, op in ((left, right, expr.op), (right, left, turned[expr.op])):
        bound = constant_of(other)
        if (one.op, one.data) == (size.op, size.data) and bound is not None:
            return [(op, bound)]
    return []


def _all_data(commands: Sequence[Command]) -> list[Expr]:
    found: list[Expr] = []
    for one in commands:
        if isinstance(one, Release):
            for arg in one.args:
                found += _data_in(arg)
        elif isinstance(one, Branch):
            found += _all_data(one.then) + _all_data(one.otherwise)
        elif isinstance(one, Parts):
            for _, part in one.parts:
                found += _all_data(part)
    return found


def _data_in(expr: Expr) -> list[Expr]:
    # A fold's step stands beside its data and is checked with it.
    found = [expr] if expr.op == "data" else []
    for one in expr.args:
        found += _data_in(one)
    return found


def _shown(value: Fraction) -> str:
    return f"{float(value):.10g}"


__all__ = ["UNIT", "Verdict", "check", "of_type"]
