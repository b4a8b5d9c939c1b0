"""Tables that are not as declared, and releases that fail: nobody is shown a private value."""

from __future__ import annotations

import errno
import gzip
import io
import pickle
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesdp.errors import BayesdpError, FailedError, TableMismatchError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release import Study
from bayesdp.release.drawing import study_drawing
from bayesdp.tables.source import open_table
from tests.canaries import studies, tables
from tests.canaries.test_outputs import Outputs, _folder, outputs, words
from tests.effort import in_full

__all__ = ["_folder", "outputs"]

Lines = list[str]


def changed(at: int, old: str, new: str) -> Lines:
    """The lines of the table, with one of them changed."""
    lines = [",".join(row) for row in tables.rows()]
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new)
    return lines


INCOME = str(tables.INCOMES[7])
DAY = tables.DAYS[7]
WRONG: dict[str, str | bytes] = {
    "a text for a number": tables.csv(changed(7, INCOME, f"{INCOME} EUR")),
    "a number with a comma": tables.csv(changed(7, INCOME, f'"{INCOME.replace(".", ",")}"')),
    "not finite": tables.csv(changed(7, INCOME, "nan")),
    "missing": tables.csv(changed(7, INCOME, "")),
    "an undeclared state": tables.csv(changed(7, ",yes,", f",{tables.NOTES[7]},")),
    "an undeclared group": tables.csv(changed(7, ",parent,", f",{tables.NOTES[7]},")),
    "no date": tables.csv(changed(7, DAY, f"{DAY}??")),
    "a later date": tables.csv(changed(7, DAY, f"2{DAY}")),
    "more cells": tables.csv(changed(7, INCOME, f"{INCOME},{tables.NOTES[8]}")),
    "fewer cells": tables.csv(changed(7, f",{DAY},{INCOME}", "")),
    "an open quote": tables.csv(changed(7, tables.NOTES[7], f'"{tables.NOTES[7]}')),
    "a return": tables.csv(changed(7, tables.NOTES[7], f"{tables.NOTES[7]}\r{DAY}")),
    "a null byte": tables.csv(changed(7, tables.NOTES[7], f"{tables.NOTES[7]}\0")),
    "Latin 1": tables.csv(changed(7, tables.NOTES[7], f"{tables.NOTES[7]}é")).encode("latin-1"),
    "a large household": tables.csv(changed(7, tables.HOUSES[1], tables.HOUSES[0])),
    "a row less": tables.csv([",".join(row) for row in tables.rows()[1:]]),
    "a row twice": tables.csv([",".join(row) for row in (*tables.rows(), tables.rows()[3])]),
    "one household": tables.csv(changed(7, tables.HOUSES[1], "")),
    "no rows": tables.csv([]),
    "nothing": "",
    "compressed": gzip.compress(tables.csv().encode()),
    "UTF-16": tables.csv().encode("utf-16"),
}
HEADERS: dict[str, str] = {
    "no header": tables.csv(header=""),
    "other names": tables.csv(header=",".join(f"x{name}" for name in tables.HEADER.split(","))),
    "a name twice": tables.csv(header="house,role,ill,note,born,born"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_table_shows_no_cell(wrong: str, outputs: Outputs) -> None:
    content = WRONG[wrong]
    Path("people.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    for study in ("people.toml", "answers.toml", "chain.toml")[: 3 if in_full() else 1]:
        assert outputs.run("release", study, "--json", "--report", "r.html") in (0, 1, 2)
        assert outputs.run("check", study, "--data", "--verbose") in (0, 1, 2)
        if in_full():
            outputs.run("release", study)
            outputs.run("check", study, "--data", "--json")
            outputs.hold_no_canary(wrong, in_python("people.csv"))
    outputs.run("ledger", "show", "--json")
    fit = ("fit", "chain.toml", "--private", "--column", "ill", "--dp-epsilon", "20")
    assert outputs.run(*fit, "--length", "5000") in (1, 2)


@pytest.mark.parametrize("wrong", HEADERS)
def test_only_the_curator_sees_the_names_of_columns(wrong: str, outputs: Outputs) -> None:
    """Without a header line the first record would be taken for the names."""
    Path("people.csv").write_text(HEADERS[wrong])
    for study in ("people.toml", "chain.toml"):
        assert outputs.run("release", study) in (1, 2)
        assert outputs.run("release", study, "--json") in (1, 2)
    outputs.run("ledger", "show", "--json")


def in_python(source: object) -> str:
    """What errors and objects of Python show of a study of this table, and what they hold."""
    seen: list[str] = []
    study = made(source)
    for call in (study.release, study.inspect, study.hints, study.check, study.stress):
        try:
            seen.append(shown(call()))  # type: ignore[operator]
        except BayesdpError as error:
            seen += [words(error), pickle.dumps(str(error)).decode("latin-1")]
    return "\n".join([*seen, shown(study), shown(study.spec), shown(vars(study).get("_data"))])


def shown(value: Any) -> str:
    """What notebooks, the prompt and the log show of an object, and of those within it."""
    texts = [repr(value), str(value), f"{value}"]
    for method in ("_repr_html_", "_repr_mimebundle_", "__rich_repr__", "to_json"):
        if callable(call := getattr(value, method, None)):
            answer = call()
            texts.append(repr([*answer] if hasattr(answer, "__next__") else answer))
    return "\n".join(texts)


def made(source: object, **more: Any) -> Study:
    """The study of people, with this table."""
    import tomllib

    raw = tomllib.loads(studies.people(*studies.QUERIES[:-1]))
    data = raw["data"]
    return Study(
        source,
        dataset=data["dataset"],
        n=data["n"],
        columns=data["columns"],
        population=raw["population"],
        budget=raw["budget"],
        queries=raw["query"],
        ledger="python.db",
        **more,
    )


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: frame(),
    "Polars": lambda: pl.from_pandas(frame()),
    "lazy": lambda: pl.from_pandas(frame()).lazy(),
    "Arrow": lambda: pa.Table.from_pandas(frame()),
    "opened": lambda: open_table("people.csv", Path()),
    "objects": lambda: frame().assign(income=[object(), *frame()["income"][1:]]),
    "mixed": lambda: frame().assign(income=[tables.NOTES[3], *frame()["income"][1:]]),
    "nested": lambda: frame().assign(income=[[tables.NOTES[3]]] * tables.ROWS),
    "too large": lambda: frame().assign(income=[10**400, *frame()["income"][1:]]),
    "surrogates": lambda: frame().assign(
        ill=pd.Series([f"{tables.NOTES[3]}\ud800", *frame()["ill"][1:]], dtype=object)
    ),
    "labels": lambda: frame().set_index("note"),
    "columns": lambda: frame().T,
}


def frame() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(tables.csv()))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", FRAMES)
def test_no_object_and_no_error_in_python_shows_a_cell(kind: str, outputs: Outputs) -> None:
    if kind == "columns":  # its names are cells: for the curator only
        with pytest.raises(BayesdpError) as error:
            made(FRAMES[kind]()).release()
        outputs.hold_no_canary(kind, words(error.value))
        return
    outputs.hold_no_canary(kind, in_python(FRAMES[kind]()))


def test_a_table_in_the_place_of_something_else_is_not_shown(outputs: Outputs) -> None:
    import bayesdp as bdp

    table = frame()
    given: Sequence[Callable[[Any], Any]] = (
        lambda x: Study(x, dataset="d", n=x, columns={}, population={}, budget={}, queries=[]),
        lambda x: Study(x, dataset=x, n=1, columns={}, population={}, budget={}, queries=[]),
        lambda x: Study(x, dataset="d", n=1, columns=x, population={}, budget={}, queries=[]),
        lambda x: Study(x, dataset="d", n=1, columns={}, population=x, budget={}, queries=[]),
        lambda x: Study(x, dataset="d", n=1, columns={}, population={}, budget=x, queries=[]),
        lambda x: Study(x, dataset="d", n=1, columns={}, population={}, budget={}, queries=x),
        lambda x: Study(
            x, dataset="d", n=1, columns={"a": {"states": x}}, population={}, budget={}, queries=[]
        ),
        lambda x: bdp.calibrate(x, bdp_epsilon=1.0),
        lambda x: bdp.leakage(x, dp_epsilon=1.0),
        lambda x: bdp.Independent().leakage(x),
        lambda x: bdp.collect("yes", x, dp_epsilon=1.0),
        lambda x: bdp.collect(x, ["yes", "no"], dp_epsilon=1.0),
    )
    for place, call in enumerate(given):
        for value in (table, pl.from_pandas(table), pa.Table.from_pandas(table), table["note"]):
            with pytest.raises((BayesdpError, TypeError, ValueError)) as error:
                call(value)
            outputs.hold_no_canary(f"case {place}", str(error.value))


SOURCES = {
    "people.parquet": lambda path: pq.write_table(pa.Table.from_pandas(frame()), path),
    "people.xlsx": lambda path: frame().to_excel(path, index=False),
    "people.dta": lambda path: frame().to_stata(path, write_index=False),
    "people.duckdb": lambda path: _database(path),
    "people.csv.gz": lambda path: path.write_bytes(gzip.compress(tables.csv().encode())),
}


def _database(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        people = frame()  # noqa: F841  # DuckDB finds it by its name
        connection.execute("CREATE TABLE people AS SELECT * FROM people")


@pytest.mark.parametrize("source", SOURCES)
def test_files_of_other_kinds_whole_and_damaged(source: str, outputs: Outputs) -> None:
    SOURCES[source](Path(source))
    named = f"{source}::people" if source.endswith("duckdb") else source
    Path("other.toml").write_text(Path("people.toml").read_text().replace("people.csv", named))
    _ignore(source)
    whole = Path(source).read_bytes()
    size = len(whole)
    damaged = [whole, whole[: size // 2], whole[: size - 20], whole[size // 3 :]]
    damaged.append(bytes(b ^ (0x55 if i % 97 == 5 else 0) for i, b in enumerate(whole)))
    for content in damaged if in_full() else damaged[::2]:
        Path(source).write_bytes(content)
        for command in (["release", "other.toml"], ["check", "other.toml", "--data"]):
            assert outputs.run(*command) in (0, 1, 2)


def _ignore(name: str) -> None:
    from tests.canaries.test_outputs import PRIVATE_FILES

    PRIVATE_FILES.update((name, f"{name}.wal"))


# -- after the debit -------------------------------------------------------------------------------


def _quoting(values: Sequence[int]) -> Any:
    raise ValueError(f"{values} {tables.INCOMES} {tables.NOTES}")


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "noise": lambda patch: patch.setattr(
        DiscreteLaplace, "release", lambda _, values: _quoting(values)
    ),
    "memory": lambda patch: patch.setattr(
        DiscreteLaplace, "release", lambda _, values: _raise(MemoryError(str(values)))
    ),
    "interrupt": lambda patch: patch.setattr(
        DiscreteLaplace, "release", lambda _, values: _raise(KeyboardInterrupt(str(values)))
    ),
    "program": lambda patch: patch.setattr(study_drawing, "run_program", lambda run: _quoting([1])),
    "certificate": lambda patch: patch.setattr(
        study_drawing, "certify", lambda *args, **named: _raise(OSError(errno.ENOSPC, "full"))
    ),
    "sums": lambda patch: patch.setattr(
        "bayesdp.release.drawing.table.run",
        lambda *args: _raise(TableMismatchError("not as declared")),
    ),
}


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize("fault", FAULTS)
def test_a_release_that_fails_shows_no_value(
    fault: str, outputs: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[fault](monkeypatch)
    assert outputs.run("release", "people.toml", "--json") != 0
    assert outputs.run("release", "people.toml", "--report", "r.html") != 0
    outputs.run("ledger", "show")
    outputs.run("ledger", "show", "--json")
    monkeypatch.undo()


def test_a_ledger_that_fails_shows_no_value(outputs: Outputs) -> None:
    assert outputs.run("release", "people.toml") == 0
    held = sqlite3.connect("ledger.db")
    held.execute("DROP TABLE results")
    held.commit()
    held.close()
    assert outputs.run("release", "people.toml") in (1, 2)
    Path("ledger.db").write_bytes(b"no database")
    assert outputs.run("release", "people.toml") in (1, 2)


def test_the_exact_values_show_nothing_of_themselves() -> None:
    """A log or a traceback that shows local names must not show them either."""
    seen: list[Any] = []
    original = study_drawing.StudyDrawing.__init__

    def watched(self: Any, *given: Any, **named: Any) -> None:
        seen.extend([self, *given])
        original(self, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_drawing.StudyDrawing, "__init__", watched)
        made(frame()).release()
    assert seen
    for value in seen:
        assert not tables.canaries_in(shown(value)), type(value)


def test_failed_is_not_a_refusal(outputs: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS["noise"](monkeypatch)
    with pytest.raises(FailedError) as error:
        made(frame()).release()
    outputs.hold_no_canary("a failed release", words(error.value))
    monkeypatch.undo()
