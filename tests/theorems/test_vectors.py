"""The reference values through the command line: what users get is what the vectors say."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app

VECTORS = Path(__file__).parents[1] / "vectors"
BELOW, EXACT = 1e-9, 1e-6


def vectors(name: str) -> list[dict[str, Any]]:
    read_back: list[dict[str, Any]] = json.loads((VECTORS / name).read_text())
    return read_back


def ask(*arguments: str) -> dict[str, Any]:
    """One JSON document from the command line, in this process."""
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def ask_process(*arguments: str) -> dict[str, Any]:
    """The same from a process of its own."""
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bayesdp.cli", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert done.stderr == ""
    document: dict[str, Any] = json.loads(done.stdout)
    return document


MARKOV = [
    vector for vector in vectors("markov.json") if len(vector["population"]["transition"]) == 2
]
GAUSSIAN = vectors("gaussian.json")


def check_markov(vector: dict[str, Any], actual: dict[str, Any]) -> None:
    level = actual["best"]["epsilon"]
    if "exact" in vector:
        assert vector["exact"] - BELOW <= level <= vector["exact"] + EXACT
        exact = [b for b in actual["bounds"] if b["tight"] == "exact"]
        assert "markov-recursion" in {b["theorem"] for b in exact}
    else:
        assert vector["at_least"] - BELOW <= level <= vector["at_most"] + BELOW
    assert all(bound["epsilon"] >= level for bound in actual["bounds"])


def markov_arguments(vector: dict[str, Any]) -> list[str]:
    return [
        "leakage",
        json.dumps(vector["population"]),
        "--epsilon",
        repr(vector["dp_epsilon"]),
        "--adversary",
        vector["adversary"],
    ]


@pytest.mark.parametrize("position", range(len(MARKOV)))
def test_two_state_chains(position: int) -> None:
    vector = MARKOV[position]
    check_markov(vector, ask(*markov_arguments(vector)))


def test_there_are_as_many_as_there_were() -> None:
    assert len(MARKOV) == 54
    assert len(GAUSSIAN) == 10


COLUMNS = {
    "gaussian-covariance": "enumerated",
    "gaussian-max-correlation": "lange",
    "gaussian-walk-summable": "walk_summable",
}


@pytest.mark.parametrize("vector", GAUSSIAN, ids=lambda v: v["name"])
@pytest.mark.parametrize("eps", [1.0, 0.37])
def test_gaussian_factors(vector: dict[str, Any], eps: float) -> None:
    answer = ask(
        "leakage",
        json.dumps(vector["population"]),
        "--epsilon",
        repr(eps),
        "--kind",
        "lipschitz",
    )
    assert answer["best"]["epsilon"] <= vector["enumerated"] * eps * (1 + EXACT)
    bounds = {bound["theorem"]: bound["epsilon"] for bound in answer["bounds"]}
    refused = {item["theorem"] for item in answer["refused"]}
    for theorem, column in COLUMNS.items():
        due = vector[column]
        if due is None:
            assert theorem not in bounds
            continue
        if theorem == "gaussian-walk-summable" and theorem not in bounds | dict.fromkeys(refused):
            continue  # not built yet
        assert bounds[theorem] == pytest.approx(due * eps, rel=EXACT)
        assert bounds[theorem] >= due * eps * (1 - BELOW)


@pytest.mark.parametrize("position", [0, 13, 40])
def test_chains_in_a_process_of_their_own(position: int) -> None:
    vector = MARKOV[position]
    actual = ask_process(*markov_arguments(vector))
    check_markov(vector, actual)
    assert actual == ask(*markov_arguments(vector))


ACTIVITY = json.dumps(
    {
        "model": "markov",
        "transition": [[0.88241, 0.11759], [0.30471, 0.69529]],
        "initial": "stationary",
        "length": 17568,
    }
)


@pytest.mark.parametrize("run", [ask, ask_process])
def test_calibration_of_the_activity_chain(run: Any) -> None:
    outcome = run("calibrate", ACTIVITY, "--target", "1")
    assert outcome["target"] == 1.0
    assert round(outcome["dp_epsilon"], 6) == 0.249725
    assert round(outcome["noise_multiplier"], 4) == 4.0044
    assert outcome["certified_epsilon"] <= 1.0
    # The largest budget, not just any: a hair more breaks the target.
    more = ask("leakage", ACTIVITY, "--epsilon", repr(outcome["dp_epsilon"] * (1 + 1e-9)))
    assert more["best"]["epsilon"] > 1.0 - 1e-9
    uninformed = ask("calibrate", ACTIVITY, "--target", "1", "--adversary", "uninformed")
    # 4.0017476, by the fixed point of the two Moebius maps as well; 4.0018 from a rounded budget.
    assert uninformed["noise_multiplier"] == pytest.approx(4.0018, abs=1e-4)
    assert uninformed["noise_multiplier"] == pytest.approx(_uninformed_multiplier(), rel=1e-9)
    ten = ask("calibrate", ACTIVITY, "--target", "10")
    assert round(ten["noise_multiplier"], 4) == 1.8036


def _uninformed_multiplier() -> float:
    """Target 1 by hand: both sides unknown, each side's ratio at its fixed point (theory 3.5)."""

    def level(eps: float) -> float:
        up = down = 1.0
        for _ in range(400):
            ends = (math.exp(eps) * up, math.exp(-eps) / down)
            steps = [(0.88241 * r + 0.11759) / (0.30471 * r + 0.69529) for r in ends]
            up, down = max(steps), max(1 / step for step in steps)
        return eps + 2 * math.log(max(up, down))

    low, high = 0.1, 0.9
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if level(middle) <= 1.0 else (low, middle)
    return 1.0 / low


