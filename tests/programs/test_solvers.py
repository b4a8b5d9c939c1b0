"""What the checker makes of solvers: all that are present agree, or nothing is proved."""

from __future__ import annotations

import importlib.util
import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.programs.check import solvers
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.falsify import falsify
from tests.programs.probes import core, text

FOLD = "laplace(fold(db, 0, {}), epsilon=1)"
SIZED = "laplace(sum(r.x for r in db) / db.size, epsilon=1, sensitivity=10 / db.size)"

z3 = pytest.importorskip("z3")
pytest.importorskip("cvc5")


def says(step: str) -> ProgramVerdict:
    return check(core(FOLD.format(step)))


def test_both_solvers_agree() -> None:
    sentence = says("grown")
    assert (sentence.verdict, sentence.solvers) == ("ACCEPTED", ("z3", "cvc5"))
    assert any("z3 and cvc5 agree" in item for item in sentence.trusted)
    value = sentence.derivation["sequence"][0]["sensitivity"]["value"]
    assert Fraction(value[2][0]["number"]) == 5  # half of x in [-2, 8]
    assert not falsify(core(FOLD.format("grown")), sentence, n_max=2).excess


def test_the_largest_so_far() -> None:
    sentence = says("kept")
    assert sentence.verdict == "ACCEPTED"
    assert Fraction(sentence.derivation["sequence"][0]["sensitivity"]["value"][2][0]["number"]) == 3


def test_a_step_that_widens_gaps() -> None:
    sentence = says("doubled")
    assert (sentence.verdict, sentence.code) == ("UNKNOWN", "unproved")


def test_labels_of_two_columns_in_different_orders_have_no_common_places() -> None:
    sentence = says("labelled")
    assert sentence.verdict == "UNKNOWN"
    assert "labels" in sentence.reason.lower()


def absent(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: None if name in names else real(name, package),
    )


def test_z3_alone_works_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "cvc5")
    sentence = says("grown")
    assert (sentence.verdict, sentence.solvers) == ("ACCEPTED", ("z3",))
    assert any("z3 alone says" in item for item in sentence.trusted)


def test_no_solver_is_no_proof_and_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "cvc5", "z3")
    sentence = says("grown")
    assert sentence.verdict == "UNKNOWN"
    assert "extra 'programs'" in sentence.reason
    # Nothing else needs a solver, preconditions on the size included.
    body = "require(db.size >= 10)\nlaplace(sum(r.x for r in db), epsilon=1)"
    assert check(core(body)).verdict == "ACCEPTED"


@pytest.mark.parametrize("word", ["unknown", "an error (no memory)", "sat", "", "timeout"])
@pytest.mark.parametrize("which", ["z3", "cvc5"])
@pytest.mark.parametrize("body", [FOLD.format("grown"), SIZED])
def test_one_solver_that_does_not_say_unsat(
    monkeypatch: pytest.MonkeyPatch, word: str, which: str, body: str
) -> None:
    monkeypatch.setattr(solvers, "_ASK", {**solvers._ASK, which: lambda _: word})
    verdict = check(core(body))
    assert verdict.verdict == "UNKNOWN"  # a disagreement is nobody's proof, nor a counterexample


def test_a_solver_that_runs_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def late(text: str) -> str:
        asked.append(text)
        return "unknown"

    monkeypatch.setattr(solvers, "_ASK", {"z3": late, "cvc5": late})
    assert says("grown").verdict == "UNKNOWN"
    # It is not asked for every bound that might hold.
    assert len(asked) <= 4


def test_a_solver_that_can_not_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    monkeypatch.setattr(solvers, "solvers_present", lambda: ("z3", "cvc5"))
    sentence = says("grown")
    assert sentence.verdict == "UNKNOWN"
    assert "cvc5 says an error" in sentence.reason


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_texts_that_are_no_problem(name: str) -> None:
    assert solvers._ASK[name]("(assert (= v0 1.0))") not in ("sat", "unsat")


def test_z3_errors_are_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: object, *_: object) -> None:
        raise z3.Z3Exception("canceled")

    monkeypatch.setattr(z3.Solver, "check", fails)
    assert says("grown").verdict == "UNKNOWN"


def test_what_was_asked_is_what_was_meant() -> None:
    """Negated obligations: unsatisfiable as they are, satisfiable with a smaller bound."""
    sentence = says("grown")
    last = sentence.obligations[-1]
    assert last["what"] == "one record moves the fold by at most 5"
    text = str(last["text"])
    smaller = text.replace(" 5.0))", " 4.0))")
    assert smaller != text
    assert (solvers.ask(text, "unsat").holds, solvers.ask(smaller, "unsat").refuted) == (True, True)


def test_preconditions_narrow_what_is_asked() -> None:
    tight = "laplace(sum(r.x for r in db) / db.size, epsilon=1, sensitivity=1)"
    assert check(core(tight)).code == "sensitivity"
    assert check(core("require(db.size >= 10)\n" + tight)).verdict == "ACCEPTED"
    # Solvers say that this is enough, and no rule does: they are nobody's proof of a sensitivity.
    squares = check(core("require(db.size * db.size >= 100)\n" + tight))
    assert (squares.verdict, squares.code) == ("UNKNOWN", "kernel")
    impossible = "require(db.size * db.size <= 100)\nrequire(db.size >= 11)\n" + tight
    assert check(core(impossible)).code == "precondition"


@pytest.mark.parametrize("word", ["unknown", "an error (canceled)"])
def test_the_command_line_says_unknown_and_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, word: str
) -> None:
    from bayesdp.cli import app

    path = tmp_path / "folded.py"
    path.write_text(text(FOLD.format("grown")), encoding="utf-8")
    runner = CliRunner()
    assert runner.invoke(app, ["program", "check", str(path)]).exit_code == 0
    monkeypatch.setattr(solvers, "_ASK", {"z3": lambda _: word, "cvc5": lambda _: word})
    outcome = runner.invoke(app, ["program", "check", str(path), "--json"])
    assert outcome.exit_code == 1
    assert json.loads(outcome.stdout)["verdict"] == "UNKNOWN"
