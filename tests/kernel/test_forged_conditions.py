"""Conditions that say nothing or two things, and texts that hide letters, on valid certificates."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayesdp.errors import InputError
from bayesdp.populations import parse
from bayesdp.release import Study
from bayesdp.statements import StatementError, read_population
from tests.kernel.statements import read_spend
from tests.kernel.test_forgeries import (
    ALONE,
    CLUSTER,
    COUNT,
    ROOMS,
    ROWS,
    TREE,
    Document,
    S,
    X,
    composed,
    everywhere,
    refused,
    released,
    renewed,
)

G = {"public": True, "states": ["n", "s"]}
COLUMNS = ROOMS | {"g": G, "high": {"from": "x", "where": "x > 165"}}
OF_X = {"kind": "count", "where": "x > 165"}
CONDITIONS = {
    "comment": "x > 165 # and g == 'n', of adults only",
    "bidi-newline": "x > 165 # \u202e and g == 'n'\n# \u2066 level 0.1",
    "literal-hidden": "(x > 165) or (x != '\u202e\u200b')",
    "escaped-hidden": "x > 165 and g != '\\u202e'",
    "bare-column": "x",
    "text-number": "x == 'tall'",
    "of-itself": "x in x",
    "choice": "x > 165 if x else x",
    "list-of-column": "[x] == [1]",
    "none": "x > None",
    "complex": "x > 1j",
    "ellipsis": "-x > ...",
    "infinite": "x > 1e999",
    "bytes": "x > b'1'",
    "truth-value": "x > True",
    "other-letters": "ｘ > 165",
    "newline": "x > 165\n",
    "order-of-texts": "x > 165 and g < 'n'",
    "no-state": "x > 165 and g == 'w'",
    "not-exact": "x > 9007199254740993",
    "no-text": 1,
}


@pytest.mark.parametrize("case", CONDITIONS)
def test_of_a_query(case: str) -> None:
    document = copy.deepcopy(released(COLUMNS, ALONE, OF_X, covers="x"))
    composed(document)["premises"][0]["evidence"]["query"]["where"] = CONDITIONS[case]
    refused(renewed(document), "")


@pytest.mark.parametrize("case", CONDITIONS)
def test_of_a_column(case: str) -> None:
    document = copy.deepcopy(released(COLUMNS, ALONE, OF_X, covers="x"))
    document["columns"]["high"]["where"] = CONDITIONS[case]
    refused(renewed(document), "columns")


@pytest.mark.parametrize("case", sorted(set(CONDITIONS) - {"no-text"}))
def test_the_tool_says_no_such_thing(case: str, tmp_path: Path) -> None:
    def asked(where: Any, **columns: Any) -> object:
        return Study(
            ROWS,
            dataset="d",
            n=8,
            columns=COLUMNS | columns,
            population=ALONE | {"source": "someone", "covers": ["x"]},
            budget={"epsilon": 1.0},
            queries=[{"name": "c", "kind": "count", "where": where}],
            ledger=str(tmp_path / "ledger.db"),
        ).check()

    assert asked("x > 165")
    with pytest.raises(InputError):
        asked(CONDITIONS[case])
    with pytest.raises(InputError):
        asked("x > 165", high={"from": "x", "where": CONDITIONS[case]})


# -- letters that hide or turn what is shown ------------------------------------------------------

HIDDEN = ["a\u202eb", "a\u200bb", "a\nb", "a\u2028b"]


@pytest.mark.parametrize("name", [*HIDDEN, ""])
def test_names_of_a_trees_nodes(name: str) -> None:
    def rename(population: Document) -> None:
        population["nodes"][0]["name"] = name

    document = copy.deepcopy(released({"s": S, "x": X}, TREE, COUNT))
    everywhere(document, rename)
    refused(renewed(document), "population")
    with pytest.raises(InputError):
        parse({"model": "tree", "nodes": [{"name": name, "law": [0.5, 0.5]}], "source": "someone"})


@pytest.mark.parametrize("name", HIDDEN)
def test_names_of_a_blocks_column_and_values(name: str) -> None:
    columns = {"fam": CLUSTER, "s": S, "g": G}
    document = released(columns, ALONE, {"kind": "count", "where": "s == 1 and g == 'n'"})
    spend = composed(document)["premises"][0]["evidence"]["spend"]
    assert spend["block"] == {"column": "g", "values": ["n"]}
    with pytest.raises(StatementError, match="shown"):
        read_spend(spend | {"block": {"column": name, "values": ["n"]}})
    with pytest.raises(StatementError, match="shown"):
        read_spend(spend | {"block": {"column": "g", "values": ["n", name]}})


LAW = [[0.25, 0.25], [0.25, 0.25]]
NAMED: dict[str, Callable[[str], Document]] = {
    "a covered column": lambda name: {"model": "clusters", "size": 2, "covers": [name]},
    "a node of a network": lambda name: {
        "model": "network",
        "nodes": [{"name": name, "states": 2, "table": [0.5, 0.5]}],
    },
    "a record of a joint law": lambda name: {
        "model": "finite",
        "probabilities": LAW,
        "roles": ["a", name],
    },
    "a record of a Gaussian law": lambda name: {
        "model": "gaussian",
        "covariance": [[1.0, 0.5], [0.5, 1.0]],
        "roles": ["a", name],
    },
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("what", NAMED)
def test_names_that_the_tool_and_the_statement_refuse(what: str, name: str) -> None:
    spec_of = NAMED[what]
    assert parse(spec_of("b") | {"source": "someone"})
    assert read_population(spec_of("b"))
    with pytest.raises(InputError):
        parse(spec_of(name) | {"source": "someone"})
    with pytest.raises(StatementError):
        read_population(spec_of(name))
