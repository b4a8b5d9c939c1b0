"""`program check --certificate`, and what `verify` and `explain` say of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.programs.check.checker import ProgramVerdict
from bayesdp.programs.checked_files import confirmed

TEXT = """
from bayesdp.programs import Database, Private, Real, laplace, program

@program
def total(rows: Database[Real[0, 3]]) -> Private[Real]:
    return laplace(sum(rows), epsilon=1 / 3)
"""
SECOND = """
@program
def again(rows: Database[Real[0, 3]]) -> Private[Real]:
    return laplace(sum(rows), epsilon=1)
"""


def run(*args: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(app, list(args))
    return outcome.exit_code, outcome.output


def test_certificate(tmp_path: Path) -> None:
    program, out = tmp_path / "total.py", tmp_path / "total.json"
    program.write_text(TEXT)
    status, said = run("program", "check", str(program), "--certificate", str(out))
    assert (status, said.split()[0]) == (0, "ACCEPTED")
    document = json.loads(out.read_text())
    assert document["claim"]["exact"] == {"epsilon": "1/3", "delta": "0"}
    assert document["claim"]["epsilon"] >= 1 / 3
    status, said = run("verify", str(out))
    assert status == 0
    assert said.startswith("VALID ASSUMING")
    assert "parser and lowering" in said
    assert run("explain", str(out))[0] == 0
    out.write_text(out.read_text().replace('"1/3"', '"1/4"'))
    assert run("verify", str(out))[0] == 1


def test_no_certificate(tmp_path: Path) -> None:
    program, out = tmp_path / "total.py", tmp_path / "total.json"
    program.write_text(TEXT.replace("laplace(sum(rows), epsilon=1 / 3)", "sum(rows)"))
    assert run("program", "check", str(program), "--certificate", str(out))[0] == 1
    program.write_text(TEXT + SECOND)
    status, said = run("program", "check", str(program), "--certificate", str(out))
    assert status == 2
    assert "total" in said
    assert "again" in said
    assert not out.exists()
    status, _ = run("program", "check", f"{program}:again", "--certificate", str(out))
    assert status == 0
    assert out.exists()


def test_what_the_kernel_does_not_confirm_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker that forgets half of every sensitivity accepts nothing."""
    from fractions import Fraction

    from bayesdp.kernel.programs.setting import Setting
    from bayesdp.programs.check import derive
    from bayesdp.programs.check.derive import Derivation
    from bayesdp.programs.checked_files import verdict_in
    from bayesdp.programs.ir import Release
    from bayesdp.programs.source import core_of, read_text

    source = read_text(TEXT, "total.py")
    assert verdict_in(source).verdict == "ACCEPTED"

    def halved(self: Derivation, release: Release, setting: Setting) -> dict[str, Any]:
        step = honest(self, release, setting)
        step["sensitivity"]["value"] = ["const", [], [{"number": "3/2"}]]
        return step

    honest = Derivation.laplace
    monkeypatch.setitem(derive._RELEASES, "laplace", halved)
    verdict = verdict_in(source)
    assert (verdict.verdict, verdict.code) == ("UNKNOWN", "kernel")
    assert "1.5 is stated, 3 derived" in verdict.reason
    cheap = ProgramVerdict("ACCEPTED", Fraction(1, 4))
    assert confirmed(core_of(source, None, {}), cheap).verdict == "UNKNOWN"
