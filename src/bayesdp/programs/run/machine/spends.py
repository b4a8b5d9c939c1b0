"""What the ledger keeps of a program: its pure cost, and the zCDP cost of its Gaussian releases.

The ledger has no (epsilon, delta) spends. A program with a delta is therefore kept as two: the zCDP
cost of all Gaussian releases, and the pure cost of all others. In a sequence both add up. Of the
sides of a branch the larger of each counts, and so of the pieces of a partition, where each piece
reads its own rows only and no record moves from one piece to another. The costs of other pieces add
up: each release is priced for any change of one record, so the sum holds whatever the pieces are.

The ledger's costs are for replaced records. A program under add-remove is kept at what a replaced
record costs: one that leaves and one that enters, so twice the pure cost and four times the zCDP
cost (group privacy: Bun & Steinke 2016, Proposition 1.9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesdp.accounting.costs.spend import Spend
from bayesdp.errors import InputError
from bayesdp.numbers import ZERO, float_above
from bayesdp.programs.ir import (
    Branch,
    Command,
    Derive,
    Parts,
    Program,
    Release,
    columns,
    expression,
    flat,
    names_of,
)
from bayesdp.programs.run.draws.gaussian import sigma_of
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.values.private import RESOLUTION
from bayesdp.programs.run.values.public import PublicValues
from bayesdp.programs.verdict import ProgramVerdict


class RunCosts(NamedTuple):
    """A pure cost, and the zCDP cost of Gaussian noise."""

    pure: Fraction
    rho: Fraction


NOTHING = RunCosts(Fraction(0), Fraction(0))


def spends_of(
    verdict: ProgramVerdict,
    program: Program,
    *,
    dataset: str,
    unit: str = "row",
    n: int | None = None,
    query: str | None = None,
    names: Mapping[str, str] | None = None,
) -> list[Spend]:
    """The spends of one run: pure, in zCDP, or both.

    `n` is the public number of rows, needed where a Gaussian release's noise depends on it; `names`
    says what the ledger calls a column ('' is the value of a scalar record).
    """
    pure, rho = verdict.dp_epsilon, Fraction(0)
    if verdict.dp_delta > 0:
        rhos = gaussian_costs(program, verdict, n)
        pure, rho = _Pricing(program, rhos).sequence(program.body, verdict.derivation)
    if program.adjacency == "add-remove":
        pure, rho = 2 * pure, 4 * rho
    called = names or {}
    private = table_columns(program, private_columns(program))
    reads = tuple(sorted(called.get(c, c or program.database) for c in private))
    shared: dict[str, Any] = {
        "dataset": dataset,
        "unit": unit,
        "query": query or program.name,
        "mechanism": "program",
        "reads": reads,
    }
    kind, more, step = _kind(verdict, called, program)
    spends = []
    if pure > 0:
        cost = float_above(pure)
        slack = float_above(Fraction(cost) * step)
        spends.append(Spend(**shared, kind=kind, **more, dp_epsilon=cost, slack=slack))
    if rho > 0:
        spends.append(Spend(**shared, kind="any", dp_epsilon=ZERO, rho=float_above(rho)))
    return spends


def private_columns(program: Program) -> frozenset[str]:
    """The private columns that a program's releases read."""
    public = {name for name, kind in program.record if kind.public}
    read = _read(program.body)
    return frozenset(read if program.adjacency == "add-remove" else read - public)


def table_columns(program: Program, read: AbstractSet[str]) -> frozenset[str]:
    """The table's columns behind columns of the record: others where it is several rows."""
    persons = program.persons
    return frozenset(read) if persons is None else persons.reads(read)


def _read(commands: Sequence[Command]) -> frozenset[str]:
    names: set[str] = set()
    for command in flat(commands):
        if isinstance(command, Release):
            names.update(*(columns(arg) for arg in command.args))
        elif isinstance(command, Parts):
            names.add(command.column)
    return frozenset(names)


