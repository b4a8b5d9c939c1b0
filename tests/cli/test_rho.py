"""`leakage --rho`, and certificates of levels with a delta."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.leakage.zcdp import least_epsilon

PAIR = '{"model": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]}'
CHAIN = '{"model": "markov", "transition": [[0.7, 0.3], [0.3, 0.7]], "length": 30}'


def run(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result.output


def plain(*arguments: str, status: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", status=status))


def test_gaussian_noise_on_gaussian_records() -> None:
    options = ("--rho", "0.01", "--delta", "1e-6")
    actual = plain("leakage", PAIR, *options, "--kind", "lipschitz")
    due = least_epsilon(lambda alpha: 1.5**2 * 0.01 * alpha, 1e-6).epsilon
    assert actual["best"]["epsilon"] == pytest.approx(due, rel=1e-9)
    assert (actual["rho"], actual["delta"], actual["dp_epsilon"]) == (0.01, 1e-6, 0.0)
    other = plain("leakage", PAIR, *options)
    assert other["best"]["theorem"] == "cluster-size"
    assert other["best"]["epsilon"] > actual["best"]["epsilon"]
    shown = run("leakage", PAIR, *options)
    assert "A DP cost of rho = 0.01" in shown.replace("What a", "A").replace("\n", " ")
    assert "at delta = 1e-06" in shown


@pytest.mark.parametrize(
    "costs",
    [
        ("--rho", "0.01", "--delta", "1e-6"),
        ("--rho", "0.01", "--epsilon", "0.1", "--delta", "1e-6"),
        ("--epsilon", "0.1", "--delta", "1e-9"),
    ],
)
@pytest.mark.parametrize("population", [PAIR, CHAIN])
def test_certificates_verify(tmp_path: Path, population: str, costs: tuple[str, ...]) -> None:
    file = str(tmp_path / "c.json")
    actual = plain("leakage", population, *costs, "--certificate", file)
    assert plain("verify", file)["verdict"] == "VALID ASSUMING"
    claim = json.loads(Path(file).read_text())["claim"]
    assert claim["epsilon"] == pytest.approx(actual["best"]["epsilon"], rel=1e-9)
    assert claim["delta"] == actual["best"]["delta"]


def test_what_is_missing_is_said() -> None:
    assert "--delta" in run("leakage", PAIR, "--rho", "0.01", status=2)
    assert "--rho" in run("leakage", PAIR, "--rho", "0", "--delta", "1e-6", status=2)
    assert "delta" in run("leakage", PAIR, "--rho", "0.01", "--delta", "1", status=2)