def test_the_ratio_bound_says_nothing_below_its_floor() -> None:
    """Lange et al. need 5.159 times the noise at target 10, and say nothing below 8.06."""
    gamma = 0.88241 / 0.11759
    answer = ask("leakage", ACTIVITY, "--epsilon", "0.0001")
    bounds = {bound["theorem"]: bound["epsilon"] for bound in answer["bounds"]}
    assert bounds["markov-ratio"] == pytest.approx(8.06, abs=0.005)
    eps = 10 - (bounds["markov-ratio"] - 0.0001)
    assert 10 / eps == pytest.approx(5.159, abs=0.001)
    assert gamma == pytest.approx(7.504, abs=0.001)


PAIR = '{"model":"gaussian","covariance":[[1,0.1],[0.1,1]]}'


@pytest.mark.parametrize("run", [ask, ask_process])
def test_two_correlated_records(run: Any) -> None:
    outcome = run("leakage", PAIR, "--epsilon", "1.2", "--kind", "lipschitz")
    bounds = {bound["theorem"]: bound["epsilon"] for bound in outcome["bounds"]}
    for theorem in ("gaussian-max-correlation", "gaussian-covariance"):
        assert 1.32 - BELOW <= bounds[theorem] <= 1.32 + BELOW
    assert round(outcome["best"]["epsilon"], 6) == 1.32


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--kind", "lipschitz", "--secrets", "unbounded"), "outside the clipping interval"),
        ((), "Lipschitz in the clipped values"),
    ],
)
def test_two_correlated_records_without_the_hypothesis(options: tuple[str, ...], why: str) -> None:
    answer = ask("leakage", PAIR, "--epsilon", "1.2", *options)
    assert 2.4 <= answer["best"]["epsilon"] <= 2.4 + BELOW
    assert answer["best"]["theorem"] == "cluster-size"
    reasons = {item["theorem"]: item["reason"] for item in answer["refused"]}
    for theorem in ("gaussian-max-correlation", "gaussian-covariance"):
        assert why in reasons[theorem]
    shown = CliRunner().invoke(app, ["leakage", PAIR, "--epsilon", "1.2", *options])
    assert shown.exit_code == 0
    assert "doesn't apply" in shown.stdout
    assert why.split()[0] in shown.stdout
