"""`bayesdp fit`: a population file that all commands read, what was looked at, and refusals."""

from __future__ import annotations

import json
import shutil
import tomllib
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.populations import load

WHEEZE = ["wheeze.csv", "--model", "markov", "--column", "wheeze", "--length", "4"]
BITS = ["--states", "0,1", "--series", "child"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("wheeze.csv", "galton.csv"):
        shutil.copy(str(files("bayesdp").joinpath(f"demo_data/{name}")), name)
    rows = [f"2024-01-{day + 1:02},{day % 5 + day % 3}" for day in range(31)]
    Path("days.csv").write_text("\n".join(["day,kwh", *rows]))
    Path("steps.csv").write_text("\n".join(["t,x", *(f"{t},{t % 5 + t % 3}" for t in range(60))]))


def fit(*words: str) -> Any:
    return CliRunner().invoke(app, ["fit", *words])


def answer(*words: str) -> Any:
    result = fit(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_population_file_for_all_commands() -> None:
    out = ["--out", "population.json"]
    result = fit(*WHEEZE, *BITS, *out)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    for words in ("with confidence 0.95", "0.9132 (0.88", "fit --order 2", "is in population.json"):
        assert words in said
    first = json.loads(Path("population.json").read_text())
    document = answer(*WHEEZE, *BITS, *out, "--confidence", "0.5")
    assert set(document) == {"population", "diagnostics", "estimate"}
    assert json.loads(Path("population.json").read_text()) == document["population"] != first
    assert document["estimate"]["states"] == [0, 1]
    assert [check["name"] for check in document["diagnostics"]] == [
        "order 2 against 1",
        "series against each other",
    ]
    level = CliRunner().invoke(app, ["leakage", "population.json", "--epsilon", "0.1", "--json"])
    assert json.loads(level.stdout)["best"]["theorem"] in ("cluster-size", "markov-intervals")


def test_a_file_of_another_country() -> None:
    """The same population as of the plain file, with the options that a study has as keys."""
    rows = Path("days.csv").read_text().split("\n")[1:]
    lines = ["Tag;Größe", *(row.replace(",", ";") + ",5" for row in rows)]
    Path("tage.csv").write_bytes("\n".join(lines).encode("latin-1"))
    asked = ["--model", "markov", "--cuts", "2.5", "--length", "4"]
    written = ["--separator", ";", "--decimal", ",", "--encoding", "latin-1"]
    plain = answer("days.csv", *asked[:2], "--cuts", "2", *asked[4:], "--column", "kwh")
    other = answer("tage.csv", *asked, *written, "--column", "Größe")
    assert other["estimate"]["transition"] == plain["estimate"]["transition"]
    for words, said in (
        (["tage.csv", *asked, "--column", "Größe"], "--encoding of a fit"),
        (["days.csv", *asked, "--column", "kwh", "--decimal", "x"], "--decimal is 'x': expected"),
        (["d.parquet", *asked, "--column", "kwh", "--decimal", ","], "nothing for d.parquet"),
        (["s.toml", "--private", "--decimal", ","], "The study says how its CSV files are"),
    ):
        result = fit(*words)
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "model",
    [
        ["--model", "markov", "--cuts", "2.5", "--length", "4"],
        ["--model", "markov", "--where", "kwh > 2", "--length", "4"],
        ["--model", "finite", "--cuts", "2.5", "--cluster", "week", "--size", "4", "--point"],
        ["--model", "gaussian-clusters", "--cluster", "week"],
    ],
    ids=lambda words: "".join(words[1:4]),
)
def test_codes_are_as_empty_cells(model: list[str]) -> None:
    rows = [f"{day // 4},{day % 5 + day % 3}" for day in range(31)]
    for name, cells in (("empty", ["", ""]), ("coded", ["-9.0", " 999"])):
        mixed = [*rows[:7], f"1,{cells[0]}", *rows[8:20], f"5,{cells[1]}", *rows[21:]]
        Path(f"{name}.csv").write_text("\n".join(["week,kwh", *mixed]))
    asked = [*model, "--column", "kwh"]
    assert answer("coded.csv", *asked, "--codes", "-9,999") == answer("empty.csv", *asked)
    assert answer("coded.csv", *asked) != answer("empty.csv", *asked)
    wrong = {"9,9.0": "--codes is ['9', '9.0']: expected each code once", "1 000": "a number"}
    if "--where" in model:  # which may be about texts
        del wrong["1 000"]
    for codes, said in wrong.items():
        result = fit("coded.csv", *asked, "--codes", codes)
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())


