"""Programs on real data, through studies on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.release import Study
from tests.release.program_studies import (
    HEAD,
)

ROOT = Path(__file__).parents[2]


def real(name: str) -> Path:
    given = os.environ.get("BAYESDP_SHARED")
    folder = Path(given) / "data" if given else ROOT.parent / "shared" / "data"
    path = (folder if folder.is_dir() else Path(given or "")) / name
    if not path.is_file():
        pytest.skip(f"{name} is looked for in ../shared/data or BAYESDP_SHARED, and isn't there")
    return path


def through(study_text: str, folder: Path) -> dict[str, Any]:
    """A study with its program on the command line: check, release, report, verify."""
    path = folder / "study.toml"
    path.write_text(study_text, encoding="utf-8")
    runner = CliRunner()
    checked = runner.invoke(app, ["check", str(path), "--data"])
    assert checked.exit_code == 0, checked.output
    report, certificate = folder / "report.html", folder / "certificate.json"
    files = ["--report", str(report), "--certificate", str(certificate)]
    done = runner.invoke(app, ["release", str(path), "--json", *files])
    assert done.exit_code == 0, done.output
    verified = runner.invoke(app, ["verify", str(certificate)])
    assert verified.exit_code == 0, verified.output
    explained = runner.invoke(app, ["explain", str(certificate)])
    assert explained.exit_code == 0, explained.output
    assert "Returned by programs" in report.read_text(encoding="utf-8")
    shown = Study.load(path).ledger().show()[0]
    assert [line["status"] for line in shown["releases"]] == ["released"]
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_wheeze_panel_end_to_end(tmp_path: Path) -> None:
    data = real("wheeze_panel/wheeze.csv")
    (tmp_path / "panel.py").write_text(
        HEAD
        + """@record
class Answer:
    wheeze: Bool
    mother_smoked: Public[Bool]


@program(epsilon=0.25)
def how_often(answers: Database[Answer]) -> Private[Beta]:
    model = observe((a.wheeze for a in answers), bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=0.25))
""",
        encoding="utf-8",
    )
    document = through(
        f"""[data]
source = "{data.resolve()}"
dataset = "wheeze-panel"
n = 2148
[data.columns]
child = {{ role = "series" }}
age_years = {{ role = "order", step = 1 }}
wheeze = {{ states = [0, 1] }}
mother_smoked = {{ public = true, states = [0, 1] }}
[population]
model = "markov"
transition = [[0.9132, 0.0868], [0.5361, 0.4639]]
initial = "stationary"
length = 4
covers = ["wheeze"]
source = "estimated from the same data: for a test"
[budget]
epsilon = 1.0
[[query]]
name = "how often"
kind = "program"
program = "panel.py:how_often"
[[query]]
name = "by smoking"
kind = "count"
where = "wheeze == 1"
by = "mother_smoked"
""",
        tmp_path,
    )
    beta = document["results"][-1]["outputs"][0]
    low, high = beta["interval95"]
    # 326 of 2148 answers are yes; the noise has scale 4.
    assert low < 326 / 2148 < high or abs(beta["mean"] - 326 / 2148) < 40 / 2148
    assert document["level"] <= 1.0


def test_the_family_heights_end_to_end(tmp_path: Path) -> None:
    data = real("galton_heights/galton_trios.csv")
    (tmp_path / "trios.py").write_text(
        HEAD
        + """@record
class Person:
    height_cm: Real[100, 250]


@program
def mean_height(people: Database[Person]) -> Private[Normal]:
    heights = (clip(p.height_cm, 140, 200) for p in people)
    model = observe(heights, normal(sd=9), prior=normal(170, sd=15))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
""",
        encoding="utf-8",
    )
    document = through(
        f"""[data]
source = "{data.resolve()}"
dataset = "trios"
n = 591
[data.columns]
family = {{ role = "cluster" }}
height_cm = {{ bounds = [140, 200], unit = "cm" }}
[population]
model = "gaussian"
size = 3
max_correlation = 0.275
covers = ["height_cm"]
source = "published correlations, equal variances asserted: for a test"
[budget]
epsilon = 1.0
[[query]]
name = "mean"
kind = "program"
program = "trios.py:mean_height"
""",
        tmp_path,
    )
    # A Lipschitz program in the covered column: 1 + 2 * 0.275 times its cost, not 3 times.
    assert document["level"] == pytest.approx(0.5 * 1.55, rel=1e-5)
    assert 165 < document["results"][-1]["outputs"][0]["mean"] < 175
