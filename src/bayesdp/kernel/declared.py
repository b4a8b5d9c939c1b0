"""What a certificate may say at all: its keys, its fixed words, and the states of its columns.

A reader takes every line of a certificate for checked. So a key that no rule reads is refused, and
prose is either derived again (`assumptions`) or always the same (`NOT_PROTECTED`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from unicodedata import category

from bayesdp.kernel.arithmetic import UnknownError, require
from bayesdp.kernel.keys import check_steps
from bayesdp.kernel.populations import group_size, shape
from bayesdp.kernel.queries import condition, states_of

NOT_PROTECTED = (
    "that somebody's record is in the table, and how many records there are",
    "columns declared public, and who belongs to which cluster or series",
    "facts about the group or the population that would be learned without the record too",
)
"""What no level of a release protects."""

_ALWAYS = frozenset(
    {"format", "version", "digest", "signature", "software", "rounding", "claim", "population"}
    | {"assumptions", "derivation"}
)
_OF_A_RELEASE = _ALWAYS | {
    "release", "time", "dataset", "unit", "rows_per_unit", "n", "columns", "public_blocks",
    "programs", "results", "data_set", "not_protected",
}  # fmt: skip
_CLAIM = frozenset(
    {"notion", "epsilon", "delta", "dp_epsilon", "dp_rho", "adversary", "scope", "secrets"}
)
_DATA_SET = frozenset(
    {"level", "delta", "dp_epsilon", "dp_rho", "total", "secrets", "earlier_spends"}
)
_RESULT = frozenset(
    {"query", "kind", "group", "cell", "rows", "value", "unit", "error", "noise"}
    | {"dp_epsilon", "dp_rho"}
)
_QUERY = frozenset({"name", "kind", "column", "where", "by", "bins", "tightness"})
_PROGRAM = frozenset({"name", "kind", "program", "parameters"})
_PROGRAM_RESULT = frozenset({"query", "kind", "outputs", "releases", "dp_epsilon", "dp_rho"})
_STEP = frozenset({"rule", "conclusion", "evidence", "premises"})
_GAUSSIAN = "discrete-gaussian"
_LISTS = frozenset(
    {"assumptions", "results", "programs", "public_blocks", "not_protected", "earlier_spends"}
    | {"premises", "spends", "reads", "covers", "independent", "interval", "by_column", "assuming"}
    | {"alpha"}
)
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_ROLES = ("cluster", "member", "series", "order")
_DISCRETE = ("markov", "graph", "tree", "finite", "network")


def check_declared(document: Mapping[str, Any]) -> None:
    """`InvalidError` for keys that mean nothing, other fixed words, and other states."""
    rule, claim = document["derivation"]["rule"], document["claim"]
    for step in _steps(document["derivation"]):
        _known(step, _STEP, str(step["rule"]))
    check_steps(document)
    _check_texts(document)
    _check_lists(document)
    if rule == "relations":
        _known(document, _ALWAYS | {"declared"}, "content")
        _known(claim, frozenset({"claims", "parameters"}), "claim")
    elif rule == "program":
        _known(document, _ALWAYS - {"population"}, "content")
    elif rule != "release":
        _known(document, _ALWAYS, "content")
        _known(claim, _CLAIM | {"dp_delta", "cost"}, "claim")
    else:
        _known(document, _OF_A_RELEASE, "content")
        _known(claim, _CLAIM, "claim")
        _check_release(document)


def _check_texts(document: Mapping[str, Any]) -> None:
    """Texts of one line without characters that hide or turn what is shown; a time that is one."""
    for name in ("software", "release", "time", "dataset", "unit"):
        _shown(document.get(name, ""), name)
    if document.get("population") is not None:
        _shown_sources(document["population"])
    for step in _steps(document["derivation"]):
        if "query" in step["evidence"]:
            _shown(step["evidence"]["query"]["name"], "query")
    if "time" in document:
        try:
            datetime.fromisoformat(document["time"])
        except ValueError:
            require(False, "no time", "time")


def _shown(told: Any, where: str) -> None:
    require(isinstance(told, str), "no text", where)
    hidden = any(category(one) in _HIDDEN for one in told)
    require(not hidden, "a character that isn't shown", where)


def _shown_sources(population: Mapping[str, Any]) -> None:
    _shown(population.get("source", ""), "source")
    for member in population.get("members", ()):
        _shown_sources(member)


def _check_lists(document: Mapping[str, Any]) -> None:
    """Where a list is read there is one: of an object only the keys would be looked at."""
    parts: list[Mapping[str, Any]] = [document, document.get("data_set", {})]
    spends = list(document.get("data_set", {}).get("earlier_spends", ()))
    for step in _steps(document["derivation"]):
        evidence = step["evidence"]
        parts += [step, evidence]
        if isinstance(evidence.get("delta"), Mapping):
            parts.append(evidence["delta"])
        spends += [*evidence.get("spends", ()), *filter(None, [evidence.get("spend")])]
        if "cost" in evidence:
            parts.append(evidence["cost"])
    parts += [*document.get("programs", ()), *spends]
    if document.get("population") is not None:
        parts.append(document["population"])
    for part in parts:
        for name in _LISTS & set(part):
            lists = part[name] is None or isinstance(part[name], list)
            require(lists, "no list", name)


def _check_release(document: Mapping[str, Any]) -> None:
    words = document["not_protected"]
    require(words == list(NOT_PROTECTED), "it is the same for all certificates", "not_protected")
    _known(document["data_set"], _DATA_SET, "data_set")
    asked = [
        step["evidence"]["query"]
        for step in _steps(document["derivation"])
        if "query" in step["evidence"]
    ]
    columns: Mapping[str, Mapping[str, Any]] = document["columns"]
    programs = [query for query in asked if query["kind"] == "program"]
    asked = [query for query in asked if query["kind"] != "program"]
    for query in programs:
        _known(query, _PROGRAM, "query")
    for query in asked:
        _known(query, _QUERY, "query")
        require("bins" not in query or query["kind"] == "histogram", "bins of no use", "query")
        if "where" in query:
            _check_literals(query["where"], columns, query["name"])
    for column in columns.values():
        if "where" in column and column.get("from") in columns:
            _check_literals(column["where"], columns, "columns")
    units = {query["name"]: _unit(query, columns) for query in asked}
    for result in document["results"]:
        if result["kind"] == "program":
            _known(result, _PROGRAM_RESULT, "results")
            continue
        _known(result, _RESULT, "results")
        unread = "dp_epsilon" if result["noise"]["distribution"] == _GAUSSIAN else "dp_rho"
        require(unread not in result, f"no rule says what {unread!r} means", "results")
        _known(result["error"], frozenset({"confidence", "value"}), "results")
        _known(result["noise"], frozenset({"distribution", "scale", "step"}), "results")
        require(result["unit"] == units.get(result["query"]), "another unit", "results")
    _check_roles(document["population"], columns)
    if document["population"] is not None:
        _check_states(document["population"], columns)


def _steps(step: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield step
    for premise in step["premises"]:
        yield from _steps(premise)


def _known(part: Mapping[str, Any], keys: frozenset[str], where: str) -> None:
    unknown = sorted(set(part) - keys)
    require(not unknown, f"no rule says what {unknown} means", where)


def _unit(query: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> str:
    """The unit of what is released: a column's for sums and means of it."""
    summed = query["kind"] in ("sum", "mean")
    return str(columns[query["column"]].get("unit", "") if summed else "")


