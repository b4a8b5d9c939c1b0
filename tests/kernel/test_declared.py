"""What certificates may say: which assumptions a population has, and which states."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from bayesdp.certificate import digest
from bayesdp.kernel import assumptions, check
from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.consistency import check_query, check_together
from bayesdp.kernel.reading import stated_columns, stated_population
from bayesdp.populations import parse
from bayesdp.release import Study
from tests.kernel.statements import read_query

PAIR = {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]}
LAW = {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]}
LOOSE = {"model": "gaussian", "size": 3, "max_correlation": 0.2}
CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 9}


@pytest.mark.parametrize(
    ("population", "is_assumed"),
    [
        (PAIR, True),
        (LAW, True),
        ({"model": "family", "members": [LOOSE, PAIR]}, True),
        ({"model": "graph", "records": 2, "factors": []}, True),
        ({"model": "clusters", "size": 2}, False),
        (LOOSE, False),
        (CHAIN, False),
    ],
)
def test_which_row_is_which_is_assumed_where_it_matters(
    population: dict[str, Any], is_assumed: bool
) -> None:
    claim = {"notion": "bdp", "adversary": "any", "secrets": "bounded"}
    said = assumptions({"claim": claim, "population": population})
    assert any("which row is which" in sentence for sentence in said) is is_assumed


ORDER_2 = [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.3, 0.7]]]
DISCRETE = [
    CHAIN,
    {"model": "markov", "order": 2, "transition": ORDER_2, "length": 9},
    {
        "model": "markov",
        "transition_lower": [[0.8, 0.1], [0.3, 0.6]],
        "transition_upper": [[0.9, 0.2], [0.4, 0.7]],
        "length": 9,
    },
    LAW,
    {"model": "graph", "grid": [2, 2], "table": [[1.1, 1.0], [1.0, 1.1]]},
    {"model": "graph", "records": 2, "states": [2, 2], "factors": []},
    {"model": "tree", "nodes": [{"name": "a", "law": [0.5, 0.5]}]},
    {"model": "network", "nodes": [{"name": "a", "states": ["x", "y"], "table": [0.5, 0.5]}]},
]


ROLES = {
    "family": {"role": "cluster"},
    "day": {"role": "order", "step": 1},
    "series": {"role": "series"},
}


def together(population: dict[str, Any], **columns: Any) -> None:
    """A release of two rows that declares this population, and columns beside its roles."""
    stated = SimpleNamespace(unit="row", rows_per_record=1, max_rows=None, people=None, n=2)
    check_together(stated, stated_population(population), stated_columns(ROLES | columns))


@pytest.mark.parametrize("spec", DISCRETE)
def test_states_are_those_of_the_population(spec: dict[str, Any]) -> None:
    made: Any = parse(spec)
    spec = made.spec()
    if len(spec.get("nodes", [1, 2])) == 1:
        spec |= {"nodes": [spec["nodes"][0], spec["nodes"][0] | {"name": "b"}]}
    assert (made.states if spec["model"] == "markov" else made.common_states) == 2
    columns = {"ill": {"states": [0, 1]}, "x": {"bounds": [0.0, 1.0]}, "one": {"states": [0]}}
    for covers, holds in (
        (["ill"], True),
        (["ill", "one"], True),
        (["x"], False),
        (["one"], False),
    ):
        for population in (spec, {"model": "family", "members": [spec]}):
            if holds:
                together(population | {"covers": covers}, **columns)
                continue
            with pytest.raises(InvalidError, match="states"):
                together(population | {"covers": covers}, **columns)


def test_records_that_differ_have_no_common_states() -> None:
    uneven = {"model": "finite", "probabilities": [[0.2, 0.2, 0.1], [0.1, 0.1, 0.3]]}
    with pytest.raises(InvalidError, match="states"):
        together(uneven | {"covers": ["ill"]}, ill={"states": [0, 1]})
    with pytest.raises(UnknownError):
        together({"model": "network", "bif": "asia.bif", "covers": ["ill"]}, ill={"states": [0]})


COLUMNS: dict[str, Any] = {
    "role": {"states": ["child", "father"], "public": True},
    "grade": {"states": [1, 2, 3]},
    "high": {"from": "x", "where": "x > 1"},
    "level": {"from": "x", "cuts": [1.0, 2.0]},
    "x": {"bounds": [0.0, 9.0]},
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("role == 'child' and x == 4", True),
        ("'aunt' == role", False),
        ("not (role in ['child', 'aunt'])", False),
        ("1 <= grade < 7", True),
        ("grade != 4", False),
        ("grade in (1, -1)", False),
        ("high == True and level == 2", True),
        ("level == 3", False),
        ("high == 2", False),
    ],
)
def test_conditions_name_declared_states(text: str, holds: bool) -> None:
    query = {"name": "q", "kind": "count", "where": text}
    if holds:
        check_query(read_query(query), stated_columns(COLUMNS))
        return
    with pytest.raises(InvalidError, match="a declared state"):
        check_query(read_query(query), stated_columns(COLUMNS))


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "",
        "x == 1 if",
        "\0x == 1",
        "-" * 100_000 + "1 == x",
        "-" * 40_000 + "1 == x",
        "not " * 9_000 + "x == 1",
        "(" * 5_000 + "x == 1" + ")" * 5_000,
        "grade == {}",
        "grade in [[1]]",
        7,
        None,
    ],
)
@pytest.mark.parametrize("place", ["query", "column"])
def test_a_condition_that_is_none_is_invalid(
    text: Any, place: str, counted: dict[str, Any]
) -> None:
    """The verdict is INVALID, and never a failure of the kernel."""
    document = copy.deepcopy(counted)
    if place == "query":
        composition = document["derivation"]["premises"][0]["premises"][0]
        composition["premises"][0]["evidence"]["query"]["where"] = text
    else:
        document["columns"]["high"] = {"from": "grade", "where": text}
    content = {key: value for key, value in document.items() if key != "digest"}
    assert check(content | {"digest": digest(content)}).verdict == "INVALID"


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A certificate of one count."""
    study = Study(
        pd.DataFrame({"pair": [1, 1, 2, 2], "grade": [1, 2, 3, 1]}),
        dataset="grades",
        n=4,
        columns={"pair": {"role": "cluster"}, "grade": {"states": [1, 2, 3]}},
        population={"model": "clusters", "size": 2, "covers": ["grade"], "source": "a teacher"},
        budget={"epsilon": 1.0},
        queries=[{"name": "ones", "kind": "count", "where": "grade == 1"}],
        ledger=str(tmp_path_factory.mktemp("ledgers") / "grades.db"),
    )
    made: dict[str, Any] = json.loads(study.release().certificate.to_json())
    assert check(made).verdict == "VALID ASSUMING"
    return made


