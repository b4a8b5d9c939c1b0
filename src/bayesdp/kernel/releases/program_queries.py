"""A query of a release that is a program: its cost derived again, and what it reads of the table.

The step's one premise is the derivation of the program's own certificate. Here it is held against
the study: the same adjacency and number of records, no column public for the program that the study
protects, and a spend that says what is read and costs no less than derived.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from bayesdp.kernel.arithmetic import agree, at_least, ball, exact, require
from bayesdp.kernel.costs.queries import labels
from bayesdp.kernel.programs.document import (
    Derived,
    assumptions_from,
    check_admitted,
    check_claim,
    derive,
)
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.programs.noise import by_zcdp, louder
from bayesdp.kernel.programs.persons import columns_behind
from bayesdp.kernel.programs.ranges import folded
from bayesdp.kernel.programs.reading import (
    Branch,
    ColumnType,
    Command,
    Derive,
    Node,
    Parts,
    Program,
    Release,
    columns_of,
    program_of,
)
from bayesdp.kernel.reading import stated_derivation
from bayesdp.statements.base import exact_text
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.column_sets import label
from bayesdp.statements.columns import AnyColumn, Columns, Condition, Cut, Numeric
from bayesdp.statements.costs import ProgramStep
from bayesdp.statements.program_steps import (
    BranchNode,
    DeriveNode,
    ProgramDerivation,
    ReleaseNode,
    SequenceNode,
)
from bayesdp.statements.program_steps import Node as StepNode
from bayesdp.statements.queries import ProgramQuery
from bayesdp.statements.spends import Spend

RULE = "program"
MECHANISM = "program"
_FILE = re.compile(r"[^/\\:]*[^/\\:.\s][^/\\:]*\.py")
COARSEST = Fraction(1, 2**31)
"""The interpreter's steps are at most this share of the largest value that one record may add."""

MOST_SQUARED = 2**52
"""Larger moves get their noise from zCDP."""


@dataclass(frozen=True)
class Asked:
    """A program as a query of a study: its spends, and what a certificate has to say of it."""

    spends: tuple[Spend, ...]
    described: Mapping[str, Any]


def program_query(
    step: ProgramStep,
    body: ReleaseCertificate,
    columns: Columns,
    covers: list[str],
    independent: list[str],
    effort: Effort | None = None,
) -> Asked:
    """`InvalidError` unless the study allows the program and its spends cover its cost."""
    evidence, conclusion, (derivation,) = step.evidence, step.conclusion, step.premises
    query = evidence.query
    where = f"program: {query.name}"
    derived = derive(derivation, effort)
    check_claim(derivation.conclusion, derived)
    program = derived.program
    persons = program.persons
    agree(body.unit, "row" if persons is None else persons.by, "unit", where)
    counted = 1 if persons is None else persons.most
    require(counted <= body.rows_per_record, "it reads more rows of a record than count", where)
    agree(program.adjacency, "replace-one", "adjacency", where)
    agree(body.n, body.n if derived.n is None else derived.n, "n", where)
    check_admitted(derived, body.n)
    _check_query(query, program, where)
    fields = _fields(derived, evidence.fields, columns, where)
    reads = sorted(labels(columns, set(fields.values()), covers, independent))
    require(bool(reads), "it reads nothing that is protected", where)
    for spend in evidence.spends:
        compared = {
            "query": (spend.query, query.name),
            "dataset": (spend.dataset, body.dataset),
            "unit": (spend.unit, body.protected_unit),
            "reads": (list(spend.reads), reads),
            "mechanism": (spend.mechanism, MECHANISM),
            "block": (spend.block, None),
            "conclusion": (conclusion.kind, spend.kind),
        }
        for what, (stated, due) in compared.items():
            agree(stated, due, what, where)
    rhos = _gaussian(evidence.gaussian, derived, where)
    _check_costs(step, derived, rhos, where)
    for spend in evidence.spends:
        _check_kind(spend, derived, fields, columns, where)
    described = {
        "query": query.name,
        "program": query.program,
        "source": program.source,
        "assuming": [*_remaining(derived), *gaussian_assumptions(rhos)],
    }
    return Asked(evidence.spends, described)


