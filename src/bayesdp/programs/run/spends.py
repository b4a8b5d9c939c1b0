"""What the ledger keeps of a program: its pure cost, and the zCDP cost of its Gaussian releases.

The ledger has no (epsilon, delta) spends. A program with a delta is therefore kept as two: the zCDP
cost of all Gaussian releases, and the pure cost of all others. In a sequence both add up; of the
sides of a branch the larger counts for each; so it does for pieces of a partition that read public
pieces only, and else they add up: each release is priced for any change of one record, so the sum
holds whatever the pieces are.

The ledger's costs are for replaced records. A program under add-remove is kept at what a replaced
record costs: one that leaves and one that enters, so twice the pure cost and four times the zCDP
cost (group privacy: Bun & Steinke 2016, Proposition 1.9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from bayesdp.accounting.spend import Spend, float_above
from bayesdp.errors import InputError
from bayesdp.programs.check.rows import columns
from bayesdp.programs.check.verdict import Verdict
from bayesdp.programs.ir import Branch, Command, Derive, Expr, Program, Release, expression
from bayesdp.programs.run.machine import gaussian_sigma
from bayesdp.programs.run.private import RESOLUTION
from bayesdp.programs.run.public import Values
from bayesdp.programs.run.table import Rows

Pair = tuple[Fraction, Fraction]
NOTHING: Pair = (Fraction(0), Fraction(0))


def spends_of(
    verdict: Verdict,
    program: Program,
    *,
    dataset: str,
    unit: str = "row",
    n: int | None = None,
    query: str | None = None,
    names: Mapping[str, str] | None = None,
) -> list[Spend]:
    """The spends of one run: a pure one, one in zCDP, or both.

    `n` is the public number of rows, needed where a Gaussian release's noise depends on it; `names`
    says what the ledger calls a column ('' is the value of a scalar record).
    """
    pure, rho = verdict.dp_epsilon, Fraction(0)
    if verdict.dp_delta > 0:
        pure, rho = _costs(program, verdict, n)
    if program.adjacency == "add-remove":
        pure, rho = 2 * pure, 4 * rho
    called = names or {}
    reads = tuple(sorted(called.get(c, c or program.database) for c in private_columns(program)))
    shared: dict[str, Any] = {
        "dataset": dataset,
        "unit": unit,
        "query": query or program.name,
        "mechanism": "program",
        "reads": reads,
    }
    kind, more, step = _kind(verdict, called, program)
    found = []
    if pure > 0:
        cost = float_above(pure)
        slack = float_above(Fraction(cost) * step)
        found.append(Spend(**shared, kind=kind, **more, dp_epsilon=cost, slack=slack))
    if rho > 0:
        found.append(Spend(**shared, kind="any", dp_epsilon=0.0, rho=float_above(rho)))
    return found


def private_columns(program: Program) -> frozenset[str]:
    """The private columns that a program's releases read."""
    public = {name for name, kind in program.record if kind.public}
    read = _read(program.body)
    return frozenset(read if program.adjacency == "add-remove" else read - public)


def _read(commands: Sequence[Command]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for one in commands:
        if isinstance(one, Release):
            found |= frozenset().union(*(_columns(arg) for arg in one.args))
        elif isinstance(one, Branch):
            found |= _read(one.then) | _read(one.otherwise)
        elif not isinstance(one, Derive):
            found |= {one.column}.union(*(_read(part) for _, part in one.parts))
    return found


def _columns(expr: Expr) -> frozenset[str]:
    found = columns(expr)
    if expr.op == "data" and isinstance(expr.data[0], tuple):
        found |= {str(one[0]) for one in expr.data[0] if isinstance(one, tuple)}
    return found.union(*(_columns(one) for one in expr.args))


def _kind(
    verdict: Verdict, names: Mapping[str, str], program: Program
) -> tuple[Literal["any", "lipschitz"], dict[str, Any], Fraction]:
    """The kind, its column and interval, and one grid step relative to the interval's width."""
    if verdict.kind != "lipschitz" or verdict.interval is None:
        return "any", {}, Fraction(0)
    low, high = verdict.interval
    if not low < high or (Fraction(float(low)), Fraction(float(high))) != (low, high):
        return "any", {}, Fraction(0)
    column = verdict.column or ""
    named = names.get(column, column or program.database)
    step = 2 * max(abs(low), abs(high)) / Fraction(2) ** RESOLUTION / (high - low)
    return "lipschitz", {"column": named, "interval": (float(low), float(high))}, step


def _costs(program: Program, verdict: Verdict, n: int | None) -> Pair:
    import numpy as np

    if n is None and _reads_size(verdict.derivation):
        raise InputError("n", n, expected="the number of rows: the noise depends on it")
    empty = {name: np.zeros(0) for name, _ in program.record}
    values = Values(program, Rows(empty, n or 1))
    return _sequence(program.body, verdict.derivation, values)


def _reads_size(node: Any) -> bool:
    if isinstance(node, list):
        return node == ["db.size"] or any(_reads_size(one) for one in node)
    return isinstance(node, dict) and any(_reads_size(one) for one in node.values())


def _sequence(commands: Sequence[Command], node: Mapping[str, Any], values: Values) -> Pair:
    return _added([_one(c, one, values) for c, one in zip(commands, node["sequence"], strict=True)])


def _one(command: Command, node: Mapping[str, Any], values: Values) -> Pair:
    if isinstance(command, Derive):
        return NOTHING
    if isinstance(command, Release):
        if command.op != "gaussian":
            return Fraction(node["epsilon"]), Fraction(0)
        return Fraction(0), _rho(command, node, values)
    if isinstance(command, Branch):
        sides = (command.then, command.otherwise)
        return _largest(
            [_sequence(c, one, values) for c, one in zip(sides, node["branch"], strict=True)]
        )
    parts = [
        _sequence(part, one, values)
        for (_, part), one in zip(command.parts, node["parts"]["of"], strict=True)
    ]
    apart = node["parts"]["confined"] and (
        command.public or values.program.adjacency == "add-remove"
    )
    return _largest(parts) if apart else _added(parts)


def _rho(release: Release, node: Mapping[str, Any], values: Values) -> Fraction:
    squared = values.number(expression(node["sensitivity"]["value"]))
    if not squared:
        return Fraction(0)
    sigma, _ = gaussian_sigma(release, node, squared, values)
    return squared / (2 * sigma * sigma)


def _added(pairs: Sequence[Pair]) -> Pair:
    return sum((a for a, _ in pairs), Fraction(0)), sum((b for _, b in pairs), Fraction(0))


def _largest(pairs: Sequence[Pair]) -> Pair:
    return max((a for a, _ in pairs), default=Fraction(0)), max(
        (b for _, b in pairs), default=Fraction(0)
    )