@pytest.mark.parametrize("row", [[0.1, 0.9], [0.3, 0.7], [1 / 3, 2 / 3], [0.1, 0.2, 0.7]])
def test_bounds_that_are_one_law_are_bounds(row: list[float]) -> None:
    rows = [row] * len(row)
    spec = {"model": "markov", "transition_lower": rows, "transition_upper": rows, "length": 5}
    parse(spec)
    stated_population(spec)
    above, below = [[*row[:-1], row[-1] + 1e-8] for row in rows], [[0.0, *r[1:]] for r in rows]
    for lower, upper in ((above, above), (below, below)):
        with pytest.raises(InvalidError, match="no row"):
            stated_population(spec | {"transition_lower": lower, "transition_upper": upper})


@pytest.mark.parametrize(
    ("key", "value"),
    [("length", 36.5), ("length", True), ("length", "9"), ("order", 1.0), ("length", [9, 2.5])],
)
def test_counts_are_whole(key: str, value: Any) -> None:
    stated_population(CHAIN)
    for population in (CHAIN, {"model": "family", "members": [CHAIN]}):
        wrong = copy.deepcopy(population)
        wrong.get("members", [wrong])[0][key] = value
        with pytest.raises(InvalidError):
            stated_population(wrong)


def test_numbers_of_states_are_whole() -> None:
    grid = {"model": "graph", "grid": [2, 2], "states": 2, "table": [[1.1, 1.0], [1.0, 1.1]]}
    stated_population(grid)
    for wrong in ({"states": 1.998}, {"states": [2, 1.998]}, {"grid": [2, 2.5]}):
        with pytest.raises(InvalidError, match="whole number"):
            stated_population(grid | wrong)
