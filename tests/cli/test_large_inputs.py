"""Inputs that would take long or fail late are refused at once, with their limit."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.errors import TableError
from bayesdp.tables.source import open_table

STUDY = """
[data]
source = "{source}"
dataset = "wide"
n = 1
[data.columns]
c0 = {{ bounds = [0, 1] }}
[budget]
notion = "dp"
epsilon = 1
[[query]]
name = "m"
kind = "mean"
column = "c0"
"""


def refused(*command: str) -> str:
    result = CliRunner().invoke(app, list(command))
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize("key", ["{0}", "[{0}]", '"{0}"', "x = {{ {0} = 1 }}"])
def test_keys_of_many_parts(key: str, tmp_path: Path) -> None:
    """The reader's time grows with their square."""
    written = key.format(".".join(["a"] * 200_000))
    text = written if written.startswith(("x", "[")) else f"{written} = 1"
    (tmp_path / "study.toml").write_text(f"{text}\n")
    assert "100 parts" in refused("check", str(tmp_path / "study.toml"))
    assert "100 parts" in refused("leakage", str(tmp_path / "study.toml"), "--epsilon", "1")


def test_numbers_in_a_row_are_no_key(tmp_path: Path) -> None:
    row = ", ".join(["0.001"] * 1000)
    text = f'model = "markov"\ntransition = [{", ".join([f"[{row}]"] * 3)}]\nlength = 2\n'
    (tmp_path / "chain.toml").write_text(text)
    assert "parts" not in refused("leakage", str(tmp_path / "chain.toml"), "--epsilon", "1")


def test_whole_numbers_beyond_doubles_in_a_study(tmp_path: Path) -> None:
    large = "1" + "0" * 400
    text = STUDY.format(source="x.csv") + f"[population]\ntransition = [[{large}, 0], [0, 1]]\n"
    (tmp_path / "study.toml").write_text(text)
    assert "Error: population" in refused("check", str(tmp_path / "study.toml"))


def test_tables_of_many_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({f"c{i}": [1.0] for i in range(5001)})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    frame.to_parquet(tmp_path / "wide.parquet")
    for source in ("wide.csv", "wide.parquet", frame):
        with pytest.raises(TableError, match="at most 5000 columns, and there are 5001"):
            open_table(source, tmp_path)
    (tmp_path / "study.toml").write_text(STUDY.format(source="wide.csv"))
    assert "at most 5000 columns" in refused("check", str(tmp_path / "study.toml"), "--data")


@pytest.mark.parametrize("name", ["", "/", ".."])
def test_a_key_needs_the_name_of_a_file(name: str) -> None:
    assert "FILE" in refused("key", "new", name)
