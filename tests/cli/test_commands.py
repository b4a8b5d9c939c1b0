"""The commands on a good study, for people and for programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp import kernel
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.cli import app
from bayesdp.release.certificates import derivation
from tests.golden.cases import DAYS, FILES, PEOPLE

QUERIES = (
    '\n[[query]]\nname = "by role"\nkind = "mean"\ncolumn = "height"\nby = "role"\n'
    '\n[[query]]\nname = "smokers"\nkind = "proportion"\nwhere = "smokes == \'yes\'"\n'
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for name, content in FILES.items():
        Path(name).write_text(str(content))
    Path("people.toml").write_text(PEOPLE + QUERIES)
    Path("days.toml").write_text(DAYS)


def run(*arguments: str, status: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result


def document(*arguments: str, status: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", status=status).stdout)


def test_check_reads_no_data() -> None:
    Path("people.csv").unlink()
    actual = document("check", "people.toml")
    assert actual["budget"]["fits"]
    assert actual["claim"]["epsilon"] <= actual["budget"]["spend"] == 1.0
    assert [item["name"] for item in actual["queries"]] == ["mean height", "by role", "smokers"]
    assert actual["queries"][0]["error"]["value"] > 0
    assert actual["queries"][1]["error"]["value"] is None  # it depends on the sizes of the groups
    shown = run("check", "people.toml").stdout
    assert re.search(r"by role .* [0-9.]+ / the rows of the ?group", " ".join(shown.split()))
    assert "cluster-size" in shown
    run("check", "people.toml", "--data", status=2)
    assert not Path("ledger.db").exists()


def test_check_fits_a_screen_and_begins_with_what_matters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("check", "people.toml").stdout.splitlines()
    assert len(lines) <= 24
    assert lines[0].startswith("Together: DP cost ")
    assert lines[1].startswith("The level is by the theorem cluster-size")
    assert not any("what it says and knows" in line for line in lines)
    longer = run("check", "people.toml", "--verbose").stdout
    said = " ".join(" ".join(lines).split()).replace(" --verbose looks for what would help.", "")
    assert " ".join(longer.split()).startswith(said)
    assert "what it says and knows" in longer
    for _ in range(3):
        run("release", "people.toml")
    refused = run("check", "people.toml", status=1).stdout
    assert refused.startswith("Another release would be refused: ")


def test_messages_name_the_option_that_was_typed() -> None:
    two = '{"model":"clusters","size":2}'
    for command, option in (
        (("leakage", two, "--epsilon", "1", "--delta", "7"), "--delta"),
        (("leakage", two, "--epsilon", "-1"), "--epsilon"),
        (("leakage", two, "--rho", "1", "--delta", "7"), "--delta"),
        (("calibrate", two, "--target", "1", "--delta", "7"), "--delta"),
        (("calibrate", two, "--target", "nan"), "--target"),
        (("calibrate", two, "--target", "1e-323", "--delta", "1e-6"), "--target"),
    ):
        assert run(*command, status=2).stderr.startswith(f"Error: {option} is ")


def test_nothing_spent_is_shown_as_0_and_all_spent_as_nothing_left() -> None:
    shown = run("check", "people.toml").stdout
    assert "e-324" not in shown
    for _ in range(3):
        run("release", "people.toml")
    shown = run("ledger", "show").stdout
    row = next(line for line in shown.splitlines() if "Bayesian DP" in line)
    assert [cell.strip() for cell in row.split("│")[2:5]] == ["3", "3", "0"]
    refused = run("release", "people.toml", status=1).stderr
    assert " 0 of 3 is left" in refused
    # The same number in every place, and never below what was spent.
    spent = document("ledger", "show")["datasets"][0]["spent"]
    cost = up_words(spent)
    assert float(cost) >= spent
    assert f", DP cost {cost}. " in refused
    assert cost in next(line for line in shown.splitlines() if "DP spent" in line)


def test_a_cost_of_0_says_0() -> None:
    chain = '{"model":"markov","transition":[[0.9,0.1],[0.3,0.7]],"length":9}'
    shown = run("leakage", chain, "--epsilon", "0").stdout
    assert "e-324" not in shown
    assert "at most e^0 = 1" in " ".join(shown.split())
    assert document("leakage", chain, "--epsilon", "0")["best"]["epsilon"] == 0.0
    assert document("leakage", chain, "--epsilon", "1e-12")["best"]["epsilon"] >= 1e-12
    law = '{"model":"finite","probabilities":[[0.4,0.1],[0.1,0.4]]}'
    run("leakage", law, "--epsilon", "0", "--certificate", "nothing.json")
    assert run("verify", "nothing.json").stdout.startswith("VALID")


def test_a_certificate_with_another_level_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lowest level can't be verified in its time, the next one is certified."""

    def hurried(step: dict[str, Any]) -> float:
        if step["rule"] == "markov-recursion":
            raise kernel.TooSlowError("slow")
        return proved(step)

    proved = kernel.certified_level
    chain = '{"model":"markov","transition":[[0.9,0.1],[0.3,0.7]],"length":9}'
    asked = ("leakage", chain, "--epsilon", "0.5", "--certificate")
    assert not run(*asked, "best.json").stderr
    monkeypatch.setattr(kernel, "certified_level", hurried)
    derivation._certified.cache_clear()
    warning = run(*asked, "next.json").stderr
    assert "The certificate's level is 2.18671, by markov-contraction" in warning
    derivation._certified.cache_clear()


