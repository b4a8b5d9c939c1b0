"""Studies from Python: the same as from a file, and no look at the table before a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayesdp
from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from bayesdp.errors import BudgetExceededError, InputError, TableError, TableMismatchError
from bayesdp.release import Study
from bayesdp.release.price.plan import make_plan
from bayesdp.release.reading.study_files import read_toml
from bayesdp.tables.sums.scan import run
from tests.golden.cases import PEOPLE, PEOPLE_CSV

BINS = [120, 150, 180, 220]


def write(folder: Path, study: str = PEOPLE, table: str = PEOPLE_CSV) -> Path:
    (folder / "people.csv").write_text(table)
    (folder / "study.toml").write_text(study)
    return folder / "study.toml"


def made(table: object, ledger: Path, **other: Any) -> Study:
    """The study of tests/golden as Python says it."""
    arguments: dict[str, Any] = {
        "dataset": "people",
        "n": 6,
        "columns": {
            "family": {"role": "cluster"},
            "role": {"public": True, "states": ["child", "parent"]},
            "town": {"public": True},
            "height": {"bounds": [120, 220], "unit": "cm"},
            "smokes": {"states": ["yes", "no"]},
            "income": {"bounds": [0, 100]},
        },
        "population": {
            "model": "clusters",
            "size": 3,
            "covers": ["height", "smokes"],
            "source": "a survey of 1990",
        },
        "budget": {"epsilon": 3.0, "spend": 1.0},
        "queries": [{"name": "mean height", "kind": "mean", "column": "height"}],
        "ledger": str(ledger),
    }
    return bayesdp.Study(table, **(arguments | other))


def frame(kind: str, folder: Path) -> object:
    path = folder / "people.csv"
    if kind == "pandas":
        return pd.read_csv(path)
    if kind == "polars":
        return pl.read_csv(path)
    if kind == "lazy polars":
        return pl.scan_csv(path)
    table = pa.Table.from_pandas(pd.read_csv(path))
    return table if kind == "arrow" else str(path)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy polars", "arrow", "path"])
def test_a_frame_is_as_good_as_a_file(kind: str, tmp_path: Path) -> None:
    file = Study.load(write(tmp_path))
    study = made(frame(kind, tmp_path), tmp_path / "ledger.db")
    assert study.spec.columns == file.spec.columns
    assert study.spec.population == file.spec.population
    assert study.spec.queries == file.spec.queries
    ours, theirs = study.check(), file.check()
    assert ours.plan.spends == theirs.plan.spends
    assert ours.plan.reading == theirs.plan.reading
    assert ours.plan.level == theirs.plan.level
    assert ours.preview == theirs.preview
    assert study.inspect() == []
    # The exact integers under the noise are the same, and so is the ledger that they share.
    exact = [
        run(
            case._data.open(),
            case.spec.columns,
            [q.table_query() for q in case.check().plan.queries],
        )
        for case in (study, file)
    ]
    assert exact[0].totals == exact[1].totals
    assert exact[0].rows == exact[1].rows == 6
    for item in (study, file):
        item.release(again=True)
    (shown,) = study.ledger().show()
    assert len(shown["releases"]) == 2
    assert len(shown["readings"]) == 1


class Untouchable:
    """A table that nobody may even look at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the table was touched: {name}")

    def __len__(self) -> int:
        raise AssertionError("the table was touched: len")

    def __iter__(self) -> Any:
        raise AssertionError("the table was touched: iter")

    def __bool__(self) -> bool:
        raise AssertionError("the table was touched: bool")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the table was touched: eq")

    __hash__ = None  # type: ignore[assignment]


def test_check_never_touches_the_table(tmp_path: Path) -> None:
    study = made(Untouchable(), tmp_path / "ledger.db")
    check = study.check()
    assert check.plan.level <= 1.0
    assert check.preview.refusal is None
    assert not (tmp_path / "ledger.db").exists()
    with pytest.raises(AssertionError, match="touched"):
        study.release()
    # Nor is it touched by a release for which there is no budget.
    write(tmp_path)
    for _ in range(3):
        Study.load(tmp_path / "study.toml").release(again=True)
    with pytest.raises(BudgetExceededError):
        study.release(again=True)


