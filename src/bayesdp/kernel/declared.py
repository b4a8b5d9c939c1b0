"""What a certificate may say at all: its keys, its fixed words, and the states of its columns.

A reader takes every line of a certificate for checked. So a key that no rule reads is refused, and
prose is either derived again (`assumptions`) or always the same (`NOT_PROTECTED`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from bayesdp.kernel.arithmetic import require
from bayesdp.kernel.keys import check_steps
from bayesdp.kernel.program_queries import RULE as PROGRAM
from bayesdp.kernel.stated import (
    check_together,
    stated_columns,
    stated_query,
)
from bayesdp.statements.base import is_shown

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
_PROGRAM_RESULT = frozenset({"query", "kind", "outputs", "releases", "dp_epsilon", "dp_rho"})
_STEP = frozenset({"rule", "conclusion", "evidence", "premises"})
_GAUSSIAN = "discrete-gaussian"
_LISTS = frozenset(
    {"assumptions", "results", "programs", "public_blocks", "not_protected", "earlier_spends"}
    | {"premises", "spends", "reads", "covers", "independent", "interval", "by_column", "assuming"}
    | {"alpha", "proofs", "flows", "K", "x_K", "declared", "claims", "hypotheses", "bins"}
    | {"members", "nodes", "factors", "between", "solvers", "secret"}
)
_NUMBERS = frozenset(
    {"epsilon", "delta", "dp_epsilon", "dp_rho", "dp_delta", "rho", "level", "total", "any"}
    | {"lipschitz", "slack", "rho_any", "rho_lipschitz", "rho_slack", "lo", "hi", "scale", "bits"}
    | {"width", "confidence", "sensitivity", "sensitivity_squared", "multiplier", "n", "rows"}
    | {"rows_per_unit", "size", "default", "i", "x_i", "x_i'"}
)
_OF_NUMBERS = frozenset({"interval", "alpha", "step", "K", "x_K", "bins"})
_OF_THE_DATA = frozenset(
    {"columns", "where", "group", "cell", "values", "program", "parameters"}
    | {"obligations", "outputs", "releases", "fields", "population", "signature"}
)
_OF_A_PROGRAM = frozenset({"obligations", "labels", "columns", "population"})
"""What names of the user's, values of the data and programs stand under: it has its own readers."""

_SOFTWARE = re.compile(r"bayesdp [0-9]+(\.[0-9]+)*[0-9A-Za-z.+-]{0,40}")


def check_declared(document: Mapping[str, Any]) -> None:
    """`InvalidError` for keys that mean nothing, other fixed words, and other states."""
    rule, claim = document["derivation"]["rule"], document["claim"]
    for step in _steps(document["derivation"]):
        _known(step, _STEP, str(step["rule"]))
        flags = [value for key, value in step["conclusion"].items() if key in _NUMBERS]
        require(not any(isinstance(one, bool) for one in flags), "no number", str(step["rule"]))
    population = check_steps(document)
    _check_texts(document)
    _check_kinds(document, read=rule != PROGRAM)
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
        _check_release(document, population)


def _check_texts(document: Mapping[str, Any]) -> None:
    """Texts of one line without characters that hide or turn what is shown; a time that is one."""
    for name in ("software", "release", "time", "dataset", "unit"):
        _shown(document.get(name, ""), name)
    if document.get("population") is not None:
        _shown_sources(document["population"])
    for step in _steps(document["derivation"]):
        if "query" in step["evidence"]:
            _shown(step["evidence"]["query"]["name"], "query")
    written_by = _SOFTWARE.fullmatch(document["software"]) is not None
    require(written_by, "no name of this package with a version", "software")
    if "time" in document:
        try:
            datetime.fromisoformat(document["time"])
        except ValueError:
            require(False, "no time", "time")


def _shown(told: Any, where: str) -> None:
    require(isinstance(told, str), "no text", where)
    require(is_shown(told), "a character that isn't shown", where)


def _shown_sources(population: Mapping[str, Any]) -> None:
    _shown(population.get("source", ""), "source")
    for member in population.get("members", ()):
        _shown_sources(member)


def _check_kinds(node: Any, key: str = "", read: bool = True) -> None:
    """Lists where lists are read, numbers where numbers are; texts of one line everywhere.

    Of an object that stands for a list only the keys would be looked at, and true counts as 1. What
    a program is made of is not `read` here: it has its own reader.
    """
    if read and key in _LISTS:
        require(node is None or isinstance(node, list), "no list", key)
    if read and key in _NUMBERS and not (key == "delta" and isinstance(node, Mapping)):
        number = isinstance(node, int | float) and not isinstance(node, bool)
        require(node is None or number, "no number", key)
    if read and key in _OF_NUMBERS and isinstance(node, list):
        require(not any(isinstance(part, bool | str) for part in node), "no numbers", key)
    if isinstance(node, str):
        require(is_shown(node), "a hidden character", key)
    if isinstance(node, Mapping):
        inside = read and not (node.get("rule") == PROGRAM and "program" in node["evidence"])
        for name, part in node.items():
            if name not in (_OF_THE_DATA if inside else _OF_A_PROGRAM):
                _check_kinds(part, name, inside)
    elif isinstance(node, list):
        for part in node:
            _check_kinds(part, "", read)


def _check_release(document: Mapping[str, Any], population: Any) -> None:
    words = document["not_protected"]
    require(words == list(NOT_PROTECTED), "it is the same for all certificates", "not_protected")
    _known(document["data_set"], _DATA_SET, "data_set")
    asked = [
        step["evidence"]["query"]
        for step in _steps(document["derivation"])
        if "query" in step["evidence"]
    ]
    columns: Mapping[str, Mapping[str, Any]] = document["columns"]
    stated = stated_columns(columns)
    for query in asked:
        stated_query(query, stated)
    asked = [query for query in asked if query["kind"] != "program"]
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
    check_together(document, population, stated)


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