def test_readings_are_told_apart() -> None:
    run("release", "people.toml")
    for size in (30, 31):
        Path("wide.toml").write_text(
            PEOPLE.replace("size = 3", f"size = {size}").replace("epsilon = 3.0", "epsilon = 15.0")
        )
        run("ledger", "register", "wide.toml")
    shown = " ".join(run("ledger", "show").stdout.split())
    for reading in document("ledger", "show")["datasets"][0]["readings"]:
        assert f"size = {reading['population']['size']}" in shown
        assert f"[{reading['key'][:8]}]" in shown


def test_a_reading_that_does_not_match_says_in_what() -> None:
    run("release", "people.toml")
    for old, new, difference in (
        ("size = 3", "size = 30", "population.size (30 here, 3 there)"),
        ("epsilon = 3.0", 'epsilon = 3.0\nadversary = "informed"', "budget.adversary ('informed'"),
    ):
        Path("other.toml").write_text(PEOPLE.replace(old, new))
        refused = run("check", "other.toml", status=2).stderr
        assert f"This study's differs in {difference}" in refused
        assert refused.count(" here, ") == 1
    # Of several readings the nearest counts.
    wide = PEOPLE.replace("size = 3", "size = 30").replace("epsilon = 3.0", "epsilon = 15.0")
    Path("wide.toml").write_text(wide)
    run("ledger", "register", "wide.toml")
    Path("other.toml").write_text(wide.replace("size = 30", "size = 29"))
    refused = run("check", "other.toml", status=2).stderr
    assert "This study's differs in population.size (29 here, 30 there). Match" in refused


def test_tables_have_no_empty_headers() -> None:
    chain = '{"model":"markov","transition":[[0.9,0.1],[0.3,0.7]],"length":9}'
    commands = (["leakage", chain, "--epsilon", "1"], ["calibrate", chain, "--target", "1"])
    for command in commands:
        lines = run(*command).stdout.splitlines()
        heads = [line for line in lines if line.startswith("┃")]
        assert all(cell.strip() for line in heads for cell in line.strip("┃").split("┃"))


def test_check_with_data_is_for_the_curator() -> None:
    result = run("check", "people.toml", "--data")
    assert "as the study declares it" in result.stderr
    assert document("check", "people.toml", "--data")["findings"] == []


def test_release_and_all_that_follows() -> None:
    shown = document("release", "people.toml")
    (path,) = Path().glob("people-*.certificate.json")
    assert json.loads(path.read_text()) == shown["certificate"]
    assert shown["release"].startswith(path.name.split("-")[1].split(".")[0])
    assert len(shown["results"]) == 4
    verified = document("verify", str(path))
    assert verified["verdict"] == "VALID ASSUMING"
    assert any("a survey of 1990" in item for item in verified["assuming"])
    assert run("verify", str(path)).stdout.startswith("VALID ASSUMING\nIt claims:\n  - ")
    ledger = document("ledger", "show")
    (dataset,) = ledger["datasets"]
    assert dataset["dataset"] == "people"
    assert dataset["unit"] == "row"
    assert dataset["spent"] == shown["dp_epsilon"]
    assert dataset["readings"][0]["level"] == shown["level"]
    assert dataset["releases"][0]["id"] == shown["release"]
    assert "people" in run("ledger", "show").stdout


def test_release_for_people(tmp_path: Path) -> None:
    result = run("release", "people.toml", "--certificate", "mine.json", "--report", "report.html")
    assert "mean height" in result.stdout
    assert "cm" in result.stdout
    assert "The level is for each single record (one row)" in " ".join(result.stdout.split())
    assert "Certificate: mine.json" in result.stderr
    page = Path("report.html").read_text()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "mean height" in page
    assert "mine.json" in page
    # The next release's report counts this one.
    run("release", "people.toml", "--report", "second.html")
    assert "earlier releases" in Path("second.html").read_text()


def test_the_report_of_a_study_whose_n_is_in_the_data() -> None:
    Path("people.toml").write_text(PEOPLE.replace("n = 6", 'n = "from data"'))
    run("release", "people.toml", "--report", "report.html")
    assert "cluster-size" in Path("report.html").read_text()


def test_a_certificate_that_can_not_be_written_is_in_the_ledger() -> None:
    long = Path("people.toml").rename("p" * 240 + ".toml")
    result = run("release", str(long))
    assert "the ledger has it" in result.stderr
    assert document("ledger", "show")["datasets"][0]["releases"][0]["status"] == "released"


