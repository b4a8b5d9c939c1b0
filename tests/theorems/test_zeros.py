"""What is said of networks whose tables hold zeros, and that what is advised helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp import Study, leakage
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError
from bayesdp.populations import Family, MarkovChain, Network, Population, parse
from bayesdp.theorems.zeros import HINT, PLACE, ZEROS, has_zeros, zeros_hint

MENDEL = [[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]
ERRORS = [[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]


def line(generations: int, table: Any) -> dict[str, Any]:
    """A descent in which each parent has a partner from outside."""
    nodes: list[dict[str, Any]] = [{"name": "a0", "states": 2, "table": [0.7, 0.3]}]
    for k in range(1, generations):
        nodes.append({"name": f"s{k}", "states": 2, "table": [0.7, 0.3]})
        parents = [f"a{k - 1}", f"s{k}"]
        nodes.append({"name": f"a{k}", "states": 2, "parents": parents, "table": table})
    return {"model": "network", "nodes": nodes}


LARGE, SMALL, READ = (parse(line(n, t)) for n, t in ((9, MENDEL), (3, MENDEL), (9, ERRORS)))


def test_zeros_that_tell_records_apart_are_seen() -> None:
    assert has_zeros(LARGE)
    assert has_zeros(SMALL)
    assert not has_zeros(READ)
    # A value that is ruled out whatever the others are is not a value of the record.
    never = {"name": "b", "states": 2, "parents": ["a0"], "table": [[1.0, 0.0], [1.0, 0.0]]}
    assert not has_zeros(parse({"model": "network", "nodes": [*line(1, MENDEL)["nodes"], never]}))
    plain: list[Population] = [MarkovChain([[1.0, 0.0], [0.5, 0.5]], initial=[0.5, 0.5], length=4)]
    assert not has_zeros(plain[0])
    assert isinstance(LARGE, Network)
    assert isinstance(READ, Network)
    assert has_zeros(Family(members=(READ, LARGE)))


def test_the_theorem_that_refuses_says_why() -> None:
    refused = {row.theorem: row.reason for row in leakage(LARGE, 0.1).refused}
    assert refused["graph-influence"] == ZEROS
    strong = parse(line(9, [[[0.999, 0.001], [0.5, 0.5]], [[0.5, 0.5], [0.001, 0.999]]]))
    other = {row.theorem: row.reason for row in leakage(strong, 0.1).refused}
    assert other["graph-influence"].startswith("the couplings are too strong")


def test_a_hint_stands_where_it_helps() -> None:
    # What the hint advises more than halves the level.
    assert 2.0 * leakage(READ, 0.1).best.epsilon < leakage(LARGE, 0.1).best.epsilon
    assert zeros_hint(LARGE, leakage(LARGE, 0.1).best.theorem) == HINT
    assert zeros_hint(SMALL, leakage(SMALL, 0.1).best.theorem) == ""
    assert zeros_hint(READ, leakage(READ, 0.1).best.theorem) == ""
    assert zeros_hint(None, "cluster-size") == ""


def test_the_place_is_in_the_documentation() -> None:
    page, section = PLACE.split(", under 'tree': ")
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert f"**{section}.**" in text[text.index("\n## `tree`") : text.index("\n## `network`")]


def test_the_terminal_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("line.json").write_text(json.dumps(line(9, MENDEL)))
    shown = CliRunner().invoke(app, ["leakage", "line.json", "--epsilon", "0.1"]).stdout
    assert HINT in " ".join(shown.split())
    plain = CliRunner().invoke(app, ["leakage", "line.json", "--epsilon", "0.1", "--json"]).stdout
    assert json.loads(plain)["hint"] == HINT
    Path("read.json").write_text(json.dumps(line(9, ERRORS)))
    assert "hold zeros" not in CliRunner().invoke(app, ["leakage", "read.json"]).stdout


def test_a_check_and_a_refusal_say_it() -> None:
    def study(**query: Any) -> Study:
        return Study(
            dataset="line",
            n=17,
            columns={"allele": {"states": [0, 1]}},
            population=line(9, MENDEL) | {"covers": ["allele"]},
            budget={"epsilon": 1.0},
            queries=[{"name": "carriers", "kind": "count", "where": "allele == 1", **query}],
        )

    check = study().check()
    assert HINT in check.warnings
    with pytest.raises(BudgetExceededError) as refused:
        study(error=0.5).check()
    assert f" {HINT}"[:-1] in str(refused.value)