def test_no_table_at_all(tmp_path: Path) -> None:
    study = made(None, tmp_path / "ledger.db")
    assert study.check().plan.dp_epsilon == pytest.approx(1 / 3)
    with pytest.raises(InputError, match=r"data\.source"):
        study.release()
    with pytest.raises(TableError):
        made([1, 2], tmp_path / "ledger.db").release()


def test_results(tmp_path: Path) -> None:
    write(tmp_path)
    study = made(
        tmp_path / "people.csv",
        tmp_path / "ledger.db",
        queries=[
            {"name": "mean height", "kind": "mean", "column": "height", "weight": 2},
            {"name": "by role", "kind": "sum", "column": "height", "by": "role"},
            {"name": "heights", "kind": "histogram", "column": "height", "bins": BINS},
        ],
    )
    release = study.release()
    mean = release["mean height"]
    assert isinstance(mean.value, float)
    assert mean.unit == "cm"
    assert 0 < mean.error(0.5) < mean.error() == mean.error(0.95) < mean.error(0.99)
    assert mean.certificate is release.certificate
    assert mean.rows == 6
    assert len(list(release)) == 1 + 2 + 3
    assert [result.group for result in release["by role"]] == ["child", "parent"]
    pandas, polars = release.to_pandas(), release.to_polars()
    assert list(pandas.columns) == polars.columns
    assert pandas.value.tolist() == polars["value"].to_list() == [r.value for r in release]
    assert polars["group"].to_list() == [None, "child", "parent", None, None, None]
    assert pandas.cell.tolist()[3:] == ["[120, 150)", "[150, 180)", "[180, 220]"]
    assert pandas.error_95.tolist() == [r.error(0.95) for r in release]
    plain = json.loads(json.dumps(release.to_dict()))
    assert plain["certificate"]["digest"].startswith("sha256:")
    assert study.ledger().release(release.id)["result"] == plain


def test_n_from_data(tmp_path: Path) -> None:
    write(tmp_path)
    study = made(tmp_path / "people.csv", tmp_path / "ledger.db", n="from data")
    check = study.check()
    assert check.plan.n is None
    assert check.plan.queries[0].error(0.95, None) is None
    release = study.release()
    assert release.certificate.body["n"] == 6
    known = make_plan(study.spec, 6)
    assert release["mean height"].error(0.95) == pytest.approx(known.queries[0].error(0.95, 6))


def test_clipping_says_nothing(tmp_path: Path) -> None:
    """Values far outside the bounds count as the bounds, and no word is lost about it."""
    outside = write(tmp_path, table=PEOPLE_CSV.replace("182", "1e300").replace("121", "-9"))
    study = Study.load(outside)
    (query,) = study.check().plan.queries
    totals = run(study._data.open(), study.spec.columns, [query.table_query()])
    clipped = (150 + 175 + 220 + 120 + 168 + 171) / 6
    assert query.value(totals["mean height"].values[None][0], 6) == pytest.approx(clipped, abs=1e-6)
    assert study.inspect() == []


def test_the_refusal_is_the_same_whatever_was_found(tmp_path: Path) -> None:
    said = set()
    for old, new in (("175", "x"), ("b,child", "a,child"), ("182,no", "182,maybe"), ("168", "")):
        write(tmp_path, table=PEOPLE_CSV.replace(old, new))
        with pytest.raises(TableMismatchError) as refused:
            Study.load(tmp_path / "study.toml").release()
        said.add(str(refused.value))
        assert refused.value.__cause__ is None
    assert len(said) == 1
    # Nothing is registered or spent, and each refusal is on record.
    book = Study.load(tmp_path / "study.toml").ledger()
    assert book.show() == []
    assert len(book.refusals()) == 4


