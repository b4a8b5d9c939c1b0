"""`bayesdp notions`: for people, for programs, and its certificates."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.report.numbers import notion_level

CHAIN = '{"model": "markov", "transition": [[0.9, 0.1], [0.1, 0.9]], "length": 100}'
TWINS = '{"model": "finite", "probabilities": [[0.5, 0.0], [0.0, 0.5]]}'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")


def run(*arguments: str, status: int = 0) -> Any:
    result = CliRunner().invoke(app, ["notions", *arguments])
    assert result.exit_code == status, result.output
    return result


def document(*arguments: str, status: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", status=status).stdout)


def levels(actual: Any) -> dict[str, float]:
    return {item["notion"]: item["level"] for item in actual["implied"]}


def test_json():
    shown = document("--given", "bdp=1.0", "--population", CHAIN)
    assert levels(shown)["bsp"] == pytest.approx(math.tanh(0.5))
    assert levels(shown)["dp"] == 1.0
    path = next(item["path"] for item in shown["implied"] if item["notion"] == "dp")
    assert [step["relation"] for step in path] == ["bdp-to-dp"]
    assert path[0]["hypotheses"] == [{"name": "full-support", "basis": "derived"}]
    assert {need["notion"] for need in shown["needs"]} >= {"pufferfish", "causal-do"}
    several = document("--given", "bdp=3", "--given", "dp=0.5", "--population", CHAIN)
    assert levels(several)["bdp"] == 3.0
    assert levels(several)["dp"] == 0.5


def test_hypotheses_are_asked_for():
    assert "dp" not in levels(document("--given", "bdp=1"))
    assert levels(document("--given", "bdp=1", "--assume", "full-support"))["dp"] == 1.0
    shown = run("--given", "bdp=1").stdout
    assert "dp 1 needs full-support" in shown
    assert "the output multiplies the odds" in " ".join(shown.split())
    run("--given", "bdp=1", "--assume", "full-support", "--population", TWINS, status=2)


def test_for_people():
    shown = run("--given", "bdp=0.3", "--population", CHAIN).stdout
    assert "0.148886 (distance)" in shown  # tanh(.15) = .1488850...: levels are rounded up
    assert "0.822119 (distance)" in shown  # e^.6 - 1
    assert "full-support (derived)" in shown


def test_parameters_are_named():
    shown = " ".join(
        run("--given", "dp=0.3", "--population", CHAIN, "--default", "1").stdout.split()
    )
    assert "The default record of sp and bsp is 1" in shown
    assert "The groups of group-dp are of 100 records" in shown


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (0.0, "0"),
        (1e-320, "9.99989e-321"),  # the double itself is 9.99988671826831e-321
        (1.0, "1"),
        (1.0 + 2**-52, "1.00001"),
        (0.1 + 2e-8, "0.100001"),
        (123456.5, "123457"),
        (1e300, "1e+300"),
    ],
)
def test_levels_are_rounded_up(level: float, shown: str):
    """What is shown is never below the level, however small both are."""
    assert notion_level("dp", level) == shown
    assert notion_level("sp", level) == f"{shown} (distance)"
    assert Decimal(shown) >= min(Decimal(level), Decimal(repr(level)))


@pytest.mark.parametrize("level", ["0", "1e-320", "1e-9", "1e308"])
def test_extreme_levels_are_shown(level: str):
    assert "What follows" in run("--given", f"dp={level}", "--population", CHAIN).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--given", "bsp=1.5"], "from 0 to 1"),
        (["--given", "bsp=0.5"], "(--default)"),
        (["--given", "sp=0.5", "--size", "3"], "(--default)"),
        (["--given", "group-dp=1", "--population", '{"model":"clusters","size":6}'], "(--size)"),
        (["--given", "dp=-1"], "0 or more"),
        (["--given", "dp=inf"], "finite"),
        (["--given", "dp=1e999"], "finite"),
        (["--given", "bpd=1"], "Did you mean"),
        (["--given", "dp"], "such as bdp=1.0"),
        (["--given", "dp=much"], "such as bdp=1.0"),
        (["--given", "dp=1", "--given", "dp=2"], "one level of dp"),
        (["--given", "dp=1", "--assume", "full-suport"], "Did you mean 'full-support'"),
        (["--given", "dp=1", "--to", "spp"], "Did you mean"),
        (["--given", "dp=1", "--population", '{"model": "marcov"}'], "Did you mean"),
        (["--given", "dp=1", "--certificate", "no/where.json"], "certificate"),
    ],
)
def test_wrong_input(arguments: list[str], said: str):
    result = run(*arguments, status=2)
    assert said in result.stderr
    assert result.stdout == ""


def test_one_notion():
    shown = document("--given", "bdp=1", "--population", CHAIN, "--to", "bsp")
    assert list(levels(shown)) == ["bsp"]
    refused = run("--given", "bdp=1", "--to", "dp", "--certificate", "c.json", status=1)
    assert "Does not follow: dp" in refused.stderr
    assert not Path("c.json").exists()


def test_certificates_verify():
    arguments = ["--given", "dp=0.5", "--population", CHAIN, "--assume", "causal-structure"]
    run(*arguments, "--certificate", "all.json")
    outcome = CliRunner().invoke(app, ["verify", "all.json", "--json"])
    assert outcome.exit_code == 0, outcome.output
    verdict = json.loads(outcome.stdout)
    assert verdict["verdict"] == "VALID ASSUMING"
    assert any("level 0.5 of dp" in said for said in verdict["assuming"])
    assert any("causal-structure" in said for said in verdict["assuming"])
    run(*arguments, "--to", "sp", "--to", "bsp", "--certificate", "two.json")
    claims = json.loads(Path("two.json").read_text())["claim"]["claims"]
    assert [claim["notion"] for claim in claims] == ["sp", "bsp"]


def test_a_declaration_that_the_population_refutes_is_refused():
    clusters = ("--population", '{"model": "clusters", "size": 50}')
    refused = run("--given", "dp=1", "--assume", "mutual-independence", *clusters, status=2)
    assert "expected something that the population doesn't contradict" in refused.output
    assert "this is false: all records are mutually independent" in refused.output