def test_a_population_as_it_stands_in_a_study() -> None:
    for confidence in ("0.5", "0.95"):
        words = [*WHEEZE, *BITS, "--confidence", confidence]
        population = answer(*words, "--out", "population.toml")["population"]
        text = Path("population.toml").read_text()
        assert text.startswith('[population]\nmodel = "markov"\n')
        assert tomllib.loads(text) == {"population": population}
        assert load("population.toml").spec() == population
    assert "can stand in a study" in " ".join(
        fit(*words, "--out", "population.toml").stdout.split()
    )


def test_other_files_are_left_alone() -> None:
    before = Path("galton.csv").read_text()
    Path("mine.json").write_text('{"model": "independent", "source": "me"}')
    Path("study.toml").write_text('[population]\nmodel = "independent"\n')
    Path("other.toml").write_text('population = "fitted to "\n')
    targets = ("galton.csv", "mine.json", "wheeze.csv", "study.toml", "other.toml")
    for target in (*targets, "nowhere/population.json"):
        result = fit(*WHEEZE, *BITS, "--out", target)
        assert result.exit_code == 2
        assert f"--out is '{target}'" in result.stderr
    assert Path("galton.csv").read_text() == before


def test_the_other_models() -> None:
    clusters = ["galton.csv", "--model", "gaussian-clusters", "--column", "height"]
    document = answer(*clusters, "--cluster", "family", "--size", "4")
    assert document["population"]["model"] == "gaussian"
    assert len(document["population"]["covariance"]) == 4
    assert document["estimate"]["lower"] < document["estimate"]["correlation"]
    assert "intraclass correlation is about" in document["diagnostics"][0]["sentence"]
    roles = ["galton.csv", "--model", "gaussian-roles", *clusters[3:], "--cluster", "family"]
    document = answer(*roles, "--role", "role")
    assert document["population"]["size"] == 3
    assert document["estimate"]["roles"] == ["child", "father", "mother"]
    assert "child and father 0.18" in document["diagnostics"][0]["sentence"]
    series = ["steps.csv", "--model", "ar1", "--column", "x", "--time", "t", "--step", "1"]
    document = answer(*series, "--length", "100")
    assert (document["population"]["model"], document["population"]["length"]) == (
        "autoregressive",
        100,
    )
    assert fit(*clusters, "--cluster", "family").exit_code == 0


def test_trees_and_networks() -> None:
    rows = ["name,mother,ill"]
    for i in range(40):
        rows += [f"m{i},,{i % 3 // 2}", f"c{i},m{i},{i % 3 // 2 if i % 5 else 1}"]
    Path("people.csv").write_text("\n".join(rows))
    words = ["people.csv", "--model", "tree", "--column", "ill", "--states", "0,1"]
    words += ["--record", "name", "--parent", "mother"]
    assert len(answer(*words)["population"]["nodes"]) == 80
    Path("study.csv").write_text("name,mother\na,\nb,a\n")
    document = answer(*words, "--edges", "study.csv", "--out", "tree.json")
    assert [node["name"] for node in document["population"]["nodes"]] == ["a", "b"]
    assert sum(map(sum, document["estimate"]["counts"])) == 40
    refused = fit(*words, "--edges", "study.csv", "--out", "study.csv")
    assert refused.exit_code == 2
    Path("cases.csv").write_text("a,b\n" + "0,0\n1,1\n0,1\n1,1\n" * 9)
    Path("arrows.csv").write_text("parent,child\na,b\n")
    network = ["cases.csv", "--model", "network", "--structure", "arrows.csv"]
    document = answer(*network, "--out", "network.json")
    assert document["estimate"]["b"]["counts"] == [[9, 9], [0, 18]]
    own = [*words, "--edges", "study.csv"]
    for fitted in (own, network, [*WHEEZE, *BITS, "--order", "1,2"]):
        population = answer(*fitted, "--out", "population.toml")["population"]
        assert tomllib.loads(Path("population.toml").read_text()) == {"population": population}
        assert load("population.toml").spec() | {"model": population["model"]} == population
    for name in ("tree.json", "network.json"):
        assert "without an allowance for chance" in load(name).source
    assert "no population holds their uncertainty" in " ".join(fit(*network).stdout.split())


