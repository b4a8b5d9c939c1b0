"""Values are shown with the digits that their errors leave them, wherever they are shown."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesdp.accounting.rounded import value_words
from bayesdp.cli import app
from bayesdp.release import Study
from bayesdp.release.program_results import Output


def test_the_words_are_as_near_as_the_error_asks() -> None:
    rng = np.random.default_rng(1)
    for size, spread in rng.uniform(-12, 15, (2000, 2)):
        value, error = float(rng.normal() * 10**size), float(10 ** min(spread, size + 3))
        words = value_words(value, error)
        near = max(min(error / 1000.0, 0.5), 1e-16 * abs(value))
        assert abs(float(words) - value) <= near
        if 1e-4 < error < abs(value) < 1e12:
            assert "e" not in words


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (1700043123.4567, 2.589, "1700043123.457"),
        (1700043123.0, 2e6, "1700043123"),
        (171.23456789, 0.03712, "171.23457"),
        (412.0, 37.0, "412"),
        (-0.00012, 5.0, "0"),
        (0.0, 1.0, "0"),
        (1.0, 0.0, "1"),
        (1234567.89, math.inf, "1234568"),
        (math.inf, 1.0, "inf"),
    ],
)
def test_some_words(value: float, error: float, words: str) -> None:
    assert value_words(value, error) == words


SECONDS = """
[data]
source = "times.csv"
dataset = "times"
n = 1000
[data.columns]
at = { bounds = [1700000000, 1700086400], unit = "s" }
[population]
model = "independent"
covers = ["at"]
[budget]
epsilon = 10000.0
spend = 4000.0
[[query]]
name = "time"
kind = "mean"
column = "at"
"""


def test_a_mean_of_seconds_is_shown_as_such_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd.DataFrame({"at": [1700043123] * 1000}).to_csv(tmp_path / "times.csv", index=False)
    (tmp_path / "study.toml").write_text(SECONDS)
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["release", "study.toml", "--report", "r.html"]).stdout
    assert "1700043123" in printed or "1700043122.9" in printed
    assert "1.70004" not in printed
    assert "1.70004" not in (tmp_path / "r.html").read_text()
    released = Study.load("study.toml").release(again=True)
    for shown in (str(released), released._repr_html_(), repr(released["time"])):
        assert "17000431" in shown
        assert "1.70004" not in shown
    assert json.loads(released.certificate.to_json())["results"][0]["value"] > 1.7e9


def test_what_programs_return_is_shown_so_too() -> None:
    law = SimpleNamespace(mean=1700043123.4567, interval=lambda p: (1700043120.0, 1700043126.5))
    assert Output("at", "Normal", law).shown() == ("1700043123.457", "1700043120 to 1700043126.5")
    both = SimpleNamespace(
        mean=(1700043123.4567, 0.25),
        interval=lambda p: ((1700043120.0, 1700043126.0), (0.2, 0.3)),
    )
    assert Output("at", "Normals", both).shown()[0] == "(1700043123.457, 0.25)"
    noise = SimpleNamespace(error=lambda confidence: 2.589)
    number = Output("at", "Real", 1700043123.4567, noise=noise)
    assert number.words() == "1700043123.457 +- 2.589 (95 %)"