def _kind(
    verdict: ProgramVerdict, names: Mapping[str, str], program: Program
) -> tuple[Literal["any", "lipschitz"], dict[str, Any], Fraction]:
    """The kind, its column and interval, and what grids add, relative to its width (theory 8.5)."""
    if verdict.kind != "lipschitz" or verdict.interval is None:
        return "any", {}, Fraction(0)
    low, high = verdict.interval
    if not low < high or (Fraction(float(low)), Fraction(float(high))) != (low, high):
        return "any", {}, Fraction(0)
    column = verdict.column or ""
    named = names.get(column, column or program.database)
    step = (max(abs(low), abs(high)) / (high - low) + 1) / 2 ** (RESOLUTION - 2)
    return "lipschitz", {"column": named, "interval": (float(low), float(high))}, step


def gaussian_costs(
    program: Program, verdict: ProgramVerdict, n: int | None, key: str = "n"
) -> dict[str, Fraction]:
    """The zCDP cost of each Gaussian release: its squared sensitivity over twice the variance.

    Public values that are known beforehand decide it. Raises `InputError` about `key` where the
    number of records is among them, and is not known.
    """
    empty = {name: np.zeros(0) for name, _ in program.record}
    values = PublicValues(program, Rows(empty, n or 1))
    costs: dict[str, Fraction] = {}
    for release, node in _with_nodes(program.body, verdict.derivation):
        if release.op != "gaussian":
            continue
        sensitivity = expression(node["sensitivity"]["value"])
        if n is None and "db.size" in names_of(sensitivity):
            raise InputError(
                key,
                release.name,
                expected="the number of records to be stated: the noise depends on it",
                remedy="State it: data.n in a study, n= otherwise.",
            )
        squared, costs[release.name] = values.number(sensitivity), Fraction(0)
        if squared:
            sigma = sigma_of(release, node, values)
            costs[release.name] = squared / (2 * sigma * sigma)
    return costs


def _with_nodes(
    commands: Sequence[Command], node: Mapping[str, Any]
) -> Iterator[tuple[Release, Mapping[str, Any]]]:
    """Each release with its step of the derivation."""
    for command, step in zip(commands, node["sequence"], strict=True):
        if isinstance(command, Release):
            yield command, step
        elif isinstance(command, Branch):
            sides = zip((command.then, command.otherwise), step["branch"], strict=True)
            for side, under in sides:
                yield from _with_nodes(side, under)
        elif isinstance(command, Parts):
            for (_, part), under in zip(command.parts, step["parts"]["of"], strict=True):
                yield from _with_nodes(part, under)


@dataclass(frozen=True)
class _Pricing:
    """Adds up the pure cost of commands, and the given zCDP costs of their Gaussian releases."""

    program: Program
    rhos: Mapping[str, Fraction]

    def sequence(self, commands: Sequence[Command], node: Mapping[str, Any]) -> RunCosts:
        return _added(
            [self._of_command(c, step) for c, step in zip(commands, node["sequence"], strict=True)]
        )

    def _of_command(self, command: Command, node: Mapping[str, Any]) -> RunCosts:
        if isinstance(command, Derive):
            return NOTHING
        if isinstance(command, Release):
            if command.op == "gaussian":
                return RunCosts(Fraction(0), self.rhos[command.name])
            return RunCosts(Fraction(node["epsilon"]), Fraction(0))
        if isinstance(command, Branch):
            sides = zip((command.then, command.otherwise), node["branch"], strict=True)
            return _largest([self.sequence(*side) for side in sides])
        parts = [
            self.sequence(part, step)
            for (_, part), step in zip(command.parts, node["parts"]["of"], strict=True)
        ]
        apart = node["parts"]["confined"] and (
            command.public or self.program.adjacency == "add-remove"
        )
        return _largest(parts) if apart else _added(parts)


def _added(costs: Sequence[RunCosts]) -> RunCosts:
    return RunCosts(
        sum((cost.pure for cost in costs), Fraction(0)),
        sum((cost.rho for cost in costs), Fraction(0)),
    )


def _largest(costs: Sequence[RunCosts]) -> RunCosts:
    return RunCosts(
        max((cost.pure for cost in costs), default=Fraction(0)),
        max((cost.rho for cost in costs), default=Fraction(0)),
    )
