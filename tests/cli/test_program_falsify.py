"""`bayesdp program falsify`: what it says, in golden texts and in JSON, and its exit status."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.programs import checked_files
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.falsify import CheckedObligation, Findings, NeighbouringDatabases, falsify
from bayesdp.programs.falsify.findings_text import BROKEN, as_data, in_words
from bayesdp.programs.ir import Expr, plain
from tests.golden.corpus import EXAMPLES as CORPUS
from tests.golden.packed import Packed
from tests.oracles.program_checker.verdict import check as oracle
from tests.programs.probes import core

ROOT = Path(__file__).parents[2]
GOLDEN = Packed("falsified")
EXAMPLES = ROOT / "docs" / "examples" / "programs"
HONEST = {
    "coin": "coin",
    "heights": "heights",
    "add-remove": "add_remove_count",
    "a-released-prior": "released_posterior_as_prior",
}
COST = {"dp_epsilon": Fraction(1, 4), "dp_delta": Fraction(0)}


def file_of(name: str, folder: Path) -> str:
    """The program of the corpus, written to `folder`; where there is none, the example's file."""
    return str(CORPUS[name].write(folder) if name in CORPUS else EXAMPLES / f"{name}.py")


def run(*arguments: str):
    return CliRunner().invoke(app, ["program", "falsify", *arguments])


def test_every_golden_text_is_asked_for() -> None:
    assert set(GOLDEN.texts()) == {*HONEST, "wrong-cost", "wrong-sensitivity"}


def moved_by(value: Fraction) -> dict[str, Any]:
    return {"value": plain(Expr("const", (), (value,)))}


def claim_too_little(monkeypatch: pytest.MonkeyPatch, move: Fraction | None) -> None:
    """A checker with a mistake: the cost of a quarter, and every value moves by so much."""
    honest = checked_files.verdict_in

    def mistaken(*arguments: Any) -> ProgramVerdict:
        actual = honest(*arguments)
        derivation = copy.deepcopy(actual.derivation)
        for node in derivation["sequence"]:
            if move is not None and "release" in node:
                node["sensitivity"] |= moved_by(move)
        return replace(actual, derivation=derivation, **COST)

    monkeypatch.setattr(checked_files, "verdict_in", mistaken)


@pytest.mark.parametrize("name", HONEST)
def test_nothing_is_found_where_claims_are_right(name: str, tmp_path: Path) -> None:
    done = run(file_of(HONEST[name], tmp_path))
    assert done.exit_code == 0, done.output
    GOLDEN.compare(name, done.output)


def test_the_document_of_a_program_of_which_nothing_is_found() -> None:
    done = run(str(EXAMPLES / "heights.py"), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "name": "mean_height",
        "found": False,
        "dp_epsilon": 0.5,
        "dp_delta": 0.0,
        "exact": ["1/2", "0"],
        "adjacency": "replace-one",
        "records": [1, 4],
        "pairs": 30,
        "complete": True,
        "skipped": [],
        "loss": 1.0,
        "counterexamples": [],
    }


