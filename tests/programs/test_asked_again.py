"""Who verifies somebody else's certificate of a fold asks the solvers himself."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp import kernel
from bayesdp.certificate import digest
from bayesdp.cli import app
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check import solvers
from bayesdp.programs.check.checker import check
from bayesdp.verification import verify
from tests.programs.probes import core

pytest.importorskip("z3")
pytest.importorskip("cvc5")
STATED = "as the certificate's author states, z3 and cvc5 agree"


@pytest.fixture
def honest() -> dict[str, Any]:
    program = core("laplace(fold(db, 0, grown), epsilon=1)")
    document: dict[str, Any] = json.loads(program_certificate(program, check(program)).to_json())
    return document


def signed(document: dict[str, Any]) -> dict[str, Any]:
    inside = {key: item for key, item in document.items() if key not in ("digest", "signature")}
    return {**document, "digest": digest(inside)}


@pytest.fixture
def forged(honest: dict[str, Any]) -> dict[str, Any]:
    """One record is said to move the fold by 1, in every place; it moves it by 5."""
    evidence = honest["derivation"]["evidence"]
    moves = evidence["obligations"][1]
    assert moves["what"].endswith(" 5")
    at = moves["text"].rindex("5.0")
    moves["text"] = moves["text"][:at] + "1.0" + moves["text"][at + 3 :]
    moves["what"] = moves["what"][:-1] + "1"
    node = evidence["derivation"]["sequence"][0]
    node["sensitivity"]["value"] = ["const", [], [{"number": "1"}]]
    return signed(honest)


def test_the_kernel_says_who_says_so(honest: dict[str, Any]) -> None:
    (said,) = [assumption for assumption in kernel.check(honest).assuming if "z3" in assumption]
    assert said.startswith(STATED)
    assert "asked again" not in said


def test_an_honest_one_is_asked_again(honest: dict[str, Any]) -> None:
    verdict = verify(honest)
    assert verdict.verdict == "VALID ASSUMING"
    (said,) = [assumption for assumption in verdict.assuming if "z3" in assumption]
    assert said.startswith(STATED)
    assert said.endswith("; asked again here: z3 and cvc5 say the same")


def test_a_forged_one_is_found(forged: dict[str, Any], tmp_path: Path) -> None:
    # The kernel asks no solver: this is what it assumes, and says whose word it is.
    assert any(assumption.startswith(STATED) for assumption in kernel.check(forged).assuming)
    verdict = verify(forged)
    assert (verdict.verdict, verdict.step) == ("INVALID", "obligations")
    assert "at most 1" in verdict.reason
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(forged), encoding="utf-8")
    result = CliRunner().invoke(app, ["verify", str(path)])
    assert result.exit_code == 1
    assert "INVALID" in result.output


def test_one_that_is_quoted_otherwise_than_derived_is_not_valid(honest: dict[str, Any]) -> None:
    moves = honest["derivation"]["evidence"]["obligations"][1]
    moves["text"] += "\n(assert false)"
    assert kernel.check(signed(honest)).verdict in ("INVALID", "UNKNOWN")


def test_the_text_that_is_asked_is_the_kernels(
    honest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def noted(text: str) -> str:
        asked.append(text)
        return "unsat"

    for item in honest["derivation"]["evidence"]["obligations"]:
        item["text"] = item["text"].replace(" ", "  ")
    monkeypatch.setattr(solvers, "_ASK", {"z3": noted, "cvc5": noted})
    assert verify(signed(honest)).verdict == "VALID ASSUMING"
    assert len(asked) == 4
    assert not any("  " in case for case in asked)


def test_without_a_solver_it_says_so(
    forged: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: None if name in ("z3", "cvc5") else real(name, package),
    )
    verdict = verify(forged)
    assert verdict.verdict == "VALID ASSUMING"
    (said,) = [assumption for assumption in verdict.assuming if "z3" in assumption]
    assert "; not asked again: no solver is installed" in said


def test_one_that_does_not_decide_is_named(
    honest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solvers, "_ASK", {**solvers._ASK, "cvc5": lambda _: "unknown"})
    (said,) = [assumption for assumption in verify(honest).assuming if "z3" in assumption]
    assert said.endswith("; asked again here: z3 says the same, cvc5 does not decide")
    monkeypatch.setattr(solvers, "_ASK", {**solvers._ASK, "cvc5": lambda _: "sat"})
    assert verify(honest).verdict == "INVALID"
