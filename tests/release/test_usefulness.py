"""Noise as large as everything an answer could be is told before it is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.cli import app

X, PUBLIC = {"bounds": [100, 200], "unit": "mmHg"}, {"public": True, "states": ["a", "b"]}


def study(table: Any, query: dict[str, Any], n: Any, ledger: Path | None = None) -> bdp.Study:
    """At a DP cost of 0.1: noise of Laplace, whose error at 95 % is about 30 steps of a record."""
    budget = {"epsilon": 0.1, "notion": "dp"} | ({"ledger": str(ledger)} if ledger else {})
    columns = {"x": X, "g": PUBLIC}
    return bdp.Study(table, dataset="d", n=n, columns=columns, budget=budget, queries=[query])


STUDY = """
[data]
source = "d.csv"
dataset = "d"
n = 10
columns = { x = { bounds = [100, 200] } }
[budget]
notion = "dp"
epsilon = 0.1
[[query]]
name = "q"
kind = "mean"
column = "x"
"""


@pytest.mark.parametrize(
    ("query", "below", "above"),
    [
        # n is below or above what makes the error as large as the range: ln(1 / 0.05) / 0.1 = 30.0
        ({"kind": "count", "where": "x > 150"}, 29, 31),
        ({"kind": "proportion", "where": "x > 150"}, 29, 31),
        ({"kind": "sum", "column": "x"}, 29, 31),
        ({"kind": "mean", "column": "x"}, 29, 31),
        # Rows that don't count may be 0, so one record moves the sum by 200 and the range is 200 n.
        ({"kind": "sum", "column": "x", "where": "x > 150"}, 29, 31),
        ({"kind": "count", "by": "g", "where": "x > 150"}, 29, 31),
    ],
)
def test_an_error_as_large_as_the_range(query: dict[str, Any], below: int, above: int) -> None:
    named = {"name": "q"} | query
    (warning,) = study(None, named, below).check().warnings
    assert warning == "The noise is larger than everything the answer could be: 'q'."
    assert study(None, named, above).check().warnings == []
    assert study(None, named, above).check().inaccurate == ["q"]
    assert study(None, named, "from data").check().warnings == []


def test_all_are_named_in_one_warning() -> None:
    where = {"kind": "count", "where": "x > 150"}
    made = study(None, {"name": "q"} | where, 10)
    both = [*made.spec.queries, {"name": "r"} | where]
    columns = {"x": X, "g": PUBLIC}
    two = bdp.Study(
        dataset="d", n=10, columns=columns, budget={"epsilon": 0.2, "notion": "dp"}, queries=both
    )
    (warning,) = two.check().warnings
    assert warning == "The noise is larger than everything the answer could be: 'q', 'r'."
    assert warning in str(two.check()).splitlines()


def test_release_warns_before_it_pays(tmp_path: Path) -> None:
    table = pandas.DataFrame({"x": [120.0] * 10, "g": ["a"] * 10})
    query = {"name": "q", "kind": "mean", "column": "x"}
    made = study(table, query, 10, tmp_path / "ledger.db")

    def stop(warning: str) -> None:
        raise KeyboardInterrupt(warning)

    with pytest.raises(KeyboardInterrupt, match="larger than everything"):
        made.release(warn=stop)
    assert made.spends() == []
    release = made.release()
    assert made.check().warnings[0] in release.remarks
    assert "larger than everything" in str(release)
    assert "larger than everything" in release._repr_html_()


def test_commands_and_report_warn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x\n" + "120\n" * 10)
    Path("s.toml").write_text(STUDY)
    said = CliRunner().invoke(app, ["check", "s.toml"])
    assert "larger than everything" in " ".join(said.stdout.split())
    done = CliRunner().invoke(app, ["release", "s.toml", "--report", "r.html"])
    assert done.exit_code == 0
    assert "larger than everything" in done.stderr
    assert "larger than everything" not in " ".join(done.stdout.split())  # once
    assert "larger than everything" in Path("r.html").read_text()
