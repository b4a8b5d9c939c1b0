"""The results of a release that are programs': what can be held against the program itself.

Releases are those that the program makes, of the shape that they have; outputs are as many as it
returns, called what it calls them; and an output that is a release as it stands has its value. What
the interpreter computed beyond that is not computed anew, and the certificate says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, agree, exact, require
from bayesdp.kernel.programs.reading import (
    Branch,
    Command,
    Node,
    Parts,
    Program,
    Release,
    flat,
    program_of,
)
from bayesdp.kernel.programs.transitions import transition_names
from bayesdp.kernel.reading import same
from bayesdp.statements.base import StatementError
from bayesdp.statements.columns import Columns
from bayesdp.statements.costs import ProgramStep
from bayesdp.statements.outputs import read_output, read_released

_ABOUT = frozenset({"type", "name", "unit", "cells", "error"})
_FAILED = re.compile(
    r"The rest of the program failed \(.{0,400}\)\. What it released until then has been paid for, "
    r"and is kept\.",
)


def check_program_results(
    results: Sequence[Mapping[str, Any]],
    steps: Sequence[ProgramStep],
    columns: Columns,
) -> None:
    """One result for each program, in order, with its step's cost and outputs that it can have."""
    for result, step in zip(results, steps, strict=True):
        evidence, conclusion, (derivation,) = step.evidence, step.conclusion, step.premises
        name = evidence.query.name
        where = f"result: {name}"
        agree(result["query"], name, "query", where)
        agree(result["kind"], "program", "kind", where)
        for cost_field, proven in (("dp_epsilon", conclusion.epsilon), ("dp_rho", conclusion.rho)):
            its_own = result.get(cost_field, 0.0)
            reason = f"{cost_field}: {its_own!r} is stated, the DP cost of its step is {proven!r}"
            require(exact(its_own) == exact(proven), reason, where)
        units = {columns[name].unit or "" for name in evidence.fields.values()}
        program = program_of(derivation.evidence.program)
        _check_answer(result, program, units, where)


def _check_answer(
    result: Mapping[str, Any], program: Program, units: Collection[str], where: str
) -> None:
    """`InvalidError` unless outputs are those that the program can have, and what it released."""
    releases, outputs = result["releases"], result["outputs"]
    made = {command.name: command for command in flat(program.body) if isinstance(command, Release)}
    require(
        set(releases) <= set(made), "the result has a release that the program does not make", where
    )
    for name, value in releases.items():
        _check_released(made[name], value, program, f"{where}: {name}")
    failed = bool(outputs) and outputs[-1].get("type") == "failure"
    names = _names(result["query"], program, list(releases) if failed else None, len(outputs))
    for output, known in zip(outputs, names, strict=True):
        _check_output(output, where)
        require(
            output.get("name") in known,
            "the output does not have the name that the program gives it",
            where,
        )
        unit = output.get("unit")
        require(
            unit is None or unit in units,
            "the output has a unit that no column of the program has",
            where,
        )
    if failed:
        _check_failure(outputs, releases, where)
        return
    require(
        _always(program.body) <= set(releases),
        "a release that the program always makes is missing",
        where,
    )
    returned = list(zip(program.return_types, program.returns, strict=True))
    require(
        len(outputs) == len(returned),
        "the number of outputs is not that of the values that the program returns",
        where,
    )
    for output, (kind, node) in zip(outputs, returned, strict=True):
        agree(output["type"], kind, "type", where)
        require(_is_of(output, kind), f"the output is not a {kind}, as the program says", where)
        if node.op == "public" and node.data[0] in releases:
            due = releases[str(node.data[0])]
            require(
                _states_value(output, due), "the output is not the value that was released", where
            )
        if "cells" in output:
            agree(tuple(output["cells"]), _cells(node, made, program), "cells", where)


_FAMILIES = {
    "Beta": ("beta",),
    "Gamma": ("gamma",),
    "Dirichlet": ("dirichlet",),
    "Normal": ("normal", "regression", "mixture"),
    "Samples": (
        *("beta", "gamma", "dirichlet", "normal", "regression", "mixture", "pooled", "chain"),
    ),
}
"""The families of the distributions that are announced so; a posterior of several numbers, such as
coefficients, is a Normal one."""
_OF_ONE_NUMBER = ("Beta", "Gamma")
_VALUES: Mapping[str, type | tuple[type, ...]] = {
    "Bool": (bool, int),
    "Int": int,
    "Real": (int, float),
    "Category": str,
    "Vector": list,
    "Matrix": list,
}


def _is_of(output: Mapping[str, Any], kind: str) -> bool:
    """Whether an output has the form of the announced type, and is of a family that it has."""
    if "family" in output:
        several = isinstance(output["mean"], list)
        return output["family"] in _FAMILIES.get(kind, ()) and not (
            several and kind in _OF_ONE_NUMBER
        )
    if "answers" in output:
        return kind in ("Vector", "Samples")
    return kind in _VALUES and isinstance(output["value"], _VALUES[kind])


