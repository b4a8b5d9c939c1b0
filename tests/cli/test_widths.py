"""Commands for people in every width: numbers are whole, and lines fit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app

ROOT = Path(__file__).parents[2]
BITS = {"model": "finite", "probabilities": [[0.45, 0.05], [0.05, 0.45]]}
CHANNEL = [[[0.8, 0.2], [0.5, 0.5]], [[0.5, 0.5], [0.2, 0.8]]]
CHAIN = '{"model": "markov", "transition": [[0.9, 0.1], [0.1, 0.9]], "length": 100}'
PAIRS = '{"model": "gaussian", "size": 7, "max_correlation": 0.45}'
WHEEZE = str(ROOT / "src" / "bayesdp" / "demo_data" / "wheeze.csv")
COMMANDS = {
    "compose": ["compose", "releases.json"],
    "profile": ["profile", "model.json", "--epsilon", "0.5"],
    "notions": ["notions", "--given", "bdp=0.3", "--population", CHAIN],
    "explain": ["explain", "certificate.json"],
    "causal": ["causal", str(ROOT / "docs" / "examples" / "relatives.toml")],
    "leakage": ["leakage", PAIRS, "--epsilon", "0.5", "--kind", "lipschitz"],
    "leakage of a channel": ["leakage", json.dumps(BITS), "--mechanism", "channel.json"],
    "leakage with a delta": ["leakage", PAIRS, "--epsilon", "0.5", "--delta", "1e-5"],
    "calibrate": ["calibrate", json.dumps(BITS), "--target", "1"],
    "fit": [
        "fit",
        WHEEZE,
        *["--model", "markov", "--column", "wheeze", "--states", "0,1", "--length", "4"],
    ],
    "calibrate with a delta": ["calibrate", PAIRS, "--target", "1", "--delta", "1e-5"],
}
NUMBER = re.compile(r"\d+\.\d{3,}(?:e-\d+)?")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    releases = [{"name": "first", "channel": CHANNEL}, {"name": "second", "dp_epsilon": 1 / 3}]
    for name, content in {
        "releases.json": {"population": BITS, "releases": releases},
        "model.json": {"population": BITS, "channel": CHANNEL},
        "channel.json": {"channel": CHANNEL},
    }.items():
        Path(name).write_text(json.dumps(content), encoding="utf-8")


def shown(command: list[str], width: int) -> str:
    if command[0] == "explain" and not Path(command[1]).exists():
        made = ["leakage", CHAIN, "--epsilon", "0.3", "--certificate", command[1]]
        assert CliRunner().invoke(app, made).exit_code == 0
    done = CliRunner().invoke(app, command, env={"COLUMNS": str(width)})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_no_width_cuts_a_number(name: str) -> None:
    wide = shown(COMMANDS[name], 200)
    numbers = sorted(NUMBER.findall(wide))
    assert numbers or name == "causal"
    for width in (100, 80, 60, 40, 24):
        text = shown(COMMANDS[name], width)
        assert sorted(NUMBER.findall(text)) == numbers, width
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        for line in text.splitlines():
            assert len(line) <= width or len(line.split()) <= 2, (width, line)


def test_a_pipe_is_80_wide() -> None:
    bare = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    for name in ("profile", "explain"):
        shown(COMMANDS[name], 80)
        done = subprocess.run(
            [sys.executable, "-m", "bayesdp.cli", *COMMANDS[name]],
            env={**bare, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert done.stdout == shown(COMMANDS[name], 80)
