"""A damaged certificate has a verdict, the same one at the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bayesdp
from bayesdp.certificate import Certificate
from bayesdp.cli import app
from bayesdp.errors import InputError
from bayesdp.release.results.release import Release
from tests.kernel.test_keys import released

DAMAGED = {
    "twice": ('{"format": "a", "format": "b"}', "INVALID", "a key is given twice"),
    "no number": (
        '{"format": "bayesdp-certificate", "level": NaN}',
        "INVALID",
        "NaN is not a number",
    ),
    "version": ('{"format": "bayesdp-certificate", "version": 2}', "UNKNOWN", "another version"),
    "digits": (
        '{"format": "bayesdp-certificate", "version": ' + "9" * 300 + "}",
        "UNKNOWN",
        "another version",
    ),
    "cut off": ('{"format": "bayesdp-certificate", "ver', "INVALID", "not a bayesdp certificate"),
    "too deep": ("[" * 100_000 + "]" * 100_000, "UNKNOWN", "nested too deeply"),
    "too deep inside": (
        '{"format": "bayesdp-certificate", "version": 1, "a": ' + '{"a":' * 5000 + "1" + "}" * 5001,
        "UNKNOWN",
        "nested too deeply",
    ),
    "a list": ("[1, 2]", "INVALID", "not a bayesdp certificate"),
    "without a format": ("{}", "INVALID", "not a bayesdp certificate"),
    "empty": ('{"format": "bayesdp-certificate", "version": 1}', "INVALID", "digest"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_one_rule_for_damaged_files(name: str, tmp_path: Path) -> None:
    text, verdict, reason = DAMAGED[name]
    file = tmp_path / "c.json"
    file.write_text(text)
    actual = bayesdp.verify(file)
    assert actual.verdict == verdict
    assert not actual
    shown = CliRunner().invoke(app, ["verify", str(file)])
    assert (shown.exit_code, shown.stderr) == (1, "")
    assert shown.stdout == f"{actual}\n"
    assert reason in shown.stdout
    assert len(shown.stdout) < 300
    plain = CliRunner().invoke(app, ["verify", str(file), "--json"])
    assert (plain.exit_code, plain.stderr) == (1, "")
    assert json.loads(plain.stdout)["verdict"] == verdict
    explained = CliRunner().invoke(app, ["explain", str(file)])
    assert (explained.exit_code, explained.stderr) == (1, "")
    assert bayesdp.explain(file).text() == bayesdp.explain(text).text() == explained.stdout
    assert bayesdp.explain(file).verdict == verdict


def test_another_file_is_wrong_input_for_both(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name,age\n")
    assert CliRunner().invoke(app, ["verify", str(file)]).exit_code == 2
    with pytest.raises(InputError, match="a certificate, which is JSON"):
        bayesdp.verify(file)


def test_verify_and_explain_take_the_same_and_print_what_the_command_shows(tmp_path: Path) -> None:
    document = released(tmp_path, "people")
    file = tmp_path / "c.json"
    file.write_text(json.dumps(document))
    certificate = Certificate.load(file)[0]
    release = Release("id", "now", (), certificate, 1.0, 1.0)
    shown = CliRunner().invoke(app, ["verify", str(file)]).stdout
    explanation = bayesdp.explain(file).text()
    assert shown.startswith("VALID ASSUMING\nIt claims:\n  - ")
    for given in (file, str(file), file.read_text(), document, certificate, release):
        assert f"{bayesdp.verify(given)}\n" == shown
        assert bayesdp.explain(given).text() == explanation
    for wrong in (7, None, tmp_path / "nowhere.json", "nowhere.json"):
        with pytest.raises(InputError):
            bayesdp.verify(wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            bayesdp.explain(wrong)
