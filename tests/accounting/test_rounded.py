"""Values are shown with the digits that their errors leave them, wherever they are shown."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import value_words
from bayesdp.accounting.what_if.kinds import SecretsCondition
from bayesdp.cli import app
from bayesdp.errors import InputError
from bayesdp.kernel.releases.program_queries import _rounded_down
from bayesdp.populations import Gaussian
from bayesdp.programs.run.results import density_figures
from bayesdp.programs.run.results.distributions import Joint, Mixture
from bayesdp.release import Study
from bayesdp.release.programs.answers import Output
from bayesdp.report.numbers import error_up, with_error
from bayesdp.statements.assumptions import secrets_place
from bayesdp.tables.columns.column import group_keys
from bayesdp.tables.columns.declarations import parse_columns


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
        (123456789.0, 0.0, "123456789"),
        (0.1, 0.0, "0.1"),
        (0.1, 1e-30, "0.1"),
        (0.0, 0.0, "0"),
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
at = { bounds = [1700000000.5, 1700086400.25], unit = "s" }
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
[[query]]
name = "times"
kind = "histogram"
column = "at"
bins = [1700000000.5, 1700040000, 1700086400.25]
weight = 0.01
"""
CUT_OFF = re.compile(r"1[.]7[0-9]*e[+]?0?9")
"""A number of seconds without its last digits."""


@pytest.mark.parametrize("words", ["1.70009e+09", "1.7e9"])
def test_numbers_without_their_last_digits_are_recognised(words: str) -> None:
    assert CUT_OFF.search(words)


def test_a_mean_of_seconds_is_shown_as_such_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd.DataFrame({"at": [1700043123] * 1000}).to_csv(tmp_path / "times.csv", index=False)
    (tmp_path / "study.toml").write_text(SECONDS)
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    checked = run(app, ["check", "study.toml", "--verbose"]).stdout
    printed = run(app, ["release", "study.toml", "--report", "r.html"]).stdout
    assert "1700043123" in printed or "1700043122.9" in printed
    (certificate,) = tmp_path.glob("*.certificate.json")
    explained = [run(app, ["explain", str(path)]).stdout for path in ("study.toml", certificate)]
    report = (tmp_path / "r.html").read_text()
    assert "at least 1700000000.5 and at most 1700086400.25 s" in report
    for text in (checked, printed, report, *explained, certificate.read_text()):
        assert CUT_OFF.search(text) is None
    released = Study.load("study.toml").release(again=True)
    for shown in (str(released), released._repr_html_(), repr(released["time"])):
        assert "17000431" in shown
        assert CUT_OFF.search(shown) is None
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
    assert Output("at", "Real", 1700043123.4567).words() == "1700043123.457"
    assert Output("at", "Real", 171.23456).words() == "171.235"
    assert Output("at", "Int", 123456789).words() == "123456789"


def test_distributions_are_shown_so_too() -> None:
    law = Mixture("normal", *map(np.array, ([1700043123.4567], [2.589], [1.0])))
    assert "1700043123.457" in repr(law)
    two = [[1700043123.4567, 1700043125.4567], [2.589, 2.589], [0.5, 0.5]]
    mixed = Mixture("normal", *map(np.array, two))
    assert "1700043124.457" in repr(mixed)
    panel = density_figures.histogram("at", mixed.samples(500, np.random.default_rng(1)))
    joint = Joint("normal", ("at",), (mixed,), lambda k, rng: np.zeros((k, 1)))
    assert "1700043124.457" in repr(joint)
    assert CUT_OFF.search(density_figures.svg([panel], "at")) is None


INTERVAL = (1700000000.5, 1700086400.25)


def test_limits_of_secrets_are_shown_whole() -> None:
    """Outside of them a level is another one: they are part of the promise."""
    assert secrets_place(INTERVAL) == "between 1700000000.5 and 1700086400.25"
    assert secrets_place({"at": INTERVAL}) == "between 1700000000.5 and 1700086400.25 (at)"
    law = Gaussian(size=2, max_correlation=0.1234567)
    assert "no correlation above 0.1234567 in size" in law.describe()
    reading = Reading("bdp", 0.1234567, law.spec(), interval=INTERVAL, secrets="bounded")
    assert "at most 0.1234567," in reading.words()
    assert "between 1700000000.5 and 1700086400.25" in reading.words()
    condition = SecretsCondition(True, "at", INTERVAL)
    assert "[1700000000.5, 1700086400.25] of 'at'" in condition.words()


def test_numbers_of_programs_and_steps_are_shown_whole() -> None:
    with pytest.raises(InputError, match="step = 1234567, states"):
        group_keys(parse_columns({"t": {"role": "order", "step": 1234567}}), "t")


def test_noise_is_said_to_have_no_more_variance_than_it_has() -> None:
    assert _rounded_down(Fraction(1234567890123456789, 10)) == "123456789012345678"
    assert _rounded_down(Fraction(2, 3)) == "0.66666"
    assert _rounded_down(Fraction(123456789, 1000)) == "123456"


def test_without_noise_all_digits_are_shown() -> None:
    assert with_error(482.0, 0.0) == "482"
    assert with_error(0.12345678, 0.0) == "0.12345678"
    assert error_up(0.0) == "0"