STUDY = """
[data]
source = "wheeze.csv"
dataset = "wheeze"
n = 2148
[data.columns]
child = { role = "series" }
age = { role = "order", step = 1 }
wheeze = { states = [0, 1] }
[budget]
notion = "bdp"
epsilon = 10.0
[[query]]
name = "wheeze"
kind = "count"
where = "wheeze == 1"
"""


@pytest.mark.parametrize("more", [[], ["--order", "1,2"]])
def test_a_check_repeats_what_is_not_covered(more: list[str]) -> None:
    for point in ([], ["--point"]):
        assert fit(*WHEEZE, *BITS, *more, *point, "--out", "population.toml").exit_code == 0
        population = Path("population.toml").read_text() + 'covers = ["wheeze"]\n'
        Path("study.toml").write_text(STUDY + population)
        result = CliRunner().invoke(app, ["check", "study.toml"])
        assert result.exit_code == 0, result.output
        printed = " ".join((result.stdout + result.stderr).split())
        assert ("The population is an estimate without an allowance for chance" in printed) == bool(
            point
        )


def test_several_orders() -> None:
    document = answer(*WHEEZE, *BITS, "--order", "1,2", "--point", "--out", "both.json")
    assert [m.get("order", 1) for m in document["population"]["members"]] == [1, 2]
    assert load("both.json").leakage(0.1).best.theorem == "family"
    said = " ".join(fit(*WHEEZE, *BITS, "--order", "1,2").stdout.split())
    assert "Order 2: fitted to" in said
    assert "after 2" in said


def test_series_with_dates() -> None:
    dated = ["days.csv", "--model", "ar1", "--column", "kwh", "--time", "day"]
    begin = date(2024, 1, 1)
    rows = [f"{begin + timedelta(days=d)},{d * d % 37}" for d in range(150)]
    Path("days.csv").write_text("\n".join(["day,kwh", *rows]))
    assert answer(*dated, "--step", "1 day")["population"]["length"] == 150
    german = ["1.1.2024,5", *(f"{d % 28 + 1}.{d // 28 + 1}.2024,{d % 7}" for d in range(1, 150))]
    Path("days.csv").write_text("\n".join(["day,kwh", *german]))
    written = ("--step", "1 day", "--time-format", "%d.%m.%Y")
    assert answer(*dated, *written)["population"]["length"] > 150  # months have more than 28 days
    chain = ["days.csv", "--model", "markov", "--column", "kwh", "--length", "9", "--cuts", "3"]
    assert sum(map(sum, answer(*chain, "--time", "day", *written)["estimate"]["counts"])) < 149
    wrong = fit(*chain, "--time", "day", "--step", "1 day", "--time-format", "d.m.Y")
    assert "--time-format is 'd.m.Y': expected" in " ".join(wrong.stderr.split())
    refused = fit(*dated)
    assert refused.exit_code == 2
    assert "1 day" in refused.stderr


