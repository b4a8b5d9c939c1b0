"""From Python: the report of a release, and figures for notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import bayesdp as bdp
from bayesdp.errors import InputError
from bayesdp.report.numbers import error_up, with_error
from bayesdp.report.output import FIGURE
from tests.release.program_studies import asks
from tests.release.program_studies import study as program_study
from tests.release.test_in_python import BY, MEAN, study


def test_the_report_is_that_of_the_command_line(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN | {"confidence": 0.9}, BY)
    release = made.release()
    path = bdp.write_report(tmp_path / "report.html", made, release, certificate="kept.json")
    text = path.read_text(encoding="utf-8")
    for result in release:
        shown = f"± {error_up(result.error(result.confidence))} ({result.confidence:.0%}"
        assert with_error(result.value, result.error(result.confidence)) in text
        assert shown.replace("%", " %") in text
    assert "kept.json" in text
    sections = bdp.explain(release).sections
    for key in ("protected", "attackers", "counted", "not_promised", "assumptions", "check"):
        (section,) = [section for section in sections if section.key == key]
        assert f"<h3>{section.title}</h3>" in text
    assert text.index("What is taken on trust") < text.index("For experts") < text.index("cluster-")
    bdp.write_report(path, made, release)  # an older report may be replaced
    table = tmp_path / "table.csv"
    table.write_text("x\n")
    with pytest.raises(InputError, match=r"^path is"):
        bdp.write_report(table, made, release)
    with pytest.raises(InputError, match=r"^path is"):
        bdp.write_report(made.ledger_files[0], made, release)
    other = program_study(tmp_path, asks("smokers"))
    with pytest.raises(InputError, match=r"^release is 'pairs'"):
        bdp.write_report(path, other, release)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_figure_shows_every_number_with_its_error(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN, BY)
    release = made.release()
    figure = bdp.figure(release)
    assert figure.startswith(FIGURE)
    assert figure._repr_svg_() == figure
    root = ET.fromstring(figure)
    texts = ["".join(element.itertext()) for element in root.iter()]
    for result in release:
        error = result.error(0.95)
        assert any(f"{with_error(result.value, error)} ± {error_up(error)}" in t for t in texts)
    assert "var(" not in figure  # it has colours of its own
    assert bdp.figure(made.stress()).startswith(FIGURE)


def test_what_has_no_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a Release"):
        bdp.figure(3)  # type: ignore[arg-type]
    program = program_study(tmp_path, asks("smokers")).release()
    with pytest.raises(InputError, match="to_pandas"):
        bdp.figure(program)
