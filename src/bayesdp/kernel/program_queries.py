"""A query of a release that is a program: its cost derived again, and what it reads of the table.

The step's one premise is the derivation of the program's own certificate. Here it is held against
the study: the same adjacency and number of records, no column public for the program that the study
protects, and a spend that says what is read and costs no less than derived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import ball, exact, require
from bayesdp.kernel.core import at_least
from bayesdp.kernel.programs.document import Derived, assumptions_of, check_claim, derive
from bayesdp.kernel.programs.reading import Branch, Command, Derive, Node, Parts, Release, pieces
from bayesdp.kernel.queries import Columns, label, labels

RULE = "program"
MECHANISM = "program"
COARSEST = Fraction(1, 2**31)
"""The interpreter's steps are at most this share of the largest value that one record may add."""


@dataclass(frozen=True)
class Asked:
    """A program as a query of a study: its spends, and what a certificate has to say of it."""

    spends: tuple[Mapping[str, Any], ...]
    told: Mapping[str, Any]


def program_query(
    step: Mapping[str, Any],
    body: Mapping[str, Any],
    covers: list[str],
    independent: list[str],
) -> Asked:
    """`InvalidError` unless the study allows the program and its spends cover its cost."""
    evidence, conclusion, premises = step["evidence"], step["conclusion"], step["premises"]
    query, columns = evidence["query"], body["columns"]
    where = f"program: {query['name']}"
    require(len(premises) == 1, "not one derivation", where)
    derived = derive(premises[0])
    check_claim(premises[0]["conclusion"], derived)
    program = derived.program
    require(body["unit"] == "row", "a record of the program is one row", where)
    require(program.adjacency == "replace-one", "another adjacency", where)
    require(derived.n in (None, body["n"]), "another number of records", where)
    fields = _fields(derived, evidence["fields"], columns, where)
    reads = sorted(labels(columns, set(fields.values()), covers, independent))
    require(bool(reads), "it reads nothing that is protected", where)
    epsilon, delta = derived.cost
    require(delta == 0, "a program with a delta has no pure cost", where)
    (spend,) = evidence["spends"]
    told = {
        "query": (spend["query"], query["name"]),
        "dataset": (spend["dataset"], body["dataset"]),
        "unit": (spend["unit"], "row"),
        "reads": (sorted(spend["reads"]), reads),
        "mechanism": (spend["mechanism"], MECHANISM),
        "delta": (spend["dp_delta"], 0.0),
        "rho": (spend.get("rho", 0.0), 0.0),
        "block": (spend.get("block"), None),
        "conclusion": (conclusion["kind"], spend["kind"]),
        "notion": (conclusion["notion"], "dp"),
    }
    for what, (stated, due) in told.items():
        require(stated == due, f"{what}: {stated!r} is stated, {due!r} is due", where)
    at_least(spend["dp_epsilon"], ball(epsilon), f"{where}: cost")
    at_least(conclusion["epsilon"], ball(exact(spend["dp_epsilon"])), where)
    require(set(conclusion) == {"notion", "epsilon", "kind"}, "more than derived", where)
    _check_kind(spend, derived, fields, columns, where)
    return Asked((spend,), described(query, premises[0]))


def described(query: Mapping[str, Any], derivation: Mapping[str, Any]) -> dict[str, Any]:
    """What a certificate says of a program: its text's digest, and what its cost rests on."""
    return {
        "query": query["name"],
        "program": query["program"],
        "source": derivation["evidence"]["program"]["source"],
        "assuming": remaining(derivation),
    }


def remaining(derivation: Mapping[str, Any]) -> list[str]:
    """What a program's cost rests on beside what a release says of all its queries."""
    return [one for one in assumptions_of(derivation) if not one.startswith(_SAID)]


_SAID = ("adjacency is", "not protected")


def _fields(
    derived: Derived, stated: Mapping[str, Any], columns: Columns, where: str
) -> dict[str, str]:
    """The table's columns of the fields that are read; none is public for the program alone."""
    read = {name for command in derived.program.body for name in _read(command)}
    require(set(stated) == read, "the fields are not those that are read", where)
    fields: dict[str, str] = {}
    for name, column in stated.items():
        require(column in columns, f"column {column!r} is not declared", where)
        declared = columns[column]
        public = declared.get("public") is True or "role" in declared
        known = derived.program.columns[name]
        require(public or not known.public, f"{column!r} is protected, not public", where)
        fields[name] = column
    return fields


def _read(command: Command) -> Iterator[str]:
    """The fields of the record that a command reads, public ones too."""
    if isinstance(command, Release):
        for node in (*command.args, *command.options.values()):
            yield from _in(node)
    elif isinstance(command, Derive):
        yield from _in(command.value)
    elif isinstance(command, Branch):
        yield from _in(command.test)
        for side in command.sides:
            for one in side:
                yield from _read(one)
    else:
        assert isinstance(command, Parts)
        yield command.column
        for _, part in command.of:
            for one in part:
                yield from _read(one)


def _in(node: Node) -> Iterator[str]:
    for one in node.walk():
        if one.op == "field":
            yield str(one.data[0])
        elif one.op == "data":
            yield from (column for column, _ in pieces(one))


def _check_kind(
    spend: Mapping[str, Any],
    derived: Derived,
    fields: Mapping[str, str],
    columns: Columns,
    where: str,
) -> None:
    """Lipschitz only where the program is, in a column that is read as it stands in the table."""
    if spend["kind"] == "any":
        told = (spend["column"], spend["interval"], spend["slack"])
        require(told == (None, None, 0.0), "a column, interval or slack of kind any", where)
        return
    kind, field, place = derived.kind
    require(spend["kind"] == kind == "lipschitz" and place is not None, "another kind", where)
    assert place is not None
    name = fields[field or ""]
    plain = (
        not ({"from", "missing"} & set(columns[name])) or columns[name].get("missing") == "refuse"
    )
    require(plain and spend["column"] == label(name, columns[name]), "another column", where)
    require([exact(end) for end in spend["interval"]] == list(place), "another interval", where)
    require(place[0] < place[1], "an empty interval", where)
    at_least(spend["slack"], ball(exact(spend["dp_epsilon"]) * slack(place)), f"{where}: slack")


def slack(place: Sequence[Fraction]) -> Fraction:
    """What the interpreter's steps add for each record that moves, relative to the width."""
    low, high = place
    return 2 * COARSEST * (max(abs(low), abs(high)) / (high - low) + 1)


def check_program_results(
    results: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]
) -> None:
    """One result for each program, in order, whose cost is not understated."""
    require(len(results) == len(steps), "not as many as were asked for", "results")
    for result, step in zip(results, steps, strict=True):
        query = step["evidence"]["query"]
        where = f"result: {query['name']}"
        require(result["query"] == query["name"], "another query", where)
        stated, proven = exact(result["dp_epsilon"]), exact(step["conclusion"]["epsilon"])
        require(stated >= proven, "its DP cost is understated", where)


__all__ = ["MECHANISM", "RULE", "Asked", "check_program_results", "described", "program_query"]
