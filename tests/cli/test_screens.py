"""What stands on one screen, and several levels side by side."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.release.checking.sweep import Sweep, SweepRow
from bayesdp.report.studies import show_sweep
from tests.golden.cases import FILES, PEOPLE
from tests.release.program_studies import HEAD
from tests.release.program_studies import PEOPLE as PROGRAMS

LINES = 24
LONG = "the mean height of everybody who was measured in the year of the survey, in centimetres"
THREE = (
    '\n[[query]]\nname = "by role"\nkind = "mean"\ncolumn = "height"\nby = "role"\n'
    '\n[[query]]\nname = "smokers"\nkind = "proportion"\nwhere = "smokes == \'yes\'"\n'
)
OF_PROGRAMS = """[data]
dataset = "people"
source = "people.csv"
n = 8

[data.columns]
height = { bounds = [150, 190], unit = "cm" }
smokes = { states = [false, true] }
region = { public = true, states = ["north", "south"] }

[population]
model = "independent"
covers = ["height", "smokes"]

[budget]
epsilon = 4.0
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name, content in FILES.items():
        Path(name).write_text(str(content))


def run(*arguments: str, status: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result


def document(*arguments: str, status: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", status=status).stdout)


def words_of(text: str) -> str:
    return " ".join(text.split())


def on_a_screen(study: str, *, status: int = 0) -> list[str]:
    """What `check` shows: at most a screen, the level before the table with the errors."""
    result = run("check", study, status=status)
    shown = result.stdout.splitlines()
    assert len(shown) + len(result.stderr.splitlines()) <= LINES, result.output
    assert all(len(line) <= 80 for line in shown)
    text = "\n".join(shown)
    assert (
        text.index(" level ") < text.index("error at 95 %") < text.index("Budget of the data set")
    )
    longer = run("check", study, "--verbose", status=status).stdout
    expected = words_of(text).replace(" --verbose looks for what would help.", "")
    expected = expected.replace("--verbose shows them", "all are shown below")
    assert words_of(longer).startswith(expected)
    assert "noise scale" in longer
    assert "what it says and knows" in longer
    assert not any("noise scale" in line or "says and knows" in line for line in shown)
    return shown


@pytest.mark.parametrize("name", ["galton", "wheeze"])
def test_the_demo_studies_fit_a_screen(name: str) -> None:
    demo = Path(str(files("bayesdp").joinpath("demo_data")))
    shutil.copytree(demo, ".", dirs_exist_ok=True)
    on_a_screen(f"{name}.toml")


@pytest.mark.parametrize("delta", ["", "\ndelta = 1e-6"])
@pytest.mark.parametrize("name", ["mean height", LONG])
def test_a_study_of_three_queries_fits_a_screen(delta: str, name: str) -> None:
    text = PEOPLE.replace("mean height", name).replace("spend = 1.0", f"spend = 1.0{delta}")
    if name == LONG:  # so many that the noise is not larger than the answers, which is said too
        text = text.replace("n = 6", "n = 600")
    Path("people.toml").write_text(text + THREE)
    shown = on_a_screen("people.toml")
    budget = "(no release so far): BDP level 0 now, 1 after a release, of 3"
    assert f"Budget of the data set 'people' {budget}" in " ".join(shown)
    assert shown[-1].endswith("3 is left now.") or " is left now." in " ".join(shown[-2:])


def test_three_histograms_of_intervals_fit_a_screen() -> None:
    asked = "".join(
        f'\n[[query]]\nname = "heights by tens {i}"\nkind = "histogram"\ncolumn = "height"\n'
        f"bins = [100, 150, 160, 170, 180, 190, 20{i}]\n"
        for i in range(3)
    )
    Path("people.toml").write_text(
        PEOPLE.partition("[[query]]")[0].replace("n = 6", "n = 600") + asked
    )
    shown = " ".join(on_a_screen("people.toml"))
    assert shown.count("values are clipped to") == 3


def test_a_limit_says_which_releases_it_counts() -> None:
    Path("people.toml").write_text(PEOPLE)
    for _ in range(2):
        run("release", "people.toml")
    time = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
    counted = rf"2 releases since {time}, DP cost 0\.666667"
    shown = " ".join(run("check", "people.toml").stdout.split())
    budget = r"BDP level 2 now, 3 after a release, of 3; 1 is left now\."
    assert re.search(rf"Budget of the data set 'people' \({counted}\): {budget}", shown)
    run("release", "people.toml")
    refused = run("release", "people.toml", status=1).stderr
    assert re.search(rf"the data set: 3 releases since {time}, DP cost 1\. ", refused)
    ledger = " ".join(run("ledger", "show").stdout.split())
    assert re.search(rf"people \(one record: row\): 3 releases since {time}, DP cost 1", ledger)


def test_the_ledger_shows_the_entries_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    for name, analyst in (("people", "Ada L."), ("others", "Bo")):
        text = PEOPLE.replace("spend = 1.0", f'spend = 1.0\nanalyst = "{analyst}"')
        Path(f"{name}.toml").write_text(text.replace('"people"', f'"{name}"'))
        run("release", f"{name}.toml")
    run("release", "people.toml")

    def lines(*options: str) -> list[str]:
        shown = run("ledger", "show", *options).stdout.splitlines()
        return [re.split("  +", line.strip())[3] for line in shown if line.startswith("  20")]

    assert lines() == ["others.toml", "people.toml", "people.toml"]
    assert lines("--data-set", "others") == lines("--analyst", "Bo") == ["others.toml"]
    assert lines("--since", "2020-01-01", "--analyst", "Ada L.") == ["people.toml"] * 2
    assert lines("--since", "2999-01-01T00:00:00+01:00") == []
    assert lines("--until", "2020-01-01") == []
    assert lines("--until", "2999-01-01", "--analyst", "Bo") == ["others.toml"]
    first = document("ledger", "show")["datasets"][1]["releases"][0]["time"]
    later = document("ledger", "show", "--since", first, "--data-set", "people")["datasets"]
    assert len(later[0]["releases"]) == 2
    assert later[0]["analysts"][0]["releases"] == 2
    # What is spent counts all releases, whatever is shown.
    (other,) = document("ledger", "show", "--since", "2999-01-01", "--data-set", "people")[
        "datasets"
    ]
    assert other["releases"] == []
    assert other["spent"] == later[0]["spent"] > 0.6
    said = run("ledger", "show", "--analyst", "Bo", "--since", "2020-01-01").stdout
    only = (
        "those by 'Bo' and since 2020-01-01T00:00:00+00:00; tables are of all releases until now."
    )
    assert only in " ".join(said.split())
    said = run("ledger", "show", "--until", "2020-01-31").stdout
    assert "only those until 2020-01-31T23:59:59+00:00; tables" in " ".join(said.split())
    heads = [line for line in said.splitlines() if " reading " in line]
    assert len(heads) == 2
    assert all(" level now " in line and " left now " in line for line in heads)
    assert " now " not in run("ledger", "show").stdout
    for option, value, remedy in (
        ("--data-set", "peple", "Did you mean 'people'?"),
        ("--analyst", "Cy", "Known: Ada L., Bo."),
        ("--since", "yesterday", "such as 2026-11-01"),
        ("--until", "2026-13-01", "such as 2026-11-01"),
    ):
        error = run("ledger", "show", option, value, status=2).stderr
        assert error.startswith(f"Error: {option} is '{value}'")
        assert remedy in error
    error = run("ledger", "show", "--data-set", "people", "--analyst", "Bo", status=2).stderr
    assert error.endswith("Known: Ada L..\n")


def test_a_study_of_three_programs_fits_a_screen() -> None:
    Path("people.py").write_text(HEAD + PROGRAMS)
    asked = "".join(
        f'\n[[query]]\nname = "{name} of all"\nkind = "program"\nprogram = "people.py:{name}"\n'
        for name in ("smokers", "height", "northern")
    )
    Path("people.toml").write_text(OF_PROGRAMS + asked)
    shown = run("check", "people.toml").stdout
    assert len(shown.splitlines()) <= LINES, shown
    assert shown.count("ACCEPTED") == 3
    longer = run("check", "people.toml", "--verbose").stdout
    assert longer.startswith(shown)
    assert "It reads" in longer


def test_a_study_over_its_budget_fits_a_screen_and_begins_with_why() -> None:
    Path("people.toml").write_text(PEOPLE + THREE)
    for _ in range(3):
        run("release", "people.toml")
    shown = on_a_screen("people.toml", status=1)
    assert shown[0].startswith("Another release would be refused: ")
    assert re.search(
        r"released 3 times, the last one at .* by .* \(certificate: people-", " ".join(shown)
    )


def test_targets_stand_side_by_side() -> None:
    Path("people.csv").unlink()  # no data are read
    Path("people.toml").write_text(PEOPLE + THREE)
    shown = run("check", "people.toml", "--target", "0.1,0.3,1,9").stdout
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in shown.splitlines()
        if line.startswith("│") and line.strip("│ ")[0].isdigit()
    ]
    assert [row[0] for row in rows] == ["0.1", "0.3", "1", "9"]
    assert [row[1] for row in rows] == ["0.1", "0.3", "1", "9"]
    assert [row[-1] for row in rows] == ["fits", "fits", "fits", "refused"]
    errors = [float(row[3]) for row in rows]
    assert errors == sorted(errors, reverse=True)
    assert "At 9 a release would be refused: The budget of the data set" in shown
    assert not Path("ledger.db").exists()
    actual = document("check", "people.toml", "--target", "0.1,0.3,1,9")
    assert actual["dataset"] == "people"
    assert [item["fits"] for item in actual["targets"]] == [True, True, True, False]
    # The one that the study spends is what a plain check says, query by query.
    plain, same = document("check", "people.toml"), actual["targets"][2]
    assert {key: same[key] for key in ("claim", "queries", "noise")} == {
        key: plain[key] for key in ("claim", "queries", "noise")
    }
    assert same["target"] == plain["budget"]["spend"]
    assert actual["targets"][3]["refusal"].startswith("The budget of the data set")


def test_a_target_without_a_price_is_a_row_that_says_why() -> None:
    wanted = (
        '\n[[query]]\nname = "wanted"\nkind = "count"\nwhere = "smokes == \'yes\'"\nerror = 9\n'
    )
    Path("people.toml").write_text(PEOPLE + wanted)
    shown = " ".join(run("check", "people.toml", "--target", "0.1,3").stdout.split())
    assert "│ 0.1 │ - │ - │ - │ - │ refused │" in shown
    assert "At 0.1 a release would be refused: The wanted errors alone reach" in shown
    low, high = document("check", "people.toml", "--target", "0.1,3")["targets"]
    assert (low["claim"], low["queries"], low["fits"]) == (None, None, False)
    assert high["fits"]
    assert document("check", "people.toml", "--target", "0.1", status=1)["targets"] == [low]


def test_a_ledger_that_is_not_there_yet_is_named(tmp_path: Path) -> None:
    """Analysts in two folders, who mean to share a budget, see that they have two."""
    Path("people.toml").write_text(PEOPLE)
    new = f"A new ledger: {tmp_path / 'ledger.db'}\n"
    assert run("check", "people.toml").stderr == new
    assert new in run("release", "people.toml").stderr
    assert "new ledger" not in run("check", "people.toml").output
    assert "new ledger" not in run("release", "people.toml").output
    Path("other").mkdir()
    shutil.copy("people.csv", "other")
    Path("other/people.toml").write_text(PEOPLE)
    other = f"A new ledger: {tmp_path / 'other' / 'ledger.db'}\n"
    assert run("ledger", "register", "other/people.toml").stderr == other
    assert run("check", "other/people.toml").stderr == ""


def test_an_equal_refusal_is_said_once() -> None:
    rows = [SweepRow(1.0, None, "Why."), SweepRow(2.0, None, "So."), SweepRow(3.0, None, "Why.")]
    shown = Console(file=StringIO(), width=80)
    show_sweep(shown, Sweep((*rows, SweepRow(4.0, None, "Why."))))
    assert isinstance(shown.file, StringIO)
    assert shown.file.getvalue().splitlines() == [
        "At 1, 3 and 4 a release would be refused: Why.",
        "At 2 a release would be refused: So.",
    ]


def test_a_value_that_is_given_before_another_is_not_lost() -> None:
    Path("people.toml").write_text(PEOPLE)
    both = document("check", "people.toml", "--target", "0.5", "--target", "1,2")
    assert both == document("check", "people.toml", "--target", "0.5,1,2")
    pair = '{"model":"clusters","size":2}'
    twice = run("leakage", pair, "--epsilon", "1", "--epsilon", "2", status=2).stderr
    assert "Option '--epsilon' takes one value" in " ".join(twice.replace("│", " ").split())
    assert run("leakage", pair, "--epsilon", "1", "--json", "--json").stdout.startswith("{")


@pytest.mark.parametrize("levels", ["", "1,,2", "0", "nan", "1,-1", "a", "1;2", "1e7"])
def test_what_is_not_a_list_of_levels_is_refused(levels: str) -> None:
    Path("people.toml").write_text(PEOPLE)
    errors = run("check", "people.toml", "--target", levels, status=2).stderr
    assert re.match(r"Error: --target is .*: expected (levels with commas|a level above 0)", errors)


@pytest.mark.parametrize("option", ["--data", "--verbose"])
def test_targets_stand_alone(option: str) -> None:
    Path("people.toml").write_text(PEOPLE)
    errors = run("check", "people.toml", "--target", "1", option, status=2).stderr
    assert errors == (
        f"Error: {option}: expected nothing beside --target. Run the command again, without "
        "--target.\n"
    )


def test_the_ledger_says_who_released_what_at_which_cost_and_who_was_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    monkeypatch.setenv("COLUMNS", "160")
    Path("people.toml").write_text(PEOPLE)
    Path("ada.toml").write_text(PEOPLE.replace("spend = 1.0", 'spend = 1.9\nanalyst = "Ada L."'))
    actual = document("release", "people.toml")
    second = document("release", "ada.toml")
    run("release", "ada.toml", status=1)  # only 0.1 of 3 is left
    Path("people.csv").write_text(str(FILES["people.csv"]).replace("150", "much"))
    refused = PEOPLE.replace("spend = 1.0", "spend = 0.05")
    Path("late.toml").write_text(refused)
    run("release", "late.toml", status=1)
    lines = run("ledger", "show").stdout.splitlines()
    times = [line.split()[0] for line in lines if line.startswith("  20")]
    assert all(re.fullmatch(r"[\d-]{10}T[\d:]{8}\+00:00", time) for time in times)
    attempts = [re.split("  +", line.strip())[1:] for line in lines if line.startswith("  20")]
    asked = " (it asked for DP cost "
    first, other = (f"BDP level {level} (mean height)" for level in ("1", "1.9"))
    assert attempts == [
        ["released", "grace", "people.toml", f"DP cost 0.333334, {first}", actual["release"]],
        ["released", "Ada L.", "ada.toml", f"DP cost 0.633334, {other}", second["release"]],
        ["refused", "Ada L.", "ada.toml", f"because of the budget{asked}0.633334)"],
        ["refused", "grace", "late.toml", f"because of what is in the table{asked}0.0166667)"],
    ]
    said = " ".join(lines)
    assert "Ada L.: 1 release, DP cost 0.633334; 1 attempt refused, which asked for" in said
    assert "Together: DP cost 0.966667. These are DP costs, each that of an analyst" in said
    assert lines[-1] == "Refused once because of what is in the table: people"
    shown = document("ledger", "show")
    (dataset,) = shown["datasets"]
    assert [item["analyst"] for item in dataset["releases"]] == ["grace", "Ada L."]
    assert dataset["refusals"] == 2
    assert [(line["analyst"], line["reason"]) for line in shown["refusals"]] == [
        ("Ada L.", "budget"),
        ("grace", "table"),
    ]


@pytest.mark.parametrize("name", ['""', '"  "', '"a\\u202eb"', "7"])
def test_an_analyst_is_a_name(name: str) -> None:
    Path("people.toml").write_text(PEOPLE.replace("spend = 1.0", f"analyst = {name}"))
    assert run("check", "people.toml", status=2).stderr.startswith("Error: budget.analyst is ")
