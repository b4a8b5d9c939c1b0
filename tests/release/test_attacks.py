"""What somebody might try against a release: sensitivities, text as code, ledgers, files."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from bayesdp.accounting.ledger import Ledger
from bayesdp.certificate import Certificate, digest
from bayesdp.cli import app
from bayesdp.errors import InputError, TableMismatchError
from bayesdp.release import Study
from bayesdp.release.price.plan import make_plan, structure_of
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from bayesdp.verification import verify
from tests.golden.cases import CHAIN, PEOPLE, PEOPLE_CSV
from tests.kernel.mutations import sealed

MEAN = 'name = "mean height"\nkind = "mean"\ncolumn = "height"\n'
BOUNDS = "bounds = [120, 220]"
GENERIC = "The table is not as the study declares it"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE_CSV)
    return tmp_path


def write(*changes: tuple[str, str], base: str = PEOPLE, name: str = "study.toml") -> None:
    for old, new in changes:
        assert old in base, old
        base = base.replace(old, new, 1)
    Path(name).write_text(base)


def ask(*arguments: str):
    result = CliRunner().invoke(app, list(arguments))
    crash = result.exception
    assert crash is None or isinstance(crash, SystemExit), repr(crash)
    return result


# -- 1. sensitivities by brute force -----------------------------------------------------

PRIVATE = [
    "x > 0",
    "x <= 1 or s == 'b'",
    "s == 'NA'",
    "not (d == 1)",
    "e == 1",
    "b != True",
    "b == True and g == 'u'",
    "x > -100",
    "s in ['a', 'b'] and h < 3",
]
PUBLIC = ["g == 'u'", "h >= 2", "g != 'u' or h > 1"]
INTERVALS = [
    [-2, 2],
    [0, 2],
    [1, 2],
    [-3, -1],
    [-1e-300, 1e-300],
    [0, 1e300],
    [-1e300, 3],
    [1e15, 1e15 + 64],
    [-0.1, 0.7],
    [-7e-5, 1.0],
    [5e-324, 1],
    [-1, 2**-30],
    [0.1, 0.1000001],
    [-0.0, 1.0],
]
VALUES = [
    -1e308,
    -100.0,
    -2.0000001,
    -2,
    -0.0,
    0.0,
    1e-300,
    5e-324,
    -5e-324,
    0.3,
    1,
    2,
    2.0000001,
    1e308,
    math.pi,
]


def some_query(rng: np.random.Generator, name: str, rows: bool, square: bool) -> dict:
    averages = ["mean", "proportion", *(["variance", "covariance", "regression"] * square)]
    kind = str(rng.choice(["count", "sum", "histogram"] + averages * rows))
    query = {"name": name, "kind": kind}
    if kind in ("count", "proportion"):
        query["where"] = str(rng.choice(PRIVATE))
    elif kind == "histogram":
        query["column"] = str(rng.choice(["x", "s", "d", "e", "b"]))
        if query["column"] == "x":
            query["bins"] = [-1.5, 0.0, 0.5, 2.0]
        elif rng.random() < 0.4:
            query["column"] = sorted({query["column"], "s", "e"})
    elif kind == "covariance":
        query["column"] = [str(rng.choice(["d", "e", "y"])), "x"]
    elif kind == "regression":
        query |= {"outcome": "x", "on": ["y", "e"] if rng.random() < 0.5 else ["d"]}
    else:
        query["column"] = "x"
    if kind not in ("count", "proportion") and rng.random() < 0.6:
        of_public = kind in ("mean", "variance", "covariance", "regression")
        query["where"] = str(rng.choice(PUBLIC if of_public else PRIVATE + PUBLIC))
    if rng.random() < 0.3:
        query["by"] = "g" if rng.random() < 0.5 else ["g", "late"]
    return query


def attack_plan(rng: np.random.Generator, bounds: list, rows: bool):
    columns = {
        "x": {"bounds": bounds, "missing": {"impute": float(rng.choice(bounds))}},
        "s": {"states": ["a", "b", "NA"], "missing": {"impute": "a"}},
        "d": {"from": "x", "cuts": sorted({bounds[0] / 2 + bounds[1] / 2, 0.0})},
        "e": {"from": "x", "where": "x > 0"},
        "b": {"states": [True, False]},
        "y": {"states": [-3, 1, 7]},
        "g": {"public": True, "states": ["u", "v"]},
        "h": {"public": True, "bounds": [0, 5]},
        "late": {"from": "h", "cuts": [2.0]},
        "id": {"public": True},
    }
    square = 1e-50 < bounds[1] - bounds[0] < 1e50  # whose error is a finite double
    study = Study(
        None,
        dataset="d",
        n=5,
        columns=columns,
        budget={"epsilon": float(10 ** rng.uniform(-2, 2))},
        population={"model": "independent", "covers": ["x", "s", "b", "y"], "source": "t"},
        queries=[some_query(rng, f"q{i}", rows, square) for i in range(4)],
        ledger="none.db",
        **({} if rows else {"unit": "id", "rows_per_unit": 3}),
    )
    return study, make_plan(study.spec)


@pytest.mark.parametrize("seed", range(12))
def test_no_neighbour_moves_the_sums_by_more_than_the_plan_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bounds, rows = INTERVALS[rng.integers(len(INTERVALS))], bool(rng.random() < 0.6)
    study, plan = attack_plan(rng, bounds, rows)

    def record(i: int, bad: float | None = None) -> list[tuple]:
        def cell():
            if rng.random() < 0.15:
                return None
            return float(rng.choice([*VALUES, *bounds]))

        many = 1 if rows else int(rng.integers(1, 4))
        return [
            (
                i,
                cell() if bad is None else bad,
                ["a", "b", "NA", None][rng.integers(4)],
                bool(rng.integers(2)),
                (-3, 1, 7)[rng.integers(3)],
                "uvuvv"[i] if row == 0 else "uv"[rng.integers(2)],
                float(i),
            )
            for row in range(many)
        ]

    def totals(records: list[list[tuple]]):
        cells = list(zip(*[row for record in records for row in record], strict=True))
        types = [
            pa.int64(),
            pa.float64(),
            pa.string(),
            pa.bool_(),
            pa.int64(),
            pa.string(),
            pa.float64(),
        ]
        arrays = [pa.array(list(case), kind) for case, kind in zip(cells, types, strict=True)]
        table = pa.table(arrays, names=["id", "x", "s", "b", "y", "g", "h"])
        queries = [query.table_query() for query in plan.queries]
        expected = replace(structure_of(study.spec), n=5)
        return run(open_table(table), study.spec.columns, queries, expected)

    records = [record(i) for i in range(5)]
    base = totals(records)
    for _ in range(4):
        place = int(rng.integers(5))
        other = totals([*records[:place], record(place), *records[place + 1 :]])
        for query in plan.queries:
            item, two = base[query.asked.spec.name], other[query.asked.spec.name]
            moved = sum(
                abs(x - y)
                for k in item.values
                for x, y in zip(item.values[k], two.values[k], strict=True)
            )
            assert moved <= query.sensitivity, (bounds, query.asked.spec)
            assert not rows or item.sizes == two.sizes
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(TableMismatchError):
            totals([*records[:2], record(2, bad), *records[3:]])


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_rows_that_leave_one_group_and_enter_another_are_paid_for(noise: str) -> None:
    """All three rows of one record change the group: no replacement moves a count by more."""
    study = Study(
        None,
        dataset="d",
        n=3,
        columns={
            "x": {"bounds": [-1, 2]},
            "g": {"public": True, "states": ["u", "v"]},
            "id": {"public": True},
        },
        budget={"epsilon": 1.0} | ({"delta": 1e-6, "noise": noise} if noise != "laplace" else {}),
        population={"model": "independent", "covers": ["x"], "source": "t"},
        queries=[
            {"name": "count", "kind": "count", "where": "x > 0", "by": "g"},
            {"name": "sum", "kind": "sum", "column": "x", "by": "g"},
            {"name": "cells", "kind": "histogram", "column": "x", "bins": [-1, 0, 2], "by": "g"},
        ],
        ledger="none.db",
        unit="id",
        rows_per_unit=3,
    )
    plan = make_plan(study.spec)
    queries = [query.table_query() for query in plan.queries]
    expected = replace(structure_of(study.spec), n=3)

    def totals(groups: str) -> dict[str, Any]:
        rows = [(0, 2.0, "u"), (1, 2.0, "v"), *((2, 2.0, group) for group in groups)]
        table = pa.table(dict(zip(("id", "x", "g"), zip(*rows, strict=True), strict=True)))
        return run(open_table(table), study.spec.columns, queries, expected)

    before, after = totals("uuu"), totals("vvv")
    power = 1 if noise == "laplace" else 2
    for query in plan.queries:
        old, new = before[query.asked.spec.name].values, after[query.asked.spec.name].values
        changes = [abs(x - y) for k in old for x, y in zip(old[k], new[k], strict=True)]
        moved = sum(change**power for change in changes)
        assert moved <= query.sensitivity
        if query.asked.spec.name != "sum":  # whose values may also change by more than from 0
            assert moved == query.sensitivity


# -- 2. what one record's text does to the others ----------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_a_well_written_csv_is_read_record_by_record(seed: int, tmp_path: Path) -> None:
    """No text in a cell, properly quoted, changes how another record is read."""
    rng = np.random.default_rng(seed)
    pieces = ['"', "'", ",", ";", "|", "\t", "\n", "\r\n", "#", "\\", "1", " ", "é", "NA", '","']
    count, ending = int(rng.choice([1, 2, 3, 8, 40])), str(rng.choice(["\n", "\r\n"]))
    style = int(rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
    values = [(str(rng.integers(100)), str(rng.integers(100))) for _ in range(count)]
    notes = ["x"] * count
    notes[int(rng.integers(count))] = "".join(rng.choice(pieces) for _ in range(5))
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=style, lineterminator=ending)
    writer.writerow(["note", "a", "b"])
    writer.writerows([[note, *pair] for note, pair in zip(notes, values, strict=True)])
    (tmp_path / "t.csv").write_text(text.getvalue(), newline="")
    table = open_table("t.csv", tmp_path)
    assert table.names == ("note", "a", "b")
    assert table.rows(table.expression.select("a", "b")) == values


ODD_CELLS = ["1e999", "-inf", "nan", "tall", "0x79", "9" * 400, "121 cm", "١٢", "--1", "1e", "''"]


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_every_bad_cell_is_refused_with_the_same_words(cell: str, folder: Path) -> None:
    Path("people.csv").write_text(PEOPLE_CSV.replace("121", cell))
    write()
    result = ask("release", "study.toml", "--json")
    assert result.exit_code == 1
    assert GENERIC in result.stderr
    assert cell not in result.stderr + result.stdout
    # Nothing is spent, and the refusal leaves its trace.
    shown = json.loads(ask("ledger", "show", "--json").stdout)
    assert shown["datasets"] == []
    assert [line["study"] for line in shown["refusals"]] == ["study.toml"]
    assert "Refused once" in ask("ledger", "show").stdout


NAMES = [
    'a"b',
    "a'b",
    "__index_level_0__",
    "x; DROP TABLE t",
    "é" * 500,
    "v0",
    "faulty",
    "bayesdp_source",
    "row_",
    "unit_",
    "(x)",
    "*",
    "a.b",
    "[/x]",
]


@pytest.mark.parametrize("name", ["a\nb", "a\u202eb", "a = b cut at [1.0]", ""])
def test_no_column_is_named_like_what_hides_or_defines(name: str) -> None:
    """A certificate repeats names, and a budget remembers derived columns by their definitions."""
    with pytest.raises(InputError, match=r"data\.columns"):
        Study(
            pa.table({"x": [1.0]}),
            dataset="d",
            n=1,
            columns={name: {"bounds": [0, 10]}},
            population={"model": "independent"},
            budget={"epsilon": 1.0},
            queries=[{"name": "s", "kind": "sum", "column": name}],
        )


@pytest.mark.parametrize("name", NAMES)
def test_no_column_name_is_read_as_code(name: str, tmp_path: Path) -> None:
    study = Study(
        pa.table({name: [1.0, 2.0, 3.0]}),
        dataset="d",
        n=3,
        columns={name: {"bounds": [0, 10]}},
        population={"model": "independent", "covers": [name]},
        budget={"epsilon": 1e4},
        queries=[{"name": "s", "kind": "sum", "column": name}],
        ledger=str(tmp_path / "l.db"),
    )
    assert study.release()["s"].value == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize("text", ["\\'; DROP TABLE x; --", "%", "\\\\", "é", "#"])
def test_no_text_of_a_condition_is_read_as_code(text: str, folder: Path) -> None:
    where = json.dumps(f"town == '{text}' and smokes == 'no'")
    write((MEAN, f'name = "c"\nkind = "count"\nwhere = {where}\n'))
    assert ask("release", "study.toml").exit_code == 0


@pytest.mark.parametrize("text", ["\\x00", "\\u202e", "é\u202e", "\u200b", "\n"])
def test_no_text_of_a_condition_hides_letters(text: str, folder: Path) -> None:
    """Certificates repeat conditions."""
    where = json.dumps(f"town == '{text}' and smokes == 'no'")
    write((MEAN, f'name = "c"\nkind = "count"\nwhere = {where}\n'))
    assert ask("release", "study.toml").exit_code == 2


def test_markup_in_names_is_shown_as_it_is(folder: Path) -> None:
    write(("mean height", "[/x]"), ('"people"\nn', '"[/y]"\nn'))
    assert "[/x]" in ask("release", "study.toml", "--report", "r.html").stdout
    assert "[/y]" in ask("ledger", "show").stdout


# -- 3. ledgers that somebody edited ------------------------------------------------------

EDITS = [
    "UPDATE entries SET content = json_set(content, '$.spends[0].dp_epsilon', 0.001) "
    "WHERE kind = 'release'",
    "UPDATE entries SET content = replace(content, '\"total\":3', '\"total\":300')",
    "UPDATE entries SET dataset = 'x' WHERE kind = 'release'",
    "UPDATE entries SET kind = 'refusal' WHERE kind = 'release'",
    "UPDATE entries SET hash = 'x' WHERE sequence = 2",
    "DELETE FROM entries WHERE kind = 'release'",
    "DELETE FROM entries WHERE sequence = 1",
    "DELETE FROM entries",
    "UPDATE entries SET sequence = sequence + 1 WHERE kind = 'result'",
    "DROP TABLE entries",
    "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
    "UPDATE meta SET value = '1' WHERE key = 'version'",
]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_ledger_is_refused(edit: str, folder: Path) -> None:
    write()
    assert ask("release", "study.toml").exit_code == 0
    connection = sqlite3.connect("ledger.db")
    connection.execute(edit)
    connection.commit()
    connection.close()
    before = Path("ledger.db").read_bytes()
    assert ask("release", "study.toml").exit_code == 2
    assert Path("ledger.db").read_bytes() == before


URLS = ["sqlite://x.db", "file:x?mode=memory", "/dev/null", "/dev/full", "people.csv", "a://b", "."]


@pytest.mark.parametrize("url", URLS)
def test_no_url_gives_a_ledger_that_forgets(url: str, folder: Path) -> None:
    write(("[budget]", f'[budget]\nledger = "{url}"'))
    result = ask("release", "study.toml")
    if result.exit_code == 0:
        assert Ledger(Study.load("study.toml").ledger_url, level=lambda *_: 0.0).spends("people")
    assert result.exit_code in (0, 2)


def test_a_symlinked_ledger_is_one_ledger(folder: Path) -> None:
    write()
    assert ask("release", "study.toml").exit_code == 0
    Path("real").mkdir()
    Path("ledger.db").rename("real/l.db")
    Path("ledger.db").symlink_to("real/l.db")
    assert [ask("release", "study.toml").exit_code for _ in range(3)] == [0, 0, 1]


GAUSS = (
    PEOPLE.replace('"clusters"\nsize = 3', '"gaussian"\nsize = 3\nmax_correlation = 0.1')
    .replace('"height", "smokes"', '"height"')
    .replace("epsilon = 3.0", "epsilon = 2.0")
)


@pytest.mark.parametrize("bounds", ["[0, 120]", "[170, 170.001]", "[0, 500]"])
def test_a_study_with_other_bounds_is_another_reading(bounds: str, folder: Path) -> None:
    """Whose secrets are meant is fixed by the first reading: no later spend can change it."""
    write(base=GAUSS)
    assert ask("release", "study.toml").exit_code == 0
    write((BOUNDS, f"bounds = {bounds}"), base=GAUSS)
    refused = ask("release", "study.toml")
    assert refused.exit_code == 2
    assert "between 120 and 220" in refused.stderr
    # Beside it, where the first study's spend clips around the new secrets, or the budget allows m.
    inside = bounds == "[170, 170.001]"
    assert ask("ledger", "register", "study.toml").exit_code == (0 if inside else 1)
    if inside:  # and the first reading pays for the group
        assert ask("release", "study.toml").exit_code == 1


def test_a_certificate_cannot_name_another_interval_of_secrets(folder: Path) -> None:
    write(base=GAUSS)
    assert ask("release", "study.toml", "--certificate", "c.json").exit_code == 0
    good = json.loads(Path("c.json").read_text())
    assert verify(Certificate.from_dict(good)).verdict == "VALID ASSUMING"
    step = good["derivation"]["premises"][0]
    assert step["evidence"]["interval"] == [120.0, 220.0]
    for other in ([0.0, 500.0], [170.0, 170.001], None):
        bad = json.loads(json.dumps(good))
        bad["derivation"]["premises"][0]["evidence"]["interval"] = other
        assert verify(sealed(bad)).verdict == "INVALID"


def test_no_single_change_of_a_number_makes_a_stronger_certificate(folder: Path) -> None:
    write()
    ask("release", "study.toml", "--certificate", "c.json")
    good = json.loads(Path("c.json").read_text())
    for place in (("claim", "epsilon"), ("claim", "dp_epsilon"), ("data_set", "level")):
        for factor in (0.5, 1 - 1e-9, -1, 0):
            bad = json.loads(json.dumps(good))
            bad[place[0]][place[1]] *= factor
            verdict = verify(sealed(bad))
            assert (verdict.verdict, verdict.step == "digest") == ("INVALID", False), (
                place,
                factor,
            )


@pytest.mark.parametrize("name", [" people", "people ", "peo\u200bple", "peo\tple", " "])
def test_no_name_looks_like_another_one(name: str, folder: Path) -> None:
    write(('dataset = "people"', f"dataset = {json.dumps(name)}"))
    assert "data.dataset" in ask("check", "study.toml").stderr


def test_two_ways_to_write_a_letter_are_one_budget(folder: Path) -> None:
    for name, status in (("caf\u00e9", 0), ("cafe\u0301", 0), ("caf\u00e9", 0), ("cafe\u0301", 1)):
        write(('dataset = "people"', f'dataset = "{name}"'))
        assert ask("release", "study.toml").exit_code == status


def test_bins_have_labels_of_their_own(folder: Path) -> None:
    close = "bins = [120, 150.0000001, 150.0000002, 150.0000003, 220]"
    histogram = MEAN.replace('"mean"', '"histogram"') + close + "\n"
    write((MEAN, histogram))
    result = ask("release", "study.toml", "--certificate", "c.json", "--json")
    cells = [load["cell"] for load in json.loads(result.stdout)["results"]]
    assert len(set(cells)) == 4
    assert "[150.0000001, 150.0000002)" in cells
    assert ask("verify", "c.json").exit_code == 0


def test_a_histogram_has_a_largest_size(folder: Path) -> None:
    edges = [120 + i / 1000 for i in range(20_001)]
    write((MEAN, MEAN.replace('"mean"', '"histogram"') + f"bins = {edges}\n"))
    assert "at most 2000" in ask("check", "study.toml").stderr
    states = json.dumps([str(i) for i in range(20_000)])
    query = 'name = "h"\nkind = "histogram"\ncolumn = "smokes"\n'
    write((MEAN, query), ('["yes", "no"]', states))
    assert "at most 2000" in ask("check", "study.toml").stderr


# -- values, names and files that are out of the ordinary ----------------------------------


def test_a_private_column_is_no_unit(folder: Path) -> None:
    write(
        ("n = 6", 'n = "from data"\nunit = "income"\nrows_per_unit = 5'),
        ('"mean"', '"sum"'),
        ('family = { role = "cluster" }\n', ""),
        ('"clusters"\nsize = 3', '"independent"'),
    )
    assert ask("release", "study.toml").exit_code == 2


def test_a_column_that_was_private_stays_private(folder: Path) -> None:
    base = PEOPLE.split("[population]")[0] + "[budget]\nnotion = 'dp'\nepsilon = 3.0\nspend = 1.0\n"
    base += "[[query]]\n" + MEAN
    write(('column = "height"', 'column = "income"'), base=base)
    assert ask("release", "study.toml").exit_code == 0
    write(
        ("income = {", "income = { public = true,"),
        (MEAN, MEAN + 'where = "income > 20"\n'),
        base=base,
    )
    assert ask("release", "study.toml").exit_code != 0


@pytest.mark.parametrize("option", ["--certificate", "--report"])
@pytest.mark.parametrize(
    "path",
    [
        "ledger.db",
        "ledger.db-journal",
        "people.csv",
        "study.toml",
        "diary.json",
        "link",
        "nowhere/c.json",
        ".",
        "/dev/null",
        "a\0b",
        "x" * 300,
        "other.html",
    ],
)
def test_nothing_is_written_over_what_is_not_ours(option: str, path: str, folder: Path) -> None:
    write()
    Path("diary.json").write_text('{"format": "diary"}')
    Path("other.html").write_text("<!doctype html>\n<p>mine")
    Path("link").symlink_to("ledger.db")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.exists()}
    assert ask("release", "study.toml", option, path).exit_code == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.exists()} == before
    assert Path("/dev/null").is_char_device()


def test_an_older_certificate_and_report_are_replaced(folder: Path) -> None:
    write()
    files = ("--certificate", "c.json", "--report", "r.html")
    Path("r.html").symlink_to("real.html")
    assert ask("release", "study.toml", *files).exit_code == 0
    first = Path("c.json").read_text(), Path("real.html").read_text()
    assert ask("release", "study.toml", *files).exit_code == 0
    assert Path("c.json").read_text() != first[0]
    assert Path("real.html").read_text() != first[1]
    assert Path("r.html").is_symlink()
    assert not list(folder.glob("*.part"))
    assert not list(folder.glob(".*.part"))
    same = ("--certificate", "x", "--report", "x")
    assert ask("release", "study.toml", *same).exit_code == 2
    assert json.loads(ask("verify", "c.json", "--json").stdout)["verdict"] == "VALID ASSUMING"


@pytest.mark.parametrize("name", ["x\\u0000y", "p" * 300, "d/" * 2000 + "l", "dangling", "no/l"])
def test_odd_names_of_ledgers_are_refused(name: str, folder: Path) -> None:
    Path("dangling").symlink_to("gone.db")
    write(("[budget]", f'[budget]\nledger = "{name}"'))
    refused = ask("release", "study.toml")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Error: ledger is ")
    assert not Path("gone.db").exists()


def test_a_folder_may_have_any_name(folder: Path) -> None:
    odd = folder / "what? 100%#:"
    odd.mkdir()
    (odd / "people.csv").write_text(PEOPLE_CSV)
    (odd / "study.toml").write_text(PEOPLE)
    study = str(odd / "study.toml")
    assert [ask("release", study).exit_code for _ in range(4)] == [0, 0, 0, 1]
    assert (odd / "ledger.db").exists()


@pytest.mark.parametrize("kind", ["sum", "mean"])
@pytest.mark.parametrize("bounds", ["[0, 1.7e308]", "[-8e307, 8e307]", "[0, 1e308]", "[0, 1e-315]"])
def test_a_result_beyond_the_doubles_is_refused_before_the_debit(
    kind: str, bounds: str, folder: Path
) -> None:
    write((BOUNDS, f"bounds = {bounds}"), ('"mean"\n', f'"{kind}"\n'))
    assert ask("check", "study.toml").exit_code == 2
    assert ask("release", "study.toml").exit_code == 2
    assert not Path("ledger.db").exists()


@pytest.mark.parametrize("kind", ["sum", "mean"])
@pytest.mark.parametrize("bounds", ["[0, 1e300]", "[-1e-290, 1e-290]"])
def test_large_and_small_numbers_are_released(kind: str, bounds: str, folder: Path) -> None:
    write((BOUNDS, f"bounds = {bounds}"), ('"mean"\n', f'"{kind}"\n'))
    assert ask("release", "study.toml", "--certificate", "c.json").exit_code == 0
    assert ask("verify", "c.json").exit_code == 0


@pytest.mark.parametrize(
    ("first", "two"), [("weight = 1e-300", "weight = 1e300"), ("", "error = 5e-324")]
)
def test_a_share_of_nothing_names_the_query(first: str, two: str, folder: Path) -> None:
    other = MEAN.replace("mean height", "other") + first
    write((MEAN, f"{MEAN}{two}\n[[query]]\n{other}\n"))
    refused = ask("check", "study.toml")
    assert refused.exit_code in (1, 2)
    assert "query[" in refused.stderr
    assert "'" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("leakage", '{"model":"gaussian","covariance":[]}', "--epsilon", "1"),
        ("leakage", '{"model":"gaussian","precision":"' + "p" * 5000 + '"}', "--epsilon", "1"),
        (
            "leakage",
            '{"model":"markov","transition":' + "[" * 495 + "]" * 495 + ',"length":3}',
            "--epsilon",
            "1",
        ),
        (
            "leakage",
            '{"model":"markov","transition":[[1,5e-324],[5e-324,1]],"length":10000000000}',
            "--epsilon",
            "1",
        ),
        ("calibrate", '{"model":"clusters","size":3}', "--target", "1", "--delta", "1e-320"),
        ("calibrate", CHAIN, "--target", "1e300", "--delta", "1e-6"),
    ],
)
def test_no_population_or_option_crashes(arguments: tuple[str, ...]) -> None:
    assert ask(*arguments).exit_code in (0, 1, 2)


@pytest.mark.parametrize(
    "change",
    [
        ('"people.csv"', '"duckdb://[bad?table=x"'),
        ('"people.csv"', f'"{"p" * 5000}.csv"'),
        ("[budget]", '[budget]\nledger = "x\\u0000y"'),
        ("[budget]", f'[budget]\nledger = "{"p" * 300}"'),
    ],
)
def test_no_study_crashes(change: tuple[str, str], folder: Path) -> None:
    write(change)
    assert ask("release", "study.toml").exit_code == 2


def test_a_unit_is_not_read_as_markup(folder: Path) -> None:
    write(('unit = "cm"', 'unit = "[/x]"'))
    assert ask("check", "study.toml").exit_code == 0


def test_a_certificate_with_half_a_letter_is_no_crash(folder: Path) -> None:
    write()
    ask("release", "study.toml", "--certificate", "c.json")
    content = json.loads(Path("c.json").read_text())
    content["unit"] = "\ud800"
    del content["digest"]
    content["digest"] = digest(content)
    Path("c.json").write_text(json.dumps(content))
    assert ask("verify", "c.json").exit_code == 1


def test_a_step_that_is_no_number_is_no_work(folder: Path) -> None:
    write()
    ask("release", "study.toml", "--certificate", "c.json")
    content = json.loads(Path("c.json").read_text())
    del content["digest"]
    query = content["derivation"]["premises"][0]["premises"][0]["premises"][0]
    for step in (["1e300000000"], ["1", "2"], [1], [1, 0], [1.5, 2], "1e300000000", None):
        query["evidence"]["step"] = step
        Path("c.json").write_text(json.dumps({**content, "digest": digest(content)}))
        assert ask("verify", "c.json").exit_code == 1


def test_a_search_for_noise_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesdp.calibration.MOST_LEVELS", 0.0)
    answer = ask("calibrate", CHAIN, "--target", "1", "--delta", "1e-6")
    assert answer.exit_code == 2
    assert "more seconds" in answer.stderr
