"""`bayesdp check STUDY --stress`: the table, the document and the figure say the same."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp import Study
from bayesdp.cli import app
from bayesdp.report.figures import stress_levels
from tests.golden.packed import Packed

OWN = """
[[stress]]
name = "moods that last"

[stress.population]
model = "markov"
transition = [[0.99, 0.01], [0.05, 0.95]]
length = 4
"""

SERIES = """
[data]
source = "none.csv"
dataset = "series"
n = 4
columns = { t = { role = "order", step = 1 }, x = { bounds = [0, 1] } }

[population]
model = "autoregressive"
coefficient = 0.5
length = 4
covers = ["x"]

[budget]
epsilon = 1.0

[[query]]
name = "q"
kind = "sum"
column = "x"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shutil.copytree(str(files("bayesdp").joinpath("demo_data")), ".", dirs_exist_ok=True)
    Path("wheeze.csv").unlink()  # no data are read
    text = Path("wheeze.toml").read_text(encoding="utf-8")
    Path("own.toml").write_text(text + OWN, encoding="utf-8")


def run(*arguments: str, status: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result


def test_the_table_is_the_golden_text() -> None:
    Packed("stressed").compare("wheeze", run("check", "own.toml", "--stress").stdout)
    assert not Path("ledger.db").exists()


def test_the_document_and_the_figure_have_the_same_levels() -> None:
    stressed = Study.load("own.toml").stress()
    document = json.loads(
        run("check", "own.toml", "--stress", "--json", "--figure", "s.svg").stdout
    )
    assert document["dataset"] == "six-cities-wheeze"
    assert document["target"] == 1.0
    assert document["cost"]["dp_epsilon"] == stressed.dp_epsilon
    assert [(row["name"], row["level"], row["within"], row["own"]) for row in document["rows"]] == [
        (row.name, row.level, row.within, row.is_own) for row in stressed
    ]
    assert Path("s.svg").read_text(encoding="utf-8") == stress_levels(stressed)
    run("check", "own.toml", "--stress", "--figure", "s.svg")  # an older figure is replaced


def test_bars_are_in_proportion_and_say_what_is_not_known() -> None:
    Path("series.toml").write_text(SERIES, encoding="utf-8")
    stressed = Study.load("series.toml").stress()
    figure = stress_levels(stressed)
    svg = ET.fromstring(figure)
    bars = [e for e in svg.iter() if e.get("class") in ("within", "above")]
    levels = [row.level for row in stressed if row.level is not None]
    assert len(bars) == len(levels) == len(stressed) - 1
    lengths = [float(bar.get("width") or 0.0) for bar in bars]
    for length, level in zip(lengths, levels, strict=True):
        assert length == pytest.approx(lengths[0] * level / levels[0], abs=0.2)
    (line,) = [e for e in svg.iter() if e.get("class") == "target"]
    start = float(bars[0].get("x") or 0.0)
    reach = float(line.get("x1") or 0.0) - start
    assert reach == pytest.approx(lengths[0] * stressed.target / levels[0], abs=0.2)
    assert [e.get("class") for e in bars] == [
        "within" if row.within else "above" for row in stressed if row.level is not None
    ]
    assert "not known" in figure
    shown = run("check", "series.toml", "--stress").stdout
    assert "not known" in shown
    assert "next order: there is no theorem about autoregressive series of order 2" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stress", "--data"], "--data: expected nothing beside --stress"),
        (["--stress", "--verbose"], "--verbose: expected nothing beside --stress"),
        (["--stress", "--target", "1"], "--target: expected nothing beside --stress"),
        (["--figure", "s.svg"], "--figure is 's.svg': expected --stress beside it"),
        (["--stress", "--figure", "s.png"], "expected a file name that ends in .svg"),
        (["--stress", "--figure", "galton.toml"], "expected a file name that ends in .svg"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], said: str) -> None:
    assert said in run("check", "own.toml", *options, status=2).stderr


def test_a_figure_replaces_no_other_file() -> None:
    Path("mine.svg").write_text("<svg/>", encoding="utf-8")
    errors = run("check", "own.toml", "--stress", "--figure", "mine.svg", status=2).stderr
    assert "an older figure of bayesdp" in errors
    assert Path("mine.svg").read_text(encoding="utf-8") == "<svg/>"