def test_verify_says_no() -> None:
    run("release", "days.toml", "--certificate", "c.json")
    plain = json.loads(Path("c.json").read_text())
    plain["claim"]["epsilon"] = 0.1
    Path("c.json").write_text(json.dumps(plain))
    assert document("verify", "c.json", status=1)["step"] == "digest"
    assert run("verify", "c.json", status=1).stdout.startswith("INVALID (digest: ")


def test_a_study_is_no_certificate() -> None:
    Path("commented.toml").write_text("# ours\n" + PEOPLE)
    run("key", "new", "me.key")
    for study in ("people.toml", "commented.toml"):
        for command in (("verify", study), ("sign", study, "--key", "me.key")):
            refused = run(*command, status=2).stderr
            assert refused.startswith(f"Error: CERT is '{study}': expected a certificate")
            assert "This is a study file" in refused
    Path("list.json").write_text('["data"]')  # the head of an empty table, were it TOML
    assert run("verify", "list.json", status=1).stdout.startswith("INVALID (format: ")


def test_another_reading_is_registered_and_then_binds() -> None:
    run("release", "people.toml")
    Path("wide.toml").write_text(
        PEOPLE.replace("size = 3", "size = 30").replace("epsilon = 3.0", "epsilon = 15.0")
    )
    refused = run("release", "wide.toml", status=2)
    assert "bayesdp ledger register" in refused.stderr
    registered = document("ledger", "register", "wide.toml")
    assert registered["reading"]["population"]["size"] == 30
    assert "Registered" in run("ledger", "register", "wide.toml").stdout
    # 1/3 is spent: 10 of the 15. A third release of people would fit its own total, not this one.
    assert document("ledger", "show")["datasets"][0]["readings"][1]["level"] == pytest.approx(10)
    refused = run("release", "people.toml", status=1)
    assert "size = 30" in refused.stderr
    assert "Nothing was released and nothing was spent" in refused.stderr
    checked = document("check", "people.toml", status=1)
    assert not checked["budget"]["fits"]
    assert [item["holds"] for item in checked["budget"]["readings"]] == [True, False]
    run("release", "wide.toml")


def test_leakage_and_calibrate_for_people() -> None:
    chain = '{"model":"markov","transition":[[0.9,0.1],[0.3,0.7]],"length":9}'
    shown = run("leakage", chain, "--epsilon", "0.5").stdout
    assert "markov-recursion" in shown
    assert "the lowest, so this one counts" in shown
    assert "noise multiplier" in run("calibrate", chain, "--target", "1").stdout
    Path("pop.toml").write_text(DAYS)  # a study's population
    Path("pop.json").write_text(chain)
    for file in ("pop.toml", "pop.json"):
        assert document("leakage", file, "--epsilon", "0.5")["best"]["theorem"]


def test_infinite_levels_are_null() -> None:
    far = '{"model":"clusters","size":1000}'
    shown = document("leakage", far, "--epsilon", "1e308")
    assert shown["best"] == {"theorem": "cluster-size", "epsilon": None}


def test_help_and_version() -> None:
    assert run("--version").stdout.startswith("bayesdp 0.")
    for command in ("leakage", "calibrate", "check", "release", "verify", "demo"):
        assert "Usage" in run(command, "--help").stdout
    assert "register" in run("ledger", "--help").stdout
    run("relase", status=2)
    run("leakage", status=2)


@pytest.mark.parametrize("choice", ["--adversary", "--kind", "--secrets"])
def test_choices_are_checked(choice: str) -> None:
    result = run("leakage", "{}", "--epsilon", "1", choice, "nonsense", status=2)
    assert "nonsense" in result.stderr
    assert result.stdout == ""


def test_demo() -> None:
    result = run("demo", "--report", "demo.html")
    assert "estimated from the very data" in " ".join(result.stdout.split())
    for word in ("galton-1886", "six-cities-wheeze", "markov-recursion", "Released"):
        assert word in result.stdout
    page = Path("demo.html").read_text()
    assert "galton-1886" in page
    assert "<svg" in page


def test_a_broken_pipe_is_no_traceback() -> None:
    source = Path(__file__).parents[2] / "src"
    script = (
        f'"{sys.executable}" -m bayesdp.cli leakage \'{{"model":"independent"}}\' --epsilon 1'
        " | true"
    )
    done = subprocess.run(
        script, shell=True, capture_output=True, text=True, env={"PYTHONPATH": str(source)}
    )
    assert "Traceback" not in done.stderr


def test_the_package_runs_as_a_module() -> None:
    source = Path(__file__).parents[2] / "src"
    for arguments, status in (("--version", 0), ("program check none.py", 2)):
        done = subprocess.run(
            [sys.executable, "-m", "bayesdp", *arguments.split()],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(source)},
            check=False,
        )
        assert done.returncode == status, done.stderr
        assert {0: "bayesdp ", 2: "none.py"}[status] in done.stdout + done.stderr