def test_clusters_of_one_need_no_column(tmp_path: Path) -> None:
    write(tmp_path)
    study = made(
        tmp_path / "people.csv",
        tmp_path / "ledger.db",
        columns={"height": {"bounds": [120, 220]}},
        population={"model": "clusters", "size": 1, "covers": ["height"]},
    )
    assert study.inspect() == []
    assert study.release().level == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("covers", "good"),
    [(["active"], True), (["level"], False), (["steps"], False), (["active", "level"], False)],
)
def test_a_chain_covers_its_own_states_only(covers: list[str], good: bool, tmp_path: Path) -> None:
    """A chain of two states says nothing about the numbers behind them (theory 7)."""
    arguments: dict[str, Any] = {
        "dataset": "d",
        "n": 4,
        "columns": {
            "day": {"role": "order", "step": 1},
            "steps": {"bounds": [0, 40_000]},
            "active": {"from": "steps", "cuts": [8000]},
            "level": {"from": "steps", "cuts": [1000, 8000]},
        },
        "population": {
            "model": "markov",
            "transition": [[0.8, 0.2], [0.4, 0.6]],
            "length": 4,
            "covers": covers,
        },
        "budget": {"epsilon": 1.0},
        "queries": [{"name": "q", "kind": "count", "where": f"{covers[0]} >= 1"}],
        "ledger": str(tmp_path / "l.db"),
    }
    if good:
        assert bayesdp.Study(**arguments).check().plan.level <= 1.0
        return
    with pytest.raises(InputError, match=r"population\.covers"):
        bayesdp.Study(**arguments)


NUMBERS = pd.DataFrame(
    {
        "pair": [row // 2 for row in range(200)],
        "score": [row % 4 for row in range(200)],
        "steps": [2_000.0 * (row % 8) for row in range(200)],
        "word": ["a", "b"] * 100,
    }
)


def of_numbers(ledger: Path, **query: Any) -> Study:
    return Study(
        NUMBERS,
        dataset="numbers",
        n=200,
        columns={
            "pair": {"role": "cluster"},
            "score": {"states": [0, 1, 2, 3], "unit": "points"},
            "word": {"states": ["a", "b"]},
            "single": {"from": "score", "where": "score > 1"},
            "steps": {"bounds": [0, 20_000]},
            "level": {"from": "steps", "cuts": [5_000, 10_000]},
        },
        population={"model": "clusters", "size": 2, "covers": ["score", "steps"], "source": "-"},
        budget={"epsilon": 400.0},
        queries=[{"name": "q", **query}],
        ledger=str(ledger),
    )


@pytest.mark.parametrize(
    ("kind", "column", "value"),
    [
        ("mean", "score", 1.5),
        ("sum", "score", 300.0),
        ("sum", "level", 25 * (0 + 0 + 0 + 1 + 1 + 2 + 2 + 2)),
        ("mean", "single", 0.5),
    ],
)
def test_numbers_among_states_are_summed(
    kind: str, column: str, value: float, tmp_path: Path
) -> None:
    """One record moves the sum by at most the distance of the states that are farthest apart."""
    release = of_numbers(tmp_path / "ledger.db", kind=kind, column=column).release()
    assert release["q"].value == pytest.approx(value, rel=0.02)
    document = json.loads(release.certificate.to_json())
    assert kernel.check(document)
    (query,) = release.certificate.derivation.premises[0].premises[0].premises
    assert query.conclusion["kind"] == "any", "states are not clipped"
    ends = {"score": (0.0, 3.0), "level": (0.0, 2.0), "single": (0.0, 1.0)}[column]
    assert (query.evidence["grid"]["lo"], query.evidence["grid"]["hi"]) == ends
    narrow = document["derivation"]["premises"][0]["premises"][0]["premises"][0]["evidence"]
    narrow["grid"]["hi"] = ends[1] / 2
    assert not kernel.check(document | {"digest": digest(content_of(document))})


@pytest.mark.parametrize("column", ["word", "pair"])
def test_what_is_not_a_number_has_no_sum(column: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a column of numbers|a private column"):
        of_numbers(tmp_path / "ledger.db", kind="sum", column=column)


def test_a_study_that_was_saved_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[data]\nsource = "a.csv"\n', encoding="utf-8-sig")
    assert read_toml(tmp_path / "study.toml") == {"data": {"source": "a.csv"}}
