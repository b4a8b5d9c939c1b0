"""The results of a release that are programs': what can be held against the program itself.

Releases are those that the program makes, of the shape that they have; outputs are as many as it
returns, called what it calls them; and an output that is a release as it stands has its value. What
the interpreter computed beyond that is not computed anew, and the certificate says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesdp.kernel.arithmetic import exact, require
from bayesdp.kernel.composition import close
from bayesdp.kernel.core import same
from bayesdp.kernel.programs.reading import (
    Command,
    Node,
    Parts,
    Program,
    Release,
    flat,
    items,
    read_program,
    text,
)
from bayesdp.statements.base import is_shown

_ABOUT = frozenset({"type", "name", "unit", "cells", "error"})
_ANSWERS = frozenset({"labels", "answers"})
_DISTRIBUTION = frozenset(
    {"family", "mean", "sd", "interval95", "notes", "parameters", "components", "names"}
    | {"quadrature_error", "draws", "diagnostics"}
)
_SHAPES = (frozenset({"value"}), _ANSWERS, _DISTRIBUTION)
"""What an output may say beside what it is about: a value, answers, or a distribution."""


def check_program_results(
    results: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]
) -> None:
    """One result for each program, in order, whose cost is not understated."""
    require(len(results) == len(steps), "not as many as were asked for", "results")
    for result, step in zip(results, steps, strict=True):
        query = step["evidence"]["query"]
        where = f"result: {query['name']}"
        require(result["query"] == query["name"], "another query", where)
        require(result["kind"] == "program", "another kind of query", where)
        for told, concluded in (("dp_epsilon", "epsilon"), ("dp_rho", "rho")):
            proven, stated = (
                exact(step["conclusion"].get(concluded, 0.0)), exact(result.get(told, 0.0)),
            )  # fmt: skip
            require(stated >= proven, "its DP cost is understated", where)
            require(close(stated, proven), "its DP cost is overstated", where)
        _check_answer(result, read_program(step["premises"][0]["evidence"]["program"]), where)


def _check_answer(result: Mapping[str, Any], program: Program, where: str) -> None:
    releases, outputs = result["releases"], items(result["outputs"], "outputs")
    require(isinstance(releases, Mapping), "no releases", where)
    made = {one.name: one for one in flat(program.body) if isinstance(one, Release)}
    require(set(releases) <= set(made), "a release that the program doesn't make", where)
    for name, value in releases.items():
        _check_released(made[name], value, program, f"{where}: {name}")
    _check_shown([releases, outputs], where)
    for one in outputs:
        require(isinstance(one, Mapping), "an output", where)
        _check_output(one, where)
    if outputs and outputs[-1]["type"] == "failure":
        _check_failure(outputs, releases, where)
        return
    require(_always(program.body) <= set(releases), "a release is missing", where)
    returned = list(zip(program.return_types, program.returns, strict=True))
    require(len(outputs) == len(returned), "not as many outputs as are returned", where)
    for output, (kind, node) in zip(outputs, returned, strict=True):
        require(output["type"] == kind, "an output of another type", where)
        if node.op == "public" and node.data[0] in releases:
            due = releases[str(node.data[0])]
            require(_is(output, due), "an output that is not what was released", where)


def _check_shown(told: Any, where: str) -> None:
    """All texts in it are lines of visible letters, and so are its keys."""
    if isinstance(told, str):
        require(is_shown(told), "a letter that isn't shown as it stands", where)
    elif isinstance(told, Mapping):
        for key, part in told.items():
            _check_shown(key, where)
            _check_shown(part, where)
    elif isinstance(told, list):
        for part in told:
            _check_shown(part, where)


def _check_output(output: Mapping[str, Any], where: str) -> None:
    """No key that means nothing."""
    said = set(output) - _ABOUT
    require(bool(said) and any(said <= shape for shape in _SHAPES), "an output's keys", where)
    text(output["type"], "a type")
    for key in ("name", "unit"):
        text(output.get(key, ""), key)
    require(all(isinstance(one, str) for one in items(output.get("cells", []), "cells")), "cells")
    if "error" in output:
        error = output["error"]
        require(set(error) == {"confidence", "value"}, "an error's keys", where)
        require(0 < exact(error["confidence"]) < 1, "no such confidence", where)
        require(exact(error["value"]) >= 0, "its error is negative", where)


def _check_failure(
    outputs: Sequence[Mapping[str, Any]], releases: Mapping[str, Any], where: str
) -> None:
    """A program that failed hands over what it had released, and why there is no more."""
    *released, failure = outputs
    require(isinstance(failure.get("value"), str), "a failure without words", where)
    require(len(released) == len(releases), "not what was released until it failed", where)
    for output, value in zip(released, releases.values(), strict=True):
        same_one = output["type"] == "released" and _is(output, value)
        require(same_one, "not what was released until it failed", where)


def _is(output: Mapping[str, Any], value: Any) -> bool:
    said = {key: one for key, one in output.items() if key not in _ABOUT}
    return same(said, value if isinstance(value, Mapping) else {"value": value})


def _check_released(release: Release, value: Any, program: Program, where: str) -> None:
    """Numbers where noise was added to numbers; whole ones where those are counted."""
    if isinstance(value, Mapping):
        noisy = release.op in ("randomized-response", "per-record-exponential")
        keys = _ANSWERS if noisy else _DISTRIBUTION
        chosen = noisy or (release.op == "exponential" and release.args[0].op == "hellinger")
        require(chosen and set(value) <= keys, "no released value", where)
        return
    several = isinstance(value, list) and release.op in ("laplace", "gaussian")
    numbers = value if several else [value]
    for one in numbers:
        exact(one, where)
    if release.op in ("laplace", "gaussian") and _counted(release.args[0], program):
        require(all(isinstance(one, int) for one in numbers), "a count is a whole number", where)


def _counted(node: Node, program: Program) -> bool:
    """A plain count, or a sum of a Bool or Int column: noise on it comes in steps of 1."""
    if node.op != "sum":
        return node.op == "count"
    value = node.args[0].args[1]
    return value.op == "field" and program.columns[str(value.data[0])].kind in ("bool", "int")


def _always(commands: Sequence[Command]) -> set[str]:
    """The releases that are made whatever is released before."""
    found: set[str] = set()
    for one in commands:
        if isinstance(one, Release):
            found.add(one.name)
        elif isinstance(one, Parts):
            found = found.union(*(_always(part) for _, part in one.of))
    return found


__all__ = ["check_program_results"]
