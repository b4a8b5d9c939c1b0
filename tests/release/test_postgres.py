"""Studies of a table in PostgreSQL: the same release, nothing spent in vain, no password shown."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.errors import TableError, TableMismatchError
from bayesdp.release.drawing.study_drawing import ExactValues
from bayesdp.release.study import Study
from bayesdp.tables.engines import postgres_engine
from tests.postgres_server import PASSWORD, Server

ROWS = 60
TEXT = """
[data]
source  = "SOURCE"
dataset = "visits"
n       = 60
unit    = "row"

[data.columns]
person = { role = "series" }
day    = { role = "order", step = "1 day" }
height = { bounds = [0, 200], unit = "cm", missing = { impute = 100 } }
sick   = { states = ["no", "yes"] }
region = { public = true, states = ["north", "south"] }

[population]
model      = "markov"
transition = [[0.8, 0.2], [0.4, 0.6]]
initial    = "stationary"
length     = 15
covers     = ["sick"]
source     = "a pilot study"

[budget]
notion    = "bdp"
epsilon   = 2.0
adversary = "any"

[[query]]
name  = "sick days"
kind  = "count"
where = "sick == 'yes'"
by    = "region"

[[query]]
name   = "states"
kind   = "histogram"
column = "sick"
"""
TYPES = {"person": "text", "day": "date", "height": "float8", "sick": "text", "region": "text"}


def cells() -> dict[str, list[Any]]:
    rng = random.Random(5)  # fixed: the same cells in each table
    return {
        "person": [f"p{i // 15}" for i in range(ROWS)],
        "day": [f"2024-02-{1 + i % 15:02d}" for i in range(ROWS)],
        "height": [rng.choice([None, rng.uniform(-10, 250)]) for _ in range(ROWS)],
        "sick": [rng.choice(["no", "yes"]) for _ in range(ROWS)],
        "region": [rng.choice(["north", "south"]) for _ in range(ROWS)],
    }


@pytest.fixture
def study(postgres: Server, tmp_path: Path) -> Iterator[Study]:
    return load(tmp_path, postgres.load(TYPES, cells()))


def load(folder: Path, source: str) -> Study:
    path = folder / "study.toml"
    path.write_text(TEXT.replace("SOURCE", source), encoding="utf-8")
    return Study.load(path)


def exact(study: Study) -> ExactValues:
    return study._exact(study.ledger(), [])[1]


def test_the_source_alone_makes_no_difference(study: Study, tmp_path: Path) -> None:
    """The integers before noise are those of the same table in a file."""
    import pyarrow as pa
    import pyarrow.parquet

    held = cells()
    days = pa.array(held["day"]).cast(pa.date32())
    pa.parquet.write_table(pa.table(held | {"day": days}), tmp_path / "visits.parquet")
    (tmp_path / "other").mkdir()
    same = load(tmp_path / "other", "../visits.parquet")
    assert exact(study).totals == exact(same).totals
    assert study.inspect() == same.inspect() == []
    released = study.release()
    assert len(released.results) == 4


def test_what_changes_before_the_release_is_refused_and_costs_nothing(
    study: Study, postgres: Server
) -> None:
    """A column of another type, a column that is gone, and a connection that is lost."""
    table = str(study._data.source).rpartition("=")[2]
    assert study.inspect() == []
    postgres.run(f"ALTER TABLE {table} ALTER COLUMN sick TYPE bool USING sick = 'yes'")
    with pytest.raises(TableError):
        study.release()
    postgres.run(f"ALTER TABLE {table} DROP COLUMN sick")
    with pytest.raises(TableError):
        study.release()
    assert study.spends() == []


@pytest.mark.parametrize("when", [1, 2, 3, 4])
def test_a_connection_that_is_lost_before_the_debit_costs_nothing(
    study: Study, postgres: Server, when: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, calls = postgres_engine.PostgresEngine.fetch, []

    def dropped(self: Any, sql: str) -> Any:
        calls.append(sql)
        if len(calls) == when:
            pid = self.connection.con.info.backend_pid
            postgres.run(f"SELECT pg_terminate_backend({pid}, 5000)")
        return fetch(self, sql)

    monkeypatch.setattr(postgres_engine.PostgresEngine, "fetch", dropped)
    with pytest.raises(TableError, match="It was lost"):
        study.release()
    assert len(calls) == when
    assert study.spends() == []


def test_an_engine_that_answers_in_doubles_costs_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = postgres_engine.PostgresEngine.fetch

    def rounded(self: Any, sql: str) -> Any:
        return [
            tuple(float(cell) if isinstance(cell, int) else cell for cell in row)
            for row in fetch(self, sql)
        ]

    monkeypatch.setattr(postgres_engine.PostgresEngine, "fetch", rounded)
    with pytest.raises(TableMismatchError):
        study.release()
    assert study.spends() == []


def test_the_password_is_shown_nowhere(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in what commands print, in files, in the ledger, or in errors and their locals."""
    source = str(study._data.source).replace("curator@", "curator:${BAYESDP_SECRET}@")
    monkeypatch.setenv("BAYESDP_SECRET", PASSWORD)
    monkeypatch.delenv("PGPASSWORD")
    load(tmp_path, source)
    shown, runner, path = [], CliRunner(), str(tmp_path / "study.toml")
    for command in (["check", path], ["check", path, "--data"], ["release", path]):
        result = runner.invoke(app, command)
        assert result.exit_code == 0, result.output
        shown.append(result.output)
    table = Study.load(path)._data.open()
    shown += [repr(table), repr(table.engine), repr(table.connection), str(vars(table.engine))]
    monkeypatch.setenv("BAYESDP_SECRET", f"{PASSWORD} and more")
    failed = runner.invoke(app, ["release", path, "--again"])
    assert failed.exit_code != 0
    shown += [failed.output, repr(failed.exception)]
    for text in shown:
        assert PASSWORD not in text
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or PASSWORD.encode() not in file.read_bytes(), file.name
    assert (tmp_path / "ledger.db").exists()