def _check_query(query: ProgramQuery, program: Program, where: str) -> None:
    """The program is called what its query calls it, with the arguments that its query gives."""
    file, colon, name = query.program.rpartition(":")
    reason = f"program: {query.program!r} is asked for, the cost is that of {program.name!r}"
    require(colon == ":" and name == program.name, reason, where)
    require(_FILE.fullmatch(file) is not None, "the program is not named by a file name", where)
    for name, argument in query.parameters.items():
        fixed = name in program.parameters and _is_value(argument, program.parameters[name])
        due = program.parameters.get(name)
        reason = f"the argument {name!r} is {argument!r}, and the cost is that of {due!r}"
        require(fixed, reason, where)


def _is_value(given: float | str, value: object) -> bool:
    """A JSON number means the decimal that stands there."""
    if isinstance(given, bool | str) or isinstance(value, bool | str):
        return type(given) is type(value) and given == value
    return Fraction(repr(given)) == value


# -- costs ----------------------------------------------------------------------------------


def _gaussian(rhos: Mapping[str, Fraction], derived: Derived, where: str) -> Mapping[str, Fraction]:
    """The stated zCDP cost of every Gaussian release."""
    made = set(_gaussians(derived.program.body))
    agree(sorted(rhos), sorted(made), "Gaussian releases", where)
    require(all(rho >= 0 for rho in rhos.values()), "a Gaussian release has a cost below 0", where)
    return rhos


