"""A study with a delta on the command line: what is said, and to whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app

STUDY = """
[data]
source = "incomes.csv"
dataset = "incomes"
n = 40
[data.columns]
household = { role = "cluster" }
income = { bounds = [0, 100] }
[population]
model = "clusters"
size = 4
covers = ["income"]
source = "the register"
[budget]
epsilon = 1.0
delta = 1e-6
spend = 0.4
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    rows = [f"{i // 4},{(37 * i) % 100}" for i in range(40)]
    Path("incomes.csv").write_text("\n".join(["household,income", *rows]) + "\n")
    queries = (
        f'[[query]]\nname = "above {k}"\nkind = "count"\nwhere = "income > {k}"\n'
        for k in range(0, 100, 4)
    )
    Path("study.toml").write_text(STUDY + "".join(queries))


def run(*arguments: str, status: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result


def words(text: str) -> str:
    return " ".join(text.split())


def test_check_says_which_noise_and_what_the_other_would_give() -> None:
    shown = words(run("check", "study.toml").stdout)
    assert "Noise: gaussian. With laplace noise the errors would be 1.5" in shown
    assert "with the other noise" in words(run("check", "study.toml", "--verbose").stdout)
    assert "zCDP cost" in shown
    assert "BDP level 0.4 of 0.4 at delta = 1e-06 that this study may spend" in shown
    assert "plus delta = 1e-06." in shown
    read_back = json.loads(run("check", "study.toml", "--json").stdout)
    assert read_back["claim"]["delta"] == 1e-6
    assert read_back["budget"]["readings"][0]["delta"] == 1e-6


def test_release_ledger_report_and_certificate() -> None:
    read_back = json.loads(run("release", "study.toml", "--json", "--report", "r.html").stdout)
    assert (read_back["delta"], read_back["dp_epsilon"]) == (1e-6, 0.0)
    assert read_back["dp_rho"] > 0
    assert read_back["results"][0]["noise"]["distribution"] == "discrete-gaussian"
    (certificate,) = Path().glob("*.certificate.json")
    assert run("verify", str(certificate)).stdout.startswith("VALID ASSUMING")
    report = Path("r.html").read_text()
    assert "at delta = 1e-06" in report
    assert "plus delta = 1e-06" in report
    assert "except with a chance of at most 1 in 330\N{NARROW NO-BREAK SPACE}000" in report
    shown = words(run("release", "study.toml").stdout)
    assert "DP cost rho = " in shown
    assert "For every set of results, its probability given one value" in shown
    ledger = words(run("ledger", "show").stdout)
    assert "zCDP spent (Gaussian noise)" in ledger
    assert "1e-06" in ledger
    (dataset,) = json.loads(run("ledger", "show", "--json").stdout)["datasets"]
    assert dataset["readings"][0]["delta"] == 1e-6
    assert dataset["releases"][0]["spends"][0]["rho"] > 0
    # a weaker promise about the household, not a stronger one
    explained = words(run("explain", str(certificate)).stdout)
    assert "a weaker promise, with the level epsilon = 0.4, delta = 4.61" in explained


def test_another_delta_is_another_reading() -> None:
    run("release", "study.toml")
    text = Path("study.toml").read_text()
    Path("other.toml").write_text(text.replace("1e-6", "1e-7"))
    refused = run("release", "other.toml", status=2)
    assert "a reading that is registered" in words(refused.stderr)
