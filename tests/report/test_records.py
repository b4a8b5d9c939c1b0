"""What a record is, is told where people look: in the report, and when a study is checked."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from bayesdp import explain
from bayesdp.cli import app
from bayesdp.release import Study
from bayesdp.report.dependence import correlations
from bayesdp.report.html import render
from bayesdp.report.numbers import THOUSANDS, level_words
from bayesdp.report.phrases import becomes
from bayesdp.report.reach import LevelAtDelta
from bayesdp.report.sections import question, study_section
from bayesdp.report.studies import (
    level_scope,
    release_warnings,
    show_check,
    show_release,
    warnings,
)
from tests.report.explained import CHAIN, chain_study, dp_study, family_study, gaussian_study


def windows(folder: Path, population: dict[str, Any] | None, **budget: Any) -> Study:
    """Windows of ten seconds: 300 of each of two people, or 600 of a single one."""
    several = population is None or population.get("length") != 600
    person = {"person": {"role": "series"}} if several else {}
    order = list(range(300)) * 2 if several else list(range(600))
    return Study(
        pd.DataFrame({"person": ["a"] * 300 + ["b"] * 300, "window": order, "up": [0, 1] * 300}),
        dataset="windows",
        n=600,
        columns={**person, "window": {"role": "order", "step": 1}, "up": {"states": [0, 1]}},
        budget={"epsilon": 1.0} | budget,
        queries=[{"name": "up", "kind": "count", "where": "up == 1"}],
        ledger=str(folder / "ledger.db"),
        **({} if population is None else {"population": population | {"covers": ["up"]}}),
    )


STAYS = {"model": "markov", "transition": [[0.9, 0.1], [0.1, 0.9]], "length": 300}


def warning_of(study: Study) -> str:
    """The one warning of a check, which a release and its report must repeat."""
    before = study.spends()
    checked = study.check()
    actual = warnings(checked, before)
    shown = io.StringIO()
    show_check(Console(file=shown, width=1000), checked, before=before)
    release = study.release(again=True)
    assert release_warnings(release) == actual
    show_release(Console(file=shown, width=1000), release, study.spec.budget.notion)
    page = render([study_section(study, release, "")])
    assert ('<p class="warning">' in page) == bool(actual)
    for warning in actual:
        assert shown.getvalue().count(warning.replace(THOUSANDS, " ")) == 2, "once for each command"
        assert warning.replace("'", "&#x27;") in page
    assert len(actual) <= 1
    return "".join(actual)


@pytest.mark.parametrize("budget", [{}, {"delta": 1e-6}, {"delta": 1e-6, "noise": "gaussian"}])
@pytest.mark.parametrize("earlier", [0, 1])
def test_the_level_for_all_rows_of_a_series_is_that_of_explain(
    tmp_path: Path, budget: dict[str, Any], earlier: int
) -> None:
    study = chain_study(tmp_path, days=4, **budget)
    for _ in range(earlier):
        study.release(again=True)
    joint = explain(study).facts["joint"]
    limits = becomes(LevelAtDelta(joint["level"], joint["delta"]))
    warning = warning_of(study)
    assert warning.startswith(
        "One record is one row of the table: one 'day' of one 'patient'; for a fact about all rows "
        f"with the same 'patient' (at most 4 rows), 10 % can become {limits}"
    )
    assert warning.count(". ") == 0, "one sentence"


def test_almost_no_promise_is_called_so(tmp_path: Path) -> None:
    warning = warning_of(windows(tmp_path, STAYS))
    assert "one 'window' of one 'person'" in warning
    assert "(at most 300 rows)" in warning
    assert warning.endswith("which is almost no promise.")


def test_a_table_that_is_one_series_warns_too(tmp_path: Path) -> None:
    warning = warning_of(windows(tmp_path, STAYS | {"length": 600}))
    assert "for a fact about all rows (at most 600 rows), 10 % can become" in warning


@pytest.mark.parametrize(
    ("population", "budget"), [({"model": "independent"}, {}), (None, {"notion": "dp"})]
)
def test_where_nothing_is_known_of_several_rows_that_is_said(
    tmp_path: Path, population: dict[str, Any] | None, budget: dict[str, Any]
) -> None:
    assert warning_of(windows(tmp_path, population, **budget)) == (
        "One record is one row of the table: one 'window' of one 'person', and the level is not "
        "for a person with several of them."
    )


@pytest.mark.parametrize("make", [dp_study, family_study, gaussian_study])
def test_rows_that_may_be_people_give_no_warning(make: Any, tmp_path: Path) -> None:
    assert warning_of(make(tmp_path)) == ""


def test_the_commands_warn(tmp_path: Path) -> None:
    pd.DataFrame(
        {"person": ["a"] * 3 + ["b"] * 3, "day": [0, 1, 2] * 2, "up": [0, 1, 1] * 2}
    ).to_csv(tmp_path / "t.csv", index=False)
    file = tmp_path / "study.toml"
    file.write_text(
        '[data]\nsource = "t.csv"\ndataset = "d"\nn = 6\n[data.columns]\n'
        'person = {role = "series"}\nday = {role = "order", step = 1}\nup = {states = [0, 1]}\n'
        '[population]\nmodel = "markov"\ntransition = [[0.9, 0.1], [0.1, 0.9]]\nlength = 3\n'
        'covers = ["up"]\n[budget]\nepsilon = 1.0\n'
        '[[query]]\nname = "q"\nkind = "count"\nwhere = "up == 1"\n'
    )
    run = CliRunner().invoke
    warning = "all rows with the same 'person' (at most 3 rows)"
    checked = json.loads(run(app, ["check", str(file), "--json"]).stdout)
    assert warning in checked["warnings"][0]
    assert warning in " ".join(run(app, ["check", str(file)]).stdout.split())
    released = run(app, ["release", str(file), "--json"])
    assert warning in released.stderr
    json.loads(released.stdout)


@pytest.mark.parametrize(
    ("claim", "unit", "words"),
    [
        ({"notion": "dp"}, "row", "(one row), against somebody who knows all other records."),
        ({"notion": "dp"}, "person", "(all rows with the same 'person'), against somebody"),
        (
            {"notion": "bdp", "adversary": "any", "secrets": {"kind": "any values"}},
            "row",
            "(one row), against adversaries of class 'any' (",
        ),
        (
            {
                "notion": "bdp",
                "adversary": "uninformed",
                "secrets": {"kind": "bounded", "interval": [120.0, 220.0]},
            },
            "row",
            "(one row) while its value lies between 120 and 220, against adversaries of class "
            "'uninformed' (",
        ),
        (
            {
                "notion": "bdp",
                "adversary": "any",
                "secrets": {"kind": "bounded", "intervals": {"x": [0.0, 1.0], "y": [2.0, 3.0]}},
            },
            "row",
            "while its value lies between 0 and 1 (x), between 2 and 3 (y), against",
        ),
    ],
)
def test_a_release_says_for_whom_its_level_holds(
    claim: dict[str, Any], unit: str, words: str
) -> None:
    sentence = level_scope({"claim": claim, "unit": unit})
    assert sentence.startswith("The level is for each single record (")
    assert words in sentence
    assert sentence.endswith(
        "." if claim["notion"] == "dp" else "if records are related as declared."
    )


# -- the report ------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", [0, 1])
def test_the_report_states_the_level_outside_the_secrets_interval(
    tmp_path: Path, earlier: int
) -> None:
    study = gaussian_study(tmp_path, spend=1.0)
    for _ in range(earlier):
        study.release(again=True)
    release = study.release(again=True)
    section = study_section(study, release, "")
    text = " ".join(render([section]).split())
    assert "Nothing is promised about people" not in text
    outside = explain(release).facts["outside"]
    assert f"a weaker promise holds. Its level is {level_words(outside['level'])}:" in text
    assert f"becomes {becomes(LevelAtDelta(outside['level']))}." in text
    assert "whose values lie outside the stated interval; the weaker one is stated above" in text
    (assumed,) = [note for note in section.notes if note.startswith("secret values lie")]
    assert assumed.endswith("the level is the size of the group times the DP cost")
    cost = release.certificate.body["data_set"]["dp_epsilon"]
    assert 3 * cost <= outside["level"] <= 3 * cost * (1 + 1e-9), "families of three"
    inside = render([replace(section, secrets=None, interval=None, outside="")])
    assert "secrets interval" not in inside


def test_the_report_says_when_and_of_how_many(tmp_path: Path) -> None:
    study = gaussian_study(tmp_path)
    release = study.release(again=True)
    section = replace(study_section(study, release, ""), time="2026-07-01T23:05:09+02:00")
    text = render([section])
    assert "Released on 1 July 2026, 21:05 UTC. The table has 120 records. One record is" in text
    assert study_section(study, release, "").time == release.time
    assert "no correlation above 0.275" in text
    assert "12\N{NARROW NO-BREAK SPACE}000 records" in render([replace(section, n=12_000)])
    bare = render([replace(section, time="", n=None, record="")])
    assert '<p class="about">' not in bare


def test_the_report_has_the_numbers_of_the_population(tmp_path: Path) -> None:
    study = chain_study(tmp_path)
    text = render([study_section(study, study.release(), "")])
    assert "after 0 comes 0 with 75 %, 1 with 25 %; after 1 comes 0 with 40 %, 1 with 60 %." in text
    assert CHAIN["source"] in text


def test_correlations_are_those_of_the_covariance() -> None:
    covariance = [[4.0, 1.0, 0.0], [1.0, 1.0, -0.25], [0.0, -0.25, 1.0]]
    spec: dict[str, Any] = {"model": "gaussian", "covariance": covariance}
    assert correlations(spec) == (
        "Declared correlations: record 1 and record 2 0.5, record 1 and record 3 0, "
        "record 2 and record 3 -0.25."
    )
    named = correlations(spec | {"roles": ["child", "father", "mother"]})
    assert "father and mother -0.25" in named
    vectors = correlations(
        {"covariance": [[1, 0.5], [0.5, 1]], "columns": ["sbp", "dbp"], "size": 1}
    )
    assert vectors == "Declared correlations: sbp of record 1 and dbp of record 1 0.5."
    many = [[1.0 if i == j else 0.01 * i for i in range(6)] for j in range(6)]
    assert correlations({"covariance": many}).startswith("The largest declared correlation is")
    assert correlations({"covariance": [[1.0]]}) == ""
    assert correlations({"model": "gaussian", "size": 3, "max_correlation": 0.3}) == ""
    family = correlations({"model": "family", "members": [spec, {"model": "independent"}]})
    assert family.startswith("Description 1: Declared correlations")
    assert "Description 2" not in family


def test_the_report_says_what_was_asked(tmp_path: Path) -> None:
    study = windows(tmp_path, STAYS)
    section = study_section(study, study.release(), "")
    assert list(section.questions) == ["up: how many records there are, where up == 1."]
    assert f"<li>{section.questions[0]}</li>" in render([section])


def test_a_question_names_the_column_its_bounds_the_condition_and_the_groups() -> None:
    heights = {"bounds": [120, 220], "unit": "cm"}
    asked = {"kind": "mean", "column": "height", "where": "age > 3", "by": "sex", "name": "tall"}
    study = Study(
        pd.DataFrame({"height": [150.0, 160.0], "age": [4, 5], "sex": ["f", "m"]}),
        dataset="heights", n=2, budget={"notion": "dp", "epsilon": 1.0}, queries=[asked],
        columns={
            "height": heights,
            "age": {"public": True, "bounds": [0, 100]},
            "sex": {"public": True, "states": ["f", "m"]},
        },
    )  # fmt: skip
    (query,) = study.spec.queries
    assert question(query, study.spec) == (
        "tall: the mean of 'height', values counted as at least 120 and at most 220 cm, where "
        "age > 3, for each value of 'sex'."
    )