def test_a_joint_law_is_certified() -> None:
    rows = ["household,role,ill"]
    for i, (index, contact) in enumerate([(1, 1)] * 30 + [(1, 0)] * 20 + [(0, 0)] * 150):
        rows += [f"{i},index,{index}", f"{i},contact,{contact}"]
    Path("ill.csv").write_text("\n".join(rows))
    words = ["ill.csv", "--model", "finite", "--column", "ill", "--cluster", "household"]
    words += ["--states", "0,1"]
    document = answer(*words, "--role", "role", "--out", "law.json")
    assert document["estimate"]["roles"] == ["contact", "index"]
    assert document["estimate"]["counts"] == [[150, 20], [0, 30]]
    assert {m["model"] for m in document["population"]["members"]} == {"finite"}
    asked = ["leakage", "law.json", "--epsilon", "0.5", "--certificate", "c.json"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    verdict = CliRunner().invoke(app, ["verify", "c.json", "--json"])
    assert json.loads(verdict.stdout)["verdict"] == "VALID ASSUMING"
    shown = " ".join(fit(*words).stdout.split())
    for said in ("the same in every order", "150", "records form mutually independent clusters"):
        assert said in shown
    point = answer(*words, "--point")
    assert point["population"]["probabilities"] == [[0.75, 0.05], [0.05, 0.15]]


def test_diagnoses_alone() -> None:
    against = fit(*WHEEZE, *BITS, "--diagnose")
    assert against.exit_code == 1
    assert "Order 2 fits better than order 1" in " ".join(against.stdout.split())
    assert "population" not in against.stdout.split("Order 2")[0]
    rows = [f"{t},{0.1 * (t * t % 101)}" for t in range(0, 160, 2)]
    Path("even.csv").write_text("\n".join(["t,x", *rows]))
    series = ["even.csv", "--model", "ar1", "--column", "x", "--time", "t", "--step", "2"]
    result = fit(*series, "--diagnose", "--json")
    checks = json.loads(result.stdout)["diagnostics"]
    assert result.exit_code == (0 if all(check["fits"] for check in checks) else 1)
    assert [check["name"] for check in checks][1:] == [
        "normality of shocks (what is new in a record)",
        "spread over the time",
        "lag 2 against lag 1",
        "seasons",
    ]
    refused = fit(*series, "--diagnose", "--out", "population.json")
    assert refused.exit_code == 2
    assert "--diagnose: expected no --out beside it" in refused.stderr
    assert not Path("population.json").exists()


def test_states_times_and_orders_as_they_are_typed() -> None:
    dated = ["days.csv", "--model", "markov", "--column", "kwh", "--length", "365"]
    by_day = answer(*dated, "--cuts", "1.5,3", "--time", "day", "--step", "1 day")
    in_file = answer(*dated, "--cuts", "1.5,3")
    assert by_day["estimate"]["states"] == [0, 1, 2]
    assert by_day["estimate"]["counts"] == in_file["estimate"]["counts"]
    point = answer(*dated, "--where", "kwh > 2", "--order", "auto", "--point")
    assert "transition" in point["population"]
    assert "without an allowance" in point["population"]["source"]
    roles = ["galton.csv", "--model", "markov", "--column", "role", "--length", "3"]
    named = answer(*roles, "--states", "child,father,mother")
    assert named["estimate"]["states"] == ["child", "father", "mother"]
    assert named["estimate"]["counts"][0][1] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (WHEEZE[:5], "--length: expected a value, which the model markov needs"),
        (WHEEZE, "--states is []: expected one way"),
        ([*WHEEZE, "--cluster", "child"], "--cluster is 'child': expected nothing for the model"),
        (
            [*WHEEZE, *BITS, "--order", "two"],
            "--order is 'two': expected 1, 2, 3 or auto, or such as 1,2",
        ),
        ([*WHEEZE, *BITS, "--order", "5"], "--order is 5"),
        ([*WHEEZE, *BITS, "--order", "1,3"], "that follow each other"),
        ([*WHEEZE, "--cuts", "low"], "--cuts is 'low': expected a number"),
        ([*WHEEZE, *BITS, "--point", "--confidence", "0.9"], "--point: expected no --confidence"),
        ([*WHEEZE, *BITS, "--confidence", "2"], "--confidence is 2.0"),
        ([*WHEEZE, "--where", "weeze > 0"], "--where is 'weeze'"),
        ([*WHEEZE, *BITS, "--time", "age"], "--step is None"),
        (["none.csv", *WHEEZE[1:], *BITS], "table is 'none.csv': expected a file that exists"),
    ],
)
def test_refusals_name_the_option(words: list[str], message: str) -> None:
    result = fit(*words)
    assert result.exit_code == 2
    assert message in result.stderr