def _names(
    query: str, program: Program, released: Sequence[str] | None, many: int
) -> list[Collection[str | None]]:
    """What each output may be called: by its piece's labels, or its place among several."""
    if released is not None:
        named: list[Collection[str | None]] = [{f"{query}, {name}"} for name in released]
        return [*named, {None}] if len(named) + 1 == many else [()] * many
    if many == 1:
        return [{None}]
    paths = set(_paths(program.body))
    names: list[Collection[str | None]] = []
    for place in range(many):
        labels = {f"{path}, {number}" for path in paths for number in range(1, many + 1)}
        names.append({f"{query}, {called}" for called in (*paths, *labels, place + 1)})
    return names


def _paths(commands: Sequence[Command], above: tuple[str, ...] = ()) -> Iterator[str]:
    """The labels of every piece of a partition, from the outside."""
    for command in commands:
        if isinstance(command, Parts):
            for label, part in command.parts:
                yield ", ".join((*above, label))
                yield from _paths(part, (*above, label))
        elif isinstance(command, Branch):
            for side in command.sides:
                yield from _paths(side, above)


def _cells(node: Node, made: Mapping[str, Release], program: Program) -> tuple[str, ...]:
    """The labels of the entries of a released table of counts."""
    release = made.get(str(node.data[0])) if node.op == "public" else None
    if release is not None and release.args[0].op == "transitions":
        return transition_names(release.args[0], program.columns)
    if release is None or release.args[0].op != "sum":
        return ()
    row = release.args[0].args[0].args[1]
    return _labels(row.args[0], program) if row.op == "onehot" else ()


def _labels(node: Node, program: Program) -> tuple[str, ...]:
    if node.op == "field":
        return tuple(program.columns[str(node.data[0])].labels) or ("False", "True")
    if node.op != "cross":
        return ("False", "True")
    joined = [""]
    for part in node.args:
        joined = [f"{a}|{b}" if a else b for a in joined for b in _labels(part, program)]
    return tuple(joined)


def _check_output(output: Any, where: str) -> None:
    try:
        read_output(output, where)
    except StatementError as error:
        raise InvalidError(error.reason, error.place) from None


def _check_failure(
    outputs: Sequence[Mapping[str, Any]], releases: Mapping[str, Any], where: str
) -> None:
    """A program that failed hands over what it had released, and why there is no more."""
    *released, failure = outputs
    words = failure.get("value")
    in_these_words = isinstance(words, str) and _FAILED.fullmatch(words) is not None
    require(
        in_these_words and set(failure) == {"type", "value"},
        "the failure is not in the words that every failure has",
        where,
    )
    require(
        len(released) == len(releases),
        "the outputs are not what was released until the program failed",
        where,
    )
    for output, value in zip(released, releases.values(), strict=True):
        is_released = output["type"] == "released" and _states_value(output, value)
        require(
            is_released, "the outputs are not what was released until the program failed", where
        )


def _states_value(output: Mapping[str, Any], value: Any) -> bool:
    said = {key: part for key, part in output.items() if key not in _ABOUT}
    return same(said, value if isinstance(value, Mapping) else {"value": value})


def _check_released(release: Release, value: Any, program: Program, where: str) -> None:
    """Numbers where noise was added to numbers; whole ones where those are counted."""
    try:
        read_released(value, where)
    except StatementError as error:
        raise InvalidError(error.reason, error.place) from None
    noisy = release.op in ("randomized-response", "per-record-exponential")
    posterior = release.op == "exponential" and release.args[0].op == "hellinger"
    fits = not (noisy or posterior)
    if isinstance(value, Mapping):
        fits = noisy if "answers" in value else posterior and "family" in value
    require(fits, "the release does not give values of this form", where)
    if isinstance(value, Mapping):
        return
    several = isinstance(value, list) and release.op in ("laplace", "gaussian")
    numbers = value if several else [value]
    for number in numbers:
        exact(number, where)
    if release.op == "above-threshold":
        places = range(len(release.args[0].args) + 1)
        require(value in places, "the place is not that of a query, or one beyond", where)
    if release.op in ("laplace", "gaussian") and _counted(release.args[0], program):
        whole = all(isinstance(number, int) for number in numbers)
        require(whole, "a count is a whole number", where)


def _counted(node: Node, program: Program) -> bool:
    """A plain count, or a sum of a Bool or Int column: noise on it comes in steps of 1."""
    if node.op != "sum":
        return node.op in ("count", "transitions")
    value = node.args[0].args[1]
    return value.op == "field" and program.columns[str(value.data[0])].kind in ("bool", "int")


def _always(commands: Sequence[Command]) -> set[str]:
    """The releases that are made whatever is released before."""
    made: set[str] = set()
    for command in commands:
        if isinstance(command, Release):
            made.add(command.name)
        elif isinstance(command, Parts):
            made = made.union(*(_always(part) for _, part in command.parts))
    return made


__all__ = ["check_program_results"]
