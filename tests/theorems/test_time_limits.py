"""Time limits: what they leave out is said, with the time that would do; only real ones count."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.accounting.expressions.expression import Mechanism
from bayesdp.accounting.expressions.levels import composed_level
from bayesdp.accounting.what_if import what_if
from bayesdp.cli import app
from bayesdp.errors import InputError
from bayesdp.notions import OfTime, Refused, left_out_for_time
from bayesdp.populations import MODELS, parse
from bayesdp.report.studies import show_check
from bayesdp.theorems import Question


def chain(states: int, seed: int = 20) -> bdp.MarkovChain:
    """Every row is far from the others, so that the closed form is far from the sharp level."""
    laws = np.random.default_rng(seed).dirichlet([3] * states, size=states)
    table = 0.5 * np.eye(states) + 0.5 * laws
    return bdp.MarkovChain(transition=table.tolist(), length=365)


SLOW = chain(12)
FAST = 1e-3
PLENTY = 5.0
"""So many times the estimate is enough on a busy machine, and too little for the next theorem."""


def run(*arguments: str, status: int = 0) -> Any:
    outcome = CliRunner().invoke(app, list(arguments))
    assert outcome.exit_code == status, outcome.output
    return outcome


def test_what_calibrate_leaves_out_for_time_is_listed_with_the_time_that_would_do() -> None:
    hurried = SLOW.calibrate(1.0, seconds=FAST)
    assert hurried.theorem == "markov-contraction"
    needed = {refusal.theorem: refusal.seconds for refusal in hurried.refused}
    assert set(needed) == {"markov-threshold", "markov-recursion"}
    seconds = needed["markov-threshold"]
    assert seconds is not None
    assert seconds > FAST
    (reason,) = [
        refusal.reason for refusal in hurried.refused if refusal.theorem == "markov-threshold"
    ]
    assert f"--seconds {seconds:g}" in reason
    assert f"budget.seconds = {seconds:g}" in reason
    # With that time it is asked, and the budget is larger. Stopped it is only on a busy machine.
    better = SLOW.calibrate(1.0, seconds=PLENTY * seconds)
    assert "markov-threshold" not in {refusal.theorem for refusal in better.refused}
    assert better.theorem == "markov-threshold"
    assert better.dp_epsilon > 2.0 * hurried.dp_epsilon


def test_the_command_says_it_too() -> None:
    spec = json.dumps(SLOW.spec())
    command = ("calibrate", spec, "--target", "1", "--seconds", str(FAST))
    plain = json.loads(run(*command, "--json").stdout)
    listed = {item["theorem"]: item for item in plain["refused"]}
    assert listed["markov-threshold"]["seconds"] > FAST
    shown = " ".join(run(*command).stdout.split())
    assert "Left out for time" in shown
    assert f"--seconds {listed['markov-threshold']['seconds']:g}" in shown


def test_nothing_is_listed_where_nothing_was_left_out() -> None:
    assert bdp.Clusters(size=4).calibrate(1.0).refused == ()
    two = bdp.MarkovChain(transition=[[0.9, 0.1], [0.1, 0.9]], length=100)
    assert two.calibrate(1.0).refused == ()
    assert "Left out" not in run("calibrate", json.dumps(two.spec()), "--target", "1").stdout


def test_members_of_a_family_are_listed() -> None:
    family = bdp.Family(members=[SLOW, chain(3)])
    assert "markov-threshold" in {
        refusal.theorem for refusal in family.calibrate(1.0, seconds=FAST).refused
    }
    report = family.leakage(0.1, seconds=FAST)
    assert "markov-threshold" in {refusal.theorem for refusal in report.refused}


def test_the_longest_time_counts() -> None:
    short, long = (Refused("a", OfTime("slow", needed)) for needed in (1.0, 10.0))
    never = Refused("b", "it does not apply")
    assert left_out_for_time([long, never, short]) == (long,)
    assert [item.seconds for item in (short, long, never)] == [1.1, 11.0, None]
    for needed in (0.0123, 0.999, 1.05, 94.9, 12345.6):
        assert OfTime("slow", needed).seconds >= needed


WRONG = [0, -1, 0.0, math.nan, math.inf, -math.inf, 10**400, "a", None, [1.0]]


@pytest.mark.parametrize("seconds", WRONG, ids=lambda value: repr(value)[:9])
def test_only_a_finite_time_above_0_is_one(seconds: Any) -> None:
    two = bdp.Clusters(size=2)
    asked = [
        lambda: two.calibrate(1.0, seconds=seconds),
        lambda: two.leakage(1.0, seconds=seconds),
        lambda: bdp.calibrate_gaussian(two, 1.0, 1e-6, seconds=seconds),
        lambda: bdp.calibrate_randomized_response(two, 1.0, (0, 1), seconds=seconds),
        lambda: bdp.implied({"dp": 1.0}, two, seconds=seconds),
        lambda: Question(two, seconds=seconds),
        lambda: composed_level(Mechanism("a", 1.0), two, seconds=seconds),
        lambda: what_if({"releases": [{"name": "a", "dp": 1.0}]}, two, seconds=seconds),
    ]
    for ask in asked:
        with pytest.raises(InputError, match=r"seconds.*expected a finite number of seconds above"):
            ask()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e400", "inf"])
def test_the_same_for_the_option(seconds: str, tmp_path: Path) -> None:
    two = json.dumps(bdp.Clusters(size=2).spec())
    for command in (
        ("leakage", two, "--epsilon", "1"),
        ("leakage", two, "--rho", "1", "--delta", "1e-6"),
        ("calibrate", two, "--target", "1"),
        ("calibrate", two, "--target", "1", "--delta", "1e-6"),
        ("notions", "--given", "dp=1"),
        ("ledger", "show", "--ledger", str(tmp_path / "none.db")),
    ):
        refused = run(*command, f"--seconds={seconds}", status=2).stderr
        assert refused.startswith("Error: --seconds is ")
        assert "a finite number of seconds above 0" in refused


POPULATIONS: dict[str, dict[str, Any]] = {
    "independent": {},
    "clusters": {"size": 3},
    "unknown": {"records": 9},
    "finite": {"probabilities": [[0.4, 0.1], [0.2, 0.3]]},
    "markov": {"transition": SLOW.spec()["transition"], "length": 365},
    "tree": {
        "nodes": [
            {"name": "a", "law": [0.4, 0.6]},
            {"name": "b", "parent": "a", "transition": [[0.9, 0.1], [0.2, 0.8]]},
        ]
    },
    "graph": {"grid": [4, 4], "states": 2, "table": [[0.7, 0.3], [0.2, 0.8]]},
    "network": {
        "nodes": [
            {"name": "a", "states": 2, "parents": [], "table": [0.4, 0.6]},
            {"name": "b", "states": 2, "parents": ["a"], "table": [[0.9, 0.1], [0.2, 0.8]]},
        ]
    },
    "gaussian": {"size": 3, "max_correlation": 0.3},
    "autoregressive": {"coefficient": 0.5, "length": 20},
    "panel": {
        "series": 3,
        "length": 20,
        "own_previous": 3.0,
        "others_previous": 1.0,
        "others_now": 1.5,
    },
    "family": {
        "members": [
            {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 20},
            {"model": "markov", "transition": [[0.8, 0.2], [0.3, 0.7]], "length": 20},
        ]
    },
}


@pytest.mark.parametrize("model", sorted(MODELS))
def test_without_any_time_closed_forms_answer(model: str) -> None:
    calibration = parse({"model": model} | POPULATIONS[model]).calibrate(1.0, seconds=1e-9)
    assert 0.0 < calibration.dp_epsilon <= 1.0
    assert calibration.certified_epsilon <= 1.0


# -- studies ---------------------------------------------------------------------------------------


def study(folder: Path, seconds: float, seed: int = 1) -> bdp.Study:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"series": ["a"] * 60, "at": range(60), "s": rng.integers(0, 12, 60)})
    return bdp.Study(
        frame,
        dataset="series",
        n=60,
        columns={
            "series": {"role": "series", "states": ["a"]},
            "at": {"role": "order", "step": 1},
            "s": {"states": list(range(12))},
        },
        population=bdp.MarkovChain(SLOW.transition, length=365, covers=["s"]),
        budget={"epsilon": 3.0, "spend": 1.0, "seconds": seconds},
        queries=[{"name": "twos", "kind": "count", "where": "s == 2"}],
        ledger=str(folder / "ledger.db"),
    )


def console_text(check: Any) -> str:
    console = Console(file=io.StringIO(), width=100)
    show_check(console, check)
    return " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]


def test_a_study_can_ask_for_the_time_that_check_tells(tmp_path: Path) -> None:
    hurried = study(tmp_path, FAST).check()
    (needed,) = [
        item.seconds for item in hurried.plan.left_out if item.theorem == "markov-threshold"
    ]
    assert needed is not None
    assert f"budget.seconds = {needed:g}" in str(hurried)
    assert f"budget.seconds = {needed:g}" in console_text(hurried)
    asked = study(tmp_path, PLENTY * needed)
    better = asked.check()
    assert "markov-threshold" not in {item.theorem for item in better.plan.left_out}
    assert better.plan.dp_epsilon > 2.0 * hurried.plan.dp_epsilon
    assert better.preview.refusal is None
    # The ledger counts with the same time, for the second release too.
    first, second = asked.release(), asked.release(again=True)
    for release in (first, second):
        assert release.dp_epsilon == better.plan.dp_epsilon
        assert release.level <= 1.0
        # What was left out is said where it is too late, too.
        assert release.remarks == better.plan.remarks != ()
        assert all(remark in str(release) for remark in release.remarks)
        assert all(remark in release._repr_html_() for remark in release.remarks)
        assert bdp.verify(release).verdict == "UNKNOWN"  # it is beyond the kernel's patience
    assert "ratios would have to be computed" in better.plan.unproved
    assert hurried.plan.unproved == ""
    shown = console_text(better)
    assert "certificate would verify as UNKNOWN" in shown
    assert "Left out for time" in shown
    assert "UNKNOWN" not in console_text(hurried)
    assert second.certificate.body["data_set"]["level"] <= 3.0
    url = str(tmp_path / "ledger.db")
    for seconds, within in ((FAST, False), (PLENTY * needed, True)):
        command = ("ledger", "show", "--ledger", url, "--seconds", str(seconds), "--json")
        (data_set,) = json.loads(run(*command).stdout)["datasets"]
        (reading,) = data_set["readings"]
        assert (reading["level"] <= 3.0) == within


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, math.inf, "3"])
def test_budget_seconds_are_checked(seconds: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"budget\.seconds"):
        study(tmp_path, seconds)


def test_only_an_estimate_would_do() -> None:
    estimated = Refused("a", OfTime("slow", 2.0))
    stopped = Refused("a", OfTime("slow", 2.0, estimated=False))
    assert estimated.more_time("--seconds ") == "--seconds 2.2 would do"
    assert "would do" not in stopped.more_time("--seconds ")
    assert "is not known" in stopped.more_time("--seconds ")
    assert "is not known" in stopped.reason
    assert "is not known" not in estimated.reason
    assert Refused("a", "no chain").more_time("--seconds ") == ""