PRIVATE_STUDY = """
[data]
source  = "days.csv"
dataset = "days"
n       = {n}

[data.columns]
day  = {{ role = "order", step = "1 day" }}
kwh  = {{ bounds = [0, 10] }}
high = {{ from = "kwh", where = "kwh > 2" }}

[budget]
notion  = "dp"
epsilon = 20.0

[[query]]
name  = "high"
kind  = "count"
where = "high == 1"
"""


@pytest.fixture
def private() -> list[str]:
    rows = [f"2024-01-{day + 1:02},{(day // 3) % 2 * 3}" for day in range(31)]
    Path("days.csv").write_text("\n".join(["day,kwh", *rows]))
    Path("study.toml").write_text(PRIVATE_STUDY.format(n=31))
    return ["study.toml", "--private", "--column", "high", "--length", "31", "--dp-epsilon", "9"]


def test_a_private_fit_is_planned_paid_for_once_and_written(private: list[str]) -> None:
    planned = answer(*private, "--plan")
    assert planned["fit"]["dp_epsilon"] == planned["fit"]["level"] == 9.0
    assert set(planned["expected"]) >= {"supposed", "lower", "upper", "calibration"}
    assert not Path("ledger.db").exists()
    said = " ".join(fit(*private, "--plan").stdout.split())
    for words in ("The fit is 9-DP", "times the noise", "Nothing was read, and nothing was spent"):
        assert words in said
    Path("guess.json").write_text(
        '{"model": "markov", "transition": [[0.7, 0.3], [0.4, 0.6]], "length": 31}'
    )
    supposed = answer(*private, "--plan", "--suppose", "guess.json")["expected"]["supposed"]
    assert supposed["transition"] == [[0.7, 0.3], [0.4, 0.6]]
    assert not Path("ledger.db").exists()

    first = fit(*private, "--out", "population.toml")
    assert first.exit_code == 0, first.output
    said = " ".join(first.stdout.split())
    for words in ("The fit is 9-DP and promises no more", "stand in a study as it is.", "register"):
        assert words in said
    assert "stand in a study as it is, with" not in said
    written = tomllib.loads(Path("population.toml").read_text())["population"]
    assert written["covers"] == ["high"]
    second = answer(*private)
    assert second["population"] == written
    assert second["estimate"]["is_new"] is False
    assert "Nothing was spent" in " ".join(fit(*private, "--out", "population.toml").stdout.split())
    assert answer(*private, "--again")["estimate"]["is_new"] is True
    ledger = CliRunner().invoke(app, ["ledger", "show", "--json"])
    (data_set,) = json.loads(ledger.stdout)["datasets"]
    assert data_set["spent"] == 18.0
    assert len(data_set["releases"]) == 2
    assert fit(*private, "--again").exit_code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--order", "auto"], "--order is 'auto'"),
        (["--order", "x"], "--order is 'x'"),
        (["--states", "0,1"], "--states is '0,1'"),
        (["--point"], "--point"),
        (["--suppose", "x.json"], "--plan beside it"),
        (["--model", "ar1"], "--model is 'ar1'"),
        (["--out", "days.csv"], "--out is 'days.csv'"),
        (["--out", "ledger.db"], "--out is 'ledger.db'"),
        (["--plan", "--suppose", '{"model": "independent"}'], "model markov"),
    ],
)
def test_private_fits_that_are_refused(private: list[str], words: list[str], said: str) -> None:
    result = fit(*private, *words)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert not Path("ledger.db").exists()


def test_what_private_fits_and_others_need(private: list[str]) -> None:
    for words, said in (
        (private[:-2], "--dp-epsilon: expected what the fit may cost"),
        (["days.csv", "--column", "kwh"], "--model: expected one of markov"),
        (["days.csv", "--model", "markov", "--column", "kwh", "--dp-epsilon", "1"], "--dp-epsilon"),
        (["days.csv", "--model", "markov", "--column", "kwh", "--again"], "--again"),
    ):
        result = fit(*words)
        assert result.exit_code == 2, words
        assert said in result.stderr
    assert fit(*private[:-1], "1").exit_code == 1  # too few records for so much noise
    assert not Path("ledger.db").exists()