# -- roles ------------------------------------------------------------------------------------


def _check_roles(
    population: Mapping[str, Any] | None, columns: Mapping[str, Mapping[str, Any]]
) -> None:
    """Known roles, each of one column at most, and those that the population needs."""
    roles = [column["role"] for column in columns.values() if "role" in column]
    require(all(role in _ROLES for role in roles), "no such role", "columns")
    require(len(set(roles)) == len(roles), "two columns of one role", "columns")
    for one in (population or {}).get("members", [population] if population else []):
        model = one["model"]
        clustered = model in ("clusters", "finite") or (
            model == "gaussian" and "precision" not in one
        )
        if clustered and "cluster" not in roles:
            require(group_size(one) == 1, "no column says who is in which cluster", "columns")
        if model in ("markov", "autoregressive"):
            require("order" in roles, "no column says in which order records come", "columns")
        if one.get("roles") is not None:
            require("member" in roles, "no column says which record is which", "columns")


# -- states --------------------------------------------------------------------------------


def _check_literals(text: str, columns: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """A value that a condition compares a column of states with is one of them."""
    for node in ast.walk(condition(text)):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        for left, one, right in zip(sides, node.ops, sides[1:], strict=False):
            if not isinstance(one, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                continue
            named, other = (left, right) if isinstance(left, ast.Name) else (right, left)
            states = states_of(columns[named.id]) if isinstance(named, ast.Name) else None
            if states is None:
                continue
            for value in _values(other):
                require(value in states, f"{value!r} is no state of the column", where)


def _values(node: ast.expr) -> list[Any]:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [ast.literal_eval(item) for item in node.elts]
    return [ast.literal_eval(node)]


def _check_states(population: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> None:
    """A discrete model speaks of columns that have as many states, together, as its records."""
    names = population.get("covers", [])
    if not names:
        return
    covered = math.prod(len(states_of(columns[name]) or []) for name in names)
    for member in population.get("members", [population]):
        if member.get("model") in _DISCRETE:
            require(covered == _states(member), "states that the model doesn't have", "covers")


def _states(population: Mapping[str, Any]) -> int:
    """How many states every record of a discrete model has; 0 where records differ."""
    model = population["model"]
    if model == "markov":
        return len(population.get("transition") or population["transition_lower"])
    if model == "finite":
        sizes = set(shape(population["probabilities"]))
    elif model == "tree":
        sizes = {
            len(one["law"] if "law" in one else one["transition"][0]) for one in _nodes(population)
        }
    elif model == "network":
        told = [one["states"] for one in _nodes(population)]
        sizes = {one if isinstance(one, int) else len(one) for one in told}
    elif isinstance(population.get("states"), list):
        sizes = set(population["states"])
    else:
        sizes = {population["states"] if "states" in population else len(population["table"])}
    return int(sizes.pop()) if len(sizes) == 1 else 0


def _nodes(population: Mapping[str, Any]) -> list[Any]:
    if "nodes" not in population:
        raise UnknownError("the network is in a file that the kernel does not read", "population")
    return list(population["nodes"])