@pytest.mark.parametrize("move", [None, Fraction(20)], ids=["the-cost", "the-sensitivity"])
def test_a_counterexample(move: Fraction | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of heights moves by 60 and costs 1/2."""
    claim_too_little(monkeypatch, move)
    done = run(str(EXAMPLES / "heights.py"))
    assert done.exit_code == 1, done.output
    GOLDEN.compare("wrong-cost" if move is None else "wrong-sensitivity", done.output)
    done = run(str(EXAMPLES / "heights.py"), "--json")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["found"] is True
    known = {item["obligation"]: item for item in document["counterexamples"]}
    assert known["law"]["claimed"] == 0.25
    if move is None:
        assert known["law"]["true"] == pytest.approx(0.5)
        assert set(known) == {"law"}
    else:
        assert (known["sensitivity"]["true"], known["sensitivity"]["claimed"]) == (60, 20)
        here, there = known["sensitivity"]["tables"]
        assert {abs(a["height"] - b["height"]) for a, b in zip(here, there, strict=True)} == {100}


def test_what_is_infinite_is_null_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is claimed not to move gets no noise, and tells its tables apart."""
    claim_too_little(monkeypatch, Fraction(0))
    done = run(str(EXAMPLES / "heights.py"), "--json")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["loss"] is None
    assert {
        item["true"] for item in document["counterexamples"] if item["obligation"] == "law"
    } == {None}
    assert "inf of the claimed cost" in run(str(EXAMPLES / "heights.py")).output


def test_several_programs_and_one_of_them() -> None:
    coin = str(EXAMPLES / "coin.py")
    several = json.loads(run(coin, "--json").stdout)["programs"]
    assert [item["name"] for item in several] == ["by_candidates", "by_answers", "by_count"]
    alone = json.loads(run(f"{coin}:by_answers", "--json").stdout)
    assert alone == several[1]


def test_a_number_of_records() -> None:
    done = run(f"{EXAMPLES / 'coin.py'}:by_answers", "--n", "7", "--json")
    assert json.loads(done.stdout)["records"] == [7]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("private_branch", "accepted; this one is REJECTED"),
        ("fold_that_grows", "accepted; this one is UNKNOWN"),
        ("nowhere", "readable text file"),
        ("coin:con", "Known: by_answers, by_candidates, by_count"),
    ],
)
def test_wrong_inputs(name: str, said: str, tmp_path: Path) -> None:
    name, *program = name.split(":")
    file = ":".join([file_of(name, tmp_path), *program])
    done = run(file)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""
    done = run(file, "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["status"] == 2


# -- words that no program of the corpus makes --------------------------------------------------


VERDICT = ProgramVerdict("ACCEPTED", Fraction(1), name="f")


def findings(finding: CheckedObligation, **options: Any) -> Findings:
    return Findings({(finding.obligation, finding.release): finding}, pairs=3, **options)


def test_numbers_that_hardly_differ_are_told_apart() -> None:
    claimed = Fraction(4632513751, 10**10)
    true = claimed + Fraction(1, 10**25)
    said = in_words(VERDICT, findings(CheckedObligation("distance", "r", true, claimed), sizes=[2]))
    shown = re.search(r"is ([\d.]+), claimed at most ([\d.]+)\.$", said, re.M)
    assert shown is not None
    assert Fraction(shown[2]) <= claimed < true <= Fraction(shown[1])
    assert "of 2 records" in said


@pytest.mark.parametrize("obligation", BROKEN)
def test_an_obligation_without_a_number(obligation: str) -> None:
    broken = CheckedObligation(
        obligation, "", inf, Fraction(0), NeighbouringDatabases((), ({"b": True, "c": "u"},))
    )
    said = in_words(VERDICT, findings(broken, sizes=[1]))
    assert f"Wrong: {BROKEN[obligation]}." in said
    assert "one table:   (no record)\n" in said
    assert "the other:   b = True, c = u" in said
    (shown,) = as_data(VERDICT, findings(broken))["counterexamples"]
    assert (shown["true"], shown["release"]) == (None, None)
    assert shown["tables"] == [[], [{"b": True, "c": "u"}]]


def test_what_was_not_compared_is_said() -> None:
    right = CheckedObligation("law", "", Fraction(1, 2), Fraction(1))
    partly = findings(right, left_out={"pairs of records"}, skipped={"draw"}, sizes=[1, 2])
    said = in_words(VERDICT, partly)
    assert "Not compared: 'draw'" in said
    assert "of 1 or 2 records; a selection" in said
    assert as_data(VERDICT, partly)["skipped"] == ["draw"]


def test_numbers_beyond_doubles_are_no_crash() -> None:
    """Two values are 1e360 apart: no double holds it, so their pair isn't compared."""
    large = " * ".join(["10**40"] * 9)
    program = core(f"laplace(sum(r.x * {large} for r in db), epsilon=1)")
    # No certificate holds such a number, so it takes the oracle to claim it.
    assert check(program).code == "kernel"
    counterexample = falsify(program, oracle(program))  # type: ignore[arg-type]
    assert not counterexample.complete
    assert not counterexample.excess