def _gaussians(commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        if isinstance(command, Release) and command.op == "gaussian":
            yield command.name
        elif isinstance(command, Branch):
            yield from (name for side in command.sides for name in _gaussians(side))
        elif isinstance(command, Parts):
            yield from (name for _, part in command.parts for name in _gaussians(part))


def _check_costs(
    step: ProgramStep, derived: Derived, rhos: Mapping[str, Fraction], where: str
) -> None:
    """One spend for the pure cost, and one in zCDP, where there is any."""
    conclusion, spends, (derivation,) = step.conclusion, step.evidence.spends, step.premises
    pure, rho = derived.cost[0], Fraction(0)
    if rhos:
        pure, rho = _costs(derived.program, derivation, rhos)
    due = [(what, cost) for what, cost in (("pure", pure), ("rho", rho)) if cost > 0]
    require(
        len(due) == len(spends),
        "there is not one spend for the pure cost and one for the zCDP cost",
        where,
    )
    for (what, cost), spend in zip(due, spends, strict=True):
        # A spend has one cost, and no other beside it.
        kept = spend.dp_epsilon if what == "pure" else spend.rho
        concluded = conclusion.epsilon if what == "pure" else conclusion.rho
        at_least(kept, ball(cost), f"{where}: cost")
        at_least(concluded, ball(exact(kept)), where)
    told_rho = "rho" in conclusion.model_fields_set
    require(
        told_rho == bool(rhos),
        "a zCDP cost is stated without Gaussian noise, or is missing beside it",
        where,
    )


def costs(plain: Mapping[str, Any], rhos: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    """The pure cost of all releases but the Gaussian ones, and the zCDP cost of those.

    Both add up in a sequence, and of the sides of a branch the larger counts for each. So it does
    for parts that read pieces of a public column only; all others add up, since each release is
    priced for any change of one record. `plain` is the derivation of the program's own cost.
    """
    derivation = stated_derivation(plain)
    return _costs(program_of(derivation.evidence.program), derivation, rhos)


def _costs(
    program: Program, derivation: ProgramDerivation, rhos: Mapping[str, Fraction]
) -> tuple[Fraction, Fraction]:
    return _sequence(program.body, derivation.evidence.derivation, rhos)


def _sequence(
    commands: Sequence[Command], node: SequenceNode, rhos: Mapping[str, Fraction]
) -> tuple[Fraction, Fraction]:
    pairs = [_command_cost(*both, rhos) for both in zip(commands, node.sequence, strict=True)]
    return sum((a for a, _ in pairs), Fraction(0)), sum((b for _, b in pairs), Fraction(0))


def _command_cost(
    command: Command, node: StepNode, rhos: Mapping[str, Fraction]
) -> tuple[Fraction, Fraction]:
    if isinstance(node, ReleaseNode):
        assert isinstance(command, Release)
        if command.op != "gaussian":
            return node.epsilon, Fraction(0)
        noise = rhos[command.name]
        if folded(node.sensitivity.value) != 0:
            _check_rho(command, node, noise)
        return Fraction(0), noise
    if isinstance(node, DeriveNode):
        return Fraction(0), Fraction(0)
    if isinstance(node, BranchNode):
        assert isinstance(command, Branch)
        sides = zip(command.sides, node.branch, strict=True)
        pairs, apart = [_sequence(*both, rhos) for both in sides], True
    else:
        assert isinstance(command, Parts)
        parts = zip(command.parts, node.parts.of, strict=True)
        pairs = [_sequence(part, under, rhos) for (_, part), under in parts]
        apart = node.parts.confined and command.public
    pure, rho = [a for a, _ in pairs], [b for _, b in pairs]
    if apart:
        return max(pure, default=Fraction(0)), max(rho, default=Fraction(0))
    return sum(pure, Fraction(0)), sum(rho, Fraction(0))


def _check_rho(command: Release, node: ReleaseNode, rho: Fraction) -> None:
    """A stated sigma has its cost, exactly; calibrated noise is not louder than its delta asks for.

    So none costs nothing: noise without a cost would be louder than anybody asks for.

    The interpreter takes the least noise that it can show to have (epsilon, delta). It never needs
    more than zCDP asks for, by whichever orders: 5 % are left for the choice of those. One number
    that moves by a whole distance needs less, and is held to that.
    """
    squared = folded(node.sensitivity.value)
    sigma = dict(command.options).get("sigma")
    if sigma is not None:
        stated = folded(sigma)
        require(
            stated is not None and squared is not None,
            "the sigma or the sensitivity is not a constant",
            "gaussian",
        )
        assert stated is not None
        assert squared is not None
        covers = rho >= squared / (2 * stated * stated)
        require(covers, "its cost is lower than that of noise with this sigma", "gaussian")
        return
    less = bool(by_zcdp(rho * Fraction(21, 20), node.epsilon) <= ball(node.delta))
    number = squared is not None and squared.denominator == 1 and _is_number(command.args[0])
    if not less and number:
        assert squared is not None
        shift = isqrt(squared.numerator)
        of_whole = shift * shift == squared < MOST_SQUARED
        less = of_whole and louder(rho, shift, node.epsilon, node.delta)
    reason = "its cost is lower than that of noise with this epsilon and delta"
    require(not less, reason, "gaussian")


def _is_number(node: Node) -> bool:
    """One number for certain, not a vector: its noise is the least by the law of one number."""
    if node.op == "sum":
        return _is_number_of_row(node.args[0].args[1])
    if node.op in ("add", "sub", "neg", "mul", "div"):
        return all(_is_number(part) for part in node.args)
    return node.op == "count" or folded(node) is not None


def _is_number_of_row(node: Node) -> bool:
    if node.op in ("clip", "add", "sub", "mul", "neg", "abs", "min", "max", "if"):
        return all(_is_number_of_row(part) for part in node.args)
    truth = node.op in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not")
    return truth or node.op == "field" or folded(node) is not None


def gaussian_assumptions(rhos: Mapping[str, Fraction]) -> list[str]:
    """What the zCDP costs rest on: the interpreter decides how much noise there is."""
    return [
        f"the Gaussian noise of '{name}' has a variance of at least "
        f"{_rounded_down(1 / (2 * rho))} times its squared l2 sensitivity"
        for name, rho in rhos.items()
        if rho > 0
    ]


def _rounded_down(value: Fraction) -> str:
    """The number as a decimal with six digits, rounded down."""
    digits = 6 - len(str(int(value)))
    if digits <= 0:
        return str(int(value))
    scale = Fraction(10) ** digits
    return exact_text(float(int(value * scale) / scale))


def remaining(plain: Mapping[str, Any]) -> list[str]:
    """What a program's cost rests on beside what a release says of all its queries."""
    derivation = stated_derivation(plain)
    derived = derive(derivation)
    check_claim(derivation.conclusion, derived)
    return _remaining(derived)


def _remaining(derived: Derived) -> list[str]:
    assumed = assumptions_from(derived)
    return [*(words for words in assumed if not words.startswith(_SAID)), COMPUTED]


COMPUTED = (
    "what it returned is what the interpreter computed from its releases; no number of it is "
    "checked"
)
_SAID = ("adjacency is", "not protected")


def _fields(
    derived: Derived, stated: Mapping[str, Any], columns: Columns, where: str
) -> dict[str, str]:
    """The table's columns of the fields that are read; none is public for the program alone."""
    program = derived.program
    read = frozenset(name for command in program.body for name in _read(command))
    # What is returned, and what is asked of the table first, may hold sums of public columns too.
    read = read.union(*map(columns_of, (*program.returns, *program.requires)))
    read = columns_behind(program, read)
    types = program.columns if program.persons is None else dict(program.persons.rows)
    agree(sorted(stated), sorted(read), "fields", where)
    fields: dict[str, str] = {}
    for name, column in stated.items():
        require(column in columns, f"column {column!r} is not declared", where)
        declared = columns[column]
        public = not declared.is_private
        known = types[name]
        require(public or not known.public, f"{column!r} is protected, not public", where)
        _check_type(known, declared, f"{where}: {column}")
        fields[name] = column
    return fields


def _check_type(known: ColumnType, declared: AnyColumn, where: str) -> None:
    """The study's column holds such values; of one without states and bounds nothing is said."""
    states = declared.levels
    ends = declared.bounds if isinstance(declared, Numeric) else None
    values = list(states if states is not None else ends or ())
    if known.kind == "category":
        fits = ends is None and all(isinstance(value, str) for value in values)
        require(
            fits and set(values) <= set(known.labels),
            "the column has other states than the program's labels",
            where,
        )
        return
    numbers = all(isinstance(value, bool | int | float) for value in values)
    require(numbers, "the column holds texts, and the program reads numbers", where)
    if known.kind == "bool":
        require(
            ends is None and set(values) <= {0, 1},
            "the column does not hold truth values, which the program reads",
            where,
        )
    elif known.kind == "int":
        whole = all(Fraction(value).denominator == 1 for value in values)
        require(whole, "the column does not hold whole numbers, which the program reads", where)
    if ends is not None:
        meets = known.low <= exact(ends[1]) and exact(ends[0]) <= known.high
        require(meets, "the column's bounds lie apart from the program's", where)


def _read(command: Command) -> Iterator[str]:
    """The fields of the record that a command reads, public ones too."""
    if isinstance(command, Release):
        for node in (*command.args, *dict(command.options).values()):
            yield from columns_of(node)
    elif isinstance(command, Derive):
        yield from columns_of(command.value)
    elif isinstance(command, Branch):
        yield from columns_of(command.test)
        for side in command.sides:
            for inner in side:
                yield from _read(inner)
    else:
        assert isinstance(command, Parts)
        yield command.column
        for _, part in command.parts:
            for inner in part:
                yield from _read(inner)


def _check_kind(
    spend: Spend,
    derived: Derived,
    fields: Mapping[str, str],
    columns: Columns,
    where: str,
) -> None:
    """Lipschitz only where the program is, in a column that is read as it stands in the table."""
    if spend.kind == "any":
        require(
            spend.column is None,
            "a column or an interval belongs to the kind lipschitz only",
            where,
        )
        return
    kind, field, place = derived.kind
    require(
        spend.kind == kind == "lipschitz" and place is not None,
        "the stated kind is not the one that is derived",
        where,
    )
    assert place is not None
    name = fields[field or ""]
    read_as_it_is = not isinstance(columns[name], Cut | Condition)
    plain = read_as_it_is and columns[name].missing == "refuse"
    require(
        plain and spend.column == label(name, columns[name]),
        "the stated column is not the one that the program reads as it stands",
        where,
    )
    interval = tuple(exact(end) for end in spend.interval or ())
    reason = f"interval: {spend.interval!r} is stated, {[*map(float, place)]!r} is due"
    require(interval == place, reason, where)
    at_least(spend.slack, ball(exact(spend.dp_epsilon) * slack(place)), f"{where}: slack")


def slack(place: Sequence[Fraction]) -> Fraction:
    """What the interpreter's steps add for each record that moves, relative to the width."""
    low, high = place
    return 2 * COARSEST * (max(abs(low), abs(high)) / (high - low) + 1)


__all__ = ["MECHANISM", "RULE", "Asked", "program_query"]
