"""Dates and times of an order column: compared as times, and grouped by where they are declared."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from bayesdp.errors import InputError
from bayesdp.kernel.consistency import check_query
from bayesdp.kernel.reading import stated_columns
from bayesdp.release import Study
from bayesdp.release.spec.study import describe_column
from bayesdp.statements import StatementError, read_columns
from bayesdp.statements.conditions import is_time
from bayesdp.statements.times import step_of
from bayesdp.tables.cells import order_keys, reading
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import group_keys
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.query import CountQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from bayesdp.verification import verify
from tests.kernel.statements import read_query

DAYS = ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"]
COLUMNS: dict[str, Any] = {
    "date": {"role": "order", "step": "1 day", "states": DAYS},
    "ill": {"states": [0, 1]},
}
ROWS = [{"date": day, "ill": i % 2} for i, day in enumerate(DAYS)]
CONDITIONS = [
    "date >= '2026-02-01' and ill == 1",
    "'2026-01-31' <= date < '2026-02-02'",
    "date > '2026-01-30 12:00:00'",
    "date == '2026-02-01'",
    "date in ['2026-01-30', '2026-02-02']",
    "not (date < '2026-02-01')",
]


def sources(folder: Path) -> list[Any]:
    """The same table in every way that it may come."""
    frame = pd.DataFrame(ROWS)
    frame.to_csv(folder / "days.csv", index=False)
    spaced = "date,ill\n" + "".join(f" {row['date']} 00:00:00 ,{row['ill']}\n" for row in ROWS)
    (folder / "spaced.csv").write_text(spaced)
    times = frame.assign(date=pd.to_datetime(frame.date))
    times.to_parquet(folder / "days.parquet")
    dates = [datetime.date.fromisoformat(day) for day in DAYS]
    arrow = pa.table({"date": pa.array(dates, pa.date32()), "ill": frame.ill})
    return [frame, times, arrow, "days.csv", "spaced.csv", "days.parquet"]


@pytest.mark.parametrize("text", CONDITIONS)
def test_dates_are_compared_as_dates(text: str, tmp_path: Path) -> None:
    columns = parse_columns(COLUMNS)
    predicate = Predicate.parse(text, columns)
    count = sum(predicate.holds(row) for row in ROWS)
    assert 0 < count < len(ROWS)
    for source in sources(tmp_path):
        total = run(open_table(source, tmp_path), columns, [CountQuery("q", predicate)])
        assert total["q"].values[None] == (count,)


def test_groups_are_the_declared_dates(tmp_path: Path) -> None:
    columns = parse_columns(COLUMNS)
    query = CountQuery("q", Predicate.parse("ill == 1", columns), by="date")
    for source in sources(tmp_path):
        table = open_table(source, tmp_path)
        assert inspect(table, columns, Structure(n=4, series_length=4), [query]) == []
        assert run(table, columns, [query])["q"].values == dict(
            zip(DAYS, [(0,), (1,), (0,), (1,)], strict=True)
        )


def test_times_within_a_day() -> None:
    hours = pd.date_range("2026-02-01", periods=30, freq="h")
    columns = parse_columns({"t": {"role": "order", "step": "1 hour"}})
    table = open_table(pd.DataFrame({"t": hours}))
    cases = {"t >= '2026-02-01 12:00:00'": 18, "t < '2026-02-02'": 24, "t == '2026-02-02'": 1}
    for text, count in cases.items():
        total = run(table, columns, [CountQuery("q", Predicate.parse(text, columns))])
        assert total["q"].values[None] == (count,)


def test_the_order_of_the_texts_is_that_of_the_times() -> None:
    times = [
        datetime.datetime(year, month, day, hour, minute, second)
        for year, month, day in [(1, 1, 1), (999, 12, 31), (2026, 2, 1), (2026, 2, 2)]
        for hour, minute, second in [(0, 0, 0), (0, 0, 1), (8, 15, 0), (23, 59, 59)]
    ]
    texts = [str(time).removesuffix(" 00:00:00") for time in times]
    assert all(map(is_time, texts))
    for (a, first), (b, second) in itertools.product(zip(times, texts, strict=True), repeat=2):
        assert (a < b) == (first < second)
        assert (a == b) == (first == second)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-02-30", "2026-2-1", "20260201", "2026-02-01 00:00:00", "2026-02-01T08:00:00"),
        *("today", "2026-02-01 08:15", "2026-W05-1", "٢٠٢٦-02-01", " 2026-02-01", 20260201),
    ],
)
def test_what_is_no_date(text: Any) -> None:
    assert not is_time(text)
    with pytest.raises(InputError, match="a date such as '2026-02-01'"):
        Predicate.parse(f"date >= {text!r}", parse_columns(COLUMNS))
    with pytest.raises(InputError, match=r"states.*a date such as|states.*all texts"):
        parse_columns({"date": {"role": "order", "step": "1 day", "states": [DAYS[0], text]}})


@pytest.mark.parametrize("cell", ["yesterday", "infinity", "12345-01-01", "0044-03-15 (BC)"])
def test_cells_that_are_no_date_are_found(cell: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"date,ill\n2026-02-01,1\n{cell},0\n")
    table = open_table("t.csv", tmp_path)
    columns = parse_columns(COLUMNS | {"date": {"role": "order", "step": "1 day"}})
    assert "not-a-time" in {problem.code for problem in inspect(table, columns, Structure())}


def test_a_date_that_is_not_declared_is_found(tmp_path: Path) -> None:
    more = open_table(pd.DataFrame([*ROWS, {"date": "2026-02-03", "ill": 0}]))
    inspection = inspect(more, parse_columns(COLUMNS), Structure())
    assert [item.code for item in inspection] == ["undeclared"]


def test_a_number_as_the_step_of_dates(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(tmp_path / "days.csv", index=False)
    columns = parse_columns(COLUMNS | {"date": {"role": "order", "step": 1}})
    inspection = inspect(open_table("days.csv", tmp_path), columns, Structure())
    (message,) = [item.message for item in inspection if item.code == "order-key"]
    assert 'its step is a text such as "1 day", not 1' in message
    (tmp_path / "days.csv").write_text("date,ill\n1,0\nsecond,1\n")
    inspection = inspect(open_table("days.csv", tmp_path), columns, Structure())
    (message,) = [item.message for item in inspection if item.code == "order-key"]
    assert "dates" not in message


def test_a_derived_column_of_dates(tmp_path: Path) -> None:
    derived = {"late": {"from": "date", "where": "date >= '2026-02-01'"}}
    columns = parse_columns(COLUMNS | derived)
    assert columns["late"].is_public
    assert group_keys(columns, "late") == (0, 1)
    query = CountQuery("q", Predicate.parse("ill == 1", columns), by="late")
    for source in sources(tmp_path):
        assert run(open_table(source, tmp_path), columns, [query])["q"].values == {0: (1,), 1: (1,)}
    with pytest.raises(InputError, match="numbers in 'date'"):
        parse_columns(COLUMNS | {"late": {"from": "date", "cuts": [1]}})


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"role": "order", "step": "1 day"}, 'role = "order", step = "1 day", states = [...]'),
        ({"role": "order", "step": 2}, 'role = "order", step = 2, states = [...]'),
        ({"role": "series"}, 'role = "series", states = [...]'),
        ({"role": "cluster"}, 'role = "cluster", states = [...]'),
        ({"public": True}, "public = true, states = [...]"),
    ],
)
def test_the_remedy_can_be_followed(declared: dict[str, Any], message: str) -> None:
    import tomllib

    with pytest.raises(InputError) as refused:
        group_keys(parse_columns({"x": declared}), "x")
    assert message in str(refused.value)
    state = "'2026-02-01'" if declared.get("step") == "1 day" else "1"
    followed = tomllib.loads(f"x = {{ {message.replace('...', state)} }}")
    assert len(group_keys(parse_columns(followed), "x")) == 1


def test_positions_are_what_the_step_counts() -> None:
    with pytest.raises(InputError, match="numbers, as the step is one"):
        parse_columns({"day": {"role": "order", "step": 1, "states": ["a"]}})
    assert parse_columns({"day": {"role": "order", "step": 1, "states": [1, 2]}})["day"].is_public


# -- offsets from UTC --------------------------------------------------------------------------

OCTOBER = [  # the hour that comes twice when summer time ends
    "2024-10-27T01:30:00+02:00",
    "2024-10-27T02:30:00+02:00",
    "2024-10-27T02:30:00+01:00",
    "2024-10-27T03:30:00+01:00",
]


def found_in(folder: Path, times: list[str], step: str = "1 hour") -> list[str]:
    (folder / "t.csv").write_text("t\n" + "".join(f"{time}\n" for time in times))
    columns = parse_columns({"t": {"role": "order", "step": step}})
    expected = Structure(series_length=len(times))
    return [finding.code for finding in inspect(open_table("t.csv", folder), columns, expected)]


@pytest.mark.parametrize("form", ["{}", " {} ", "{:.22}00", "{:.22}"])
def test_times_with_an_offset_are_utc(form: str, tmp_path: Path) -> None:
    """+02:00, +0200 and +02 are the same offset; the repeated hour is not a duplicate."""
    assert found_in(tmp_path, [form.format(time) for time in OCTOBER]) == []


def test_offsets_of_both_signs_and_of_minutes(tmp_path: Path) -> None:
    same = ["2024-07-01T00:00:00Z", "2024-07-01T06:30:00+05:30", "2024-06-30T22:30:00-03:30"]
    assert found_in(tmp_path, same) == []
    assert found_in(tmp_path, same[::-1]) == ["misordered"]


def test_times_with_and_without_an_offset_have_no_order(tmp_path: Path) -> None:
    mixed = ["2024-07-01T00:30:00Z", "2024-07-01T01:30:00"]
    assert found_in(tmp_path, mixed) == ["mixed-offsets"]
    assert found_in(tmp_path, [*mixed[:1], ""])[:1] != ["mixed-offsets"]


@pytest.mark.parametrize(
    "text",
    [
        "2024-07-01T00:30:00 Europe/Berlin",
        "2024-07-01T00:30:00+25:00",
        "2024-07-01T00:30:00+02:75",
        "2024-07-01T00:30:00 EST",
        "2024-07-01Z",
        "2024-07-01T00:30:00+02:00Z",
        "2024-07-01 00:00-00:00+02:00",
    ],
)
def test_a_zone_that_is_no_offset_is_unreadable(text: str, tmp_path: Path) -> None:
    assert "order-key" in found_in(tmp_path, ["2024-07-01T00:30:00Z", text])


READ = {
    "2024-07-01T00:30:00+02:00": "2024-06-30 22:30:00",
    "2024-07-01T00:30:00+0200": "2024-06-30 22:30:00",
    "2024-07-01 00:30+02": "2024-06-30 22:30:00",
    "2024-07-01 00:30 +02:00": "2024-06-30 22:30:00",
    "2024/7/1 0:30:00.5-01:30": "2024-07-01 02:00:00",
    "2024-07-01T00:30:00+15:59": "2024-06-30 08:31:00",
    "2024-07-01 00:00:00.000000": "2024-07-01",
    "2024-07-01 00:00:00.000001": "2024-07-01 00:00:00",
    "9999-12-31 23:59:59.999999": "9999-12-31 23:59:59",
    "2024-07-01T00:30:00z": "2024-07-01 00:30:00",
    "2024-07-01 00:30 UTC": "2024-07-01 00:30:00",
    "2024-07-01T00:30-00:00": "2024-07-01 00:30:00",
    "2024-07-01T24:00": "2024-07-02",
    "2024-07-01T24:00:00+02:00": "2024-07-01 22:00:00",
    "2024-07-01  00:30": "2024-07-01 00:30:00",
    "2024-7-1": "2024-07-01",
}
UNREADABLE = [
    *("2024-07-01T00:30:00+02:00Z", "2024-07-01T00:30:00+02:00 Z", "2024-07-01T00:30Z+02:00"),
    *("2024-07-01 00:00-00:00+02:00", "2024-07-01 00:30+02:00-02:00", "2024-07-01T00:30:00ZZ"),
    *("2024-07-01 00:30 00:30+02:00", "2024-07-01T00:30:00+02:00:00", "2024-07-01T00:30\n+02:00"),
    *("2024-07-01T00:30:00+2:00", "2024-07-01T00:30:00+020", "2024-07-01T00:30:00+02:"),
    *("2024-07-01T00:30:00 + 02:00", "2024-07-01T00:30:00 utc", "2024-07-01t00:30:00Z"),
    *("2024-07-01T24:30", "2024-07-01T24:30Z", "2024-07-01T00:60Z", "2024-07-01T00Z"),
    *("2024-07-01+02:00", "2024-07-01-02:00", "00:30+02:00", "2024-07-01TT00:30Z"),
    *("24-07-01", "-2024-07-01", "02024-07-01", "2024-07-01-", "2024-07-01 00:30 extra"),
    *("12024-07-01T00:30Z", "on 2024-07-01T00:30Z", "2024-07-01 2024-07-01T00:30Z"),
    *("0001-01-01T00:30+02:00", "9999-12-31T23:30-02:00", "2024-07-01T00:30+16:00"),
    *("2024-07-01T00:30+15:60", "2024-07-01T00:30+20:00", "2024-07-01T00:30+1500:00"),
]


@pytest.mark.parametrize("form", ["csv", "parquet", "pandas", "arrow"])
def test_a_time_is_read_in_utc_or_not_at_all(form: str, tmp_path: Path) -> None:
    """A date, a separator, a clock and one offset: nothing before, between or after them."""
    texts = [*READ, *UNREADABLE]
    frame = pd.DataFrame({"t": texts})
    source: Any = {"pandas": frame, "arrow": pa.table({"t": texts})}.get(form, f"t.{form}")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    table = open_table(source, tmp_path)
    read = reading.read(table, parse_columns({"t": {"role": "order", "step": "1 hour"}}), "t")
    assert cells(read.value) == [*READ.values(), *[None] * len(UNREADABLE)]
    wrong = [False] * len(READ) + [True] * len(UNREADABLE)
    assert cells(read.faults[reading.NOT_A_TIME]) == wrong


def cells(column: Any) -> list[Any]:
    return column.name("cells").as_table().to_pyarrow()["cells"].to_pylist()


def test_times_of_a_zone_are_read_in_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the zone of the machine."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    times = pd.to_datetime(["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"], utc=True)
    frame = pd.DataFrame({"t": times.tz_convert("Europe/Berlin")})
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, pa.Table.from_pandas(frame), "t.parquet"):
        table = open_table(source, tmp_path)
        read = reading.read(table, parse_columns({"t": {"role": "order", "step": "1 hour"}}), "t")
        assert cells(read.value) == ["2024-10-27 00:30:00", "2024-10-27 01:30:00"]


# -- calendar steps and declared formats -------------------------------------------------------


def order(table: Any, folder: Path, length: int = 100, **declared: Any) -> list[str]:
    """What is wrong with the order of a table, given as rows of a CSV file or as a frame."""
    if isinstance(table, str):
        (folder / "t.csv").write_text(table.replace(" ", "\n"))
        table = "t.csv"
    columns = parse_columns({"t": {"role": "order", **declared}})
    expected = Structure(series_length=length)
    return [problem.code for problem in inspect(open_table(table, folder), columns, expected)]


@pytest.mark.parametrize(
    ("step", "dates", "codes"),
    [
        ("1 month", "t 2024-01-31 2024-02-01 2024-04-15 2025-01-01", []),
        ("1 month", "t 2024-01-01 2024-01-31", ["duplicate-order"]),
        ("1 month", "t 2023-11-30 2023-10-31", ["misordered"]),
        ("2 months", "t 2023-11-01 2024-01-01 2024-03-01", []),
        ("2 months", "t 2023-11-01 2024-02-01", ["off-step"]),
        ("1 quarter", "t 2023-12-31 2024-03-01 2024-06-30", []),
        ("1 quarter", "t 2024-04-01 2024-06-30", ["duplicate-order"]),
        ("3 months", "t 2024-01-01 2024-06-01", ["off-step"]),
        ("1 year", "t 2023-12-31 2024-01-01", []),
        ("10 years", "t 1990-05-01 2000-01-01 2010-12-31", []),
    ],
)
def test_calendar_steps(step: str, dates: str, codes: list[str], tmp_path: Path) -> None:
    assert order(dates, tmp_path, step=step) == codes


def test_calendar_steps_and_the_length_of_a_series(tmp_path: Path) -> None:
    dates = "t 2023-11-30 2024-02-01"
    assert order(dates, tmp_path, length=4, step="1 month") == []
    assert order(dates, tmp_path, length=3, step="1 month") == ["series-span"]
    assert order(dates, tmp_path, length=2, step="1 quarter") == []


@pytest.mark.parametrize("step", ["1 day", "3 months", "1 quarter", "2 years", "90 minutes"])
def test_steps_are_counted_alike_everywhere(step: str, tmp_path: Path) -> None:
    """The place of a declared state, and that of a cell."""
    moments = pd.date_range("2019-11-30", periods=9, freq="157D")
    declared = step_of(step)
    places = [declared.place(moment.to_pydatetime()) for moment in moments]
    column = parse_columns({"t": {"role": "order", "step": step}})["t"]
    table = open_table(pd.DataFrame({"t": moments}))
    keys = cells(order_keys.order_key(table, column))
    length = declared.periods or declared.seconds * 1e6
    assert [(key - keys[0]) / length for key in keys] == [float(p - places[0]) for p in places]


@pytest.mark.parametrize(
    ("numbers", "step", "known"),
    [
        (pa.array([3, None, -4, 10]), 1, True),
        (pa.array([3.5, float("nan"), -0.0]), 0.5, None),  # a file's statistics may leave out NaN
        (pa.array([1.5, 2.5], pa.float32()), 1, True),
        (pa.array([2**53 - 1, -(2**53) + 1]), 1, True),
        (pa.array([2**53, 1]), 1, False),
        (pa.array([2**60, -(2**60) + 1]), 1024, True),
        (pa.array([2**40, 1]), 1e-4, False),
        (pa.array([float("-inf"), 1.0]), 1, False),
        (pa.array([None, None], pa.int64()), 1, False),
        (pa.array([datetime.timedelta(1)]), 1, False),
        (pa.array([1, 2], pa.decimal128(20, 3)), 1, False),
    ],
)
def test_stored_ends_are_those_of_the_order_keys(
    numbers: pa.Array, step: float, known: bool | None, tmp_path: Path
) -> None:
    pa.parquet.write_table(pa.table({"t": numbers}), tmp_path / "t.parquet")
    column = parse_columns({"t": {"role": "order", "step": step}})["t"]
    for source in (str(tmp_path / "t.parquet"), pa.table({"t": numbers})):
        table = open_table(source)
        ends = order_keys.stored_ends(table, column)
        assert known is None or (ends is not None) == known
        if ends is not None:
            keys = [key for key in cells(order_keys.order_key(table, column)) if key is not None]
            assert ends == (min(keys), max(keys))


def test_ends_of_texts_and_dates_are_read_cell_by_cell(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t\n9\n10\n")
    number = parse_columns({"t": {"role": "order", "step": 1}})["t"]
    assert order_keys.stored_ends(open_table("t.csv", tmp_path), number) is None
    day = parse_columns({"t": {"role": "order", "step": "1 day"}})["t"]
    days = pd.DataFrame({"t": pd.date_range("2026-01-30", periods=3)})
    assert order_keys.stored_ends(open_table(days), day) is None


FORMATS = {
    "%d.%m.%Y": {"1.7.2024": "2024-07-01", "31.12.2024": "2024-12-31", "31.2.2024": None},
    "%m/%d/%Y": {"7/31/2024": "2024-07-31", "31/7/2024": None, "07/31/24": None},
    "%Y%m%d": {"20240701": "2024-07-01", "2024701": None, "2024111": None, "2024-07-01": None},
    "%Y-Q%q": {"2024-Q1": "2024-01-01", "2024-Q4": "2024-10-01", "2024-Q5": None, "2024-q1": None},
    "%Y": {"2024": "2024-01-01", "0": None, "2024.0": None, "0000": None},
    "%d.%m.%Y %H:%M": {"1.7.2024 8:05": "2024-07-01 08:05:00", "1.7.2024 25:00": None},
    "%H%M%S %d.%m.%Y": {"080501 01.07.2024": "2024-07-01 08:05:01"},
    "%Y[%m](.)": {"2024[7](.)": "2024-07-01", "2024[7](x)": None},
}


@pytest.mark.parametrize(("form", "kind"), [*((form, "csv") for form in FORMATS), ("%Y", "frame")])
def test_a_declared_format_is_read_and_nothing_else(form: str, kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": list(FORMATS[form])})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = open_table(frame if kind == "frame" else "t.csv", tmp_path)
    columns = parse_columns({"t": {"role": "order", "step": "1 day", "format": form}})
    read = reading.read(table, columns, "t")
    assert cells(read.value) == list(FORMATS[form].values())
    faults = [value is None for value in FORMATS[form].values()]
    assert cells(read.faults[reading.NOT_A_TIME]) == faults


def test_a_format_of_whole_numbers_and_of_other_types(tmp_path: Path) -> None:
    monthly = {"step": "1 month", "format": "%Y%m"}
    assert order(pd.DataFrame({"t": [202311, 202312, 202401]}), tmp_path, **monthly) == []
    with pytest.raises(InputError, match="no format for a column of type"):
        order(pd.DataFrame({"t": pd.to_datetime(["2024-01-01"])}), tmp_path, **monthly)
    with pytest.raises(InputError, match="no format for a column of type float64"):
        order(pd.DataFrame({"t": [202311.0]}), tmp_path, **monthly)


@pytest.mark.parametrize(
    "form", ["", "%d", "%m.%d", "%Y-%d", "%Y %H", "%Y%m%Y", "%y-%m", "%Y-%m-%q", "%Y 00", "%Y%", 4]
)
def test_what_is_no_format(form: Any) -> None:
    with pytest.raises(InputError, match=r"data\.columns\.t\.format"):
        parse_columns({"t": {"role": "order", "step": "1 month", "format": form}})
    with pytest.raises(StatementError):
        read_columns({"t": {"role": "order", "step": "1 month", "format": form}})


YEAR_MONTH: dict[str, Any] = {
    "step": "1 month",
    "from": ["year", "month"],
    "format": "%Y %m",
}


@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_an_order_from_two_columns(kind: str, tmp_path: Path) -> None:
    def findings(years: list[Any], months: list[Any]) -> list[str]:
        frame = pd.DataFrame({"year": years, "month": months})
        frame.to_csv(tmp_path / "t.csv", index=False)
        return order(frame if kind == "frame" else Path("t.csv"), tmp_path, **YEAR_MONTH)

    assert findings([2023, 2023, 2024], [11, 12, 1]) == []
    assert findings([2023, 2023, 2023], [11, 12, 1]) == ["misordered"]
    assert findings([2023, 2023], [5, 5]) == ["duplicate-order"]
    assert "not-a-time" in findings([2023, 2023], [12, 13])
    assert "missing" in findings(["2023", None], ["12", "11"])


def test_an_order_from_two_columns_is_grouped_by_and_asked(tmp_path: Path) -> None:
    columns = parse_columns(
        {
            "t": {"role": "order", **YEAR_MONTH, "states": ["2023-12-01", "2024-01-01"]},
            "year": {"public": True},
            "x": {"states": [0, 1]},
        }
    )
    frame = pd.DataFrame({"year": [2023, 2024, 2024], "month": [12, 1, 1], "x": [1, 1, 0]})
    table = open_table(frame)
    query = CountQuery("q", Predicate.parse("x == 1 and t >= '2024-01-01'", columns), by="t")
    assert run(table, columns, [query])["q"].values == {"2023-12-01": (0,), "2024-01-01": (1,)}
    (gone,) = inspect(open_table(frame[["year", "x"]]), columns, Structure())
    assert gone.code == "no-column"
    with pytest.raises(InputError, match=r"data\.columns\.t\.from is 'month'"):
        run(open_table(frame[["year", "x"]]), columns, [query])


@pytest.mark.parametrize(
    ("declared", "more", "key"),
    [
        ({"from": ["year"]}, {}, "from"),
        ({"from": ["year", "year"]}, {}, "from"),
        ({"from": ["year", "t"]}, {}, "from"),
        ({"from": ["year", 3]}, {}, "from"),
        ({"format": None}, {}, "format"),
        ({"step": 1}, {}, "format"),
        ({}, {"year": {"bounds": [1900, 2100]}}, "from"),
        ({}, {"late": {"from": "year", "cuts": [2000]}}, None),
        ({}, {"year": {"bounds": [1900, 2100]}, "late": {"from": "year", "cuts": [2000]}}, "from"),
        ({}, {"year": {"from": "born", "cuts": [2000]}}, "from"),
    ],
)
def test_what_makes_no_order_of_several_columns(
    declared: dict[str, Any], more: dict[str, Any], key: str | None
) -> None:
    """Neither in a study nor, in the words of certificates, for the kernel."""
    column = {"role": "order", **YEAR_MONTH, **declared}
    raw = {"t": {name: value for name, value in column.items() if value is not None}, **more}
    if key is None:  # what is computed from an undeclared column is private unless it says so
        key = "from"
    with pytest.raises(InputError, match=rf"data\.columns\.t\.{key}"):
        parse_columns(raw)
    with pytest.raises(StatementError):
        read_columns(raw)


def test_a_public_part_may_be_used_otherwise_too() -> None:
    raw = {
        "t": {"role": "order", **YEAR_MONTH},
        "year": {"public": True, "states": [2023, 2024]},
        "late": {"from": "month", "cuts": [7], "public": True},
    }
    columns = parse_columns(raw)
    assert describe_column(columns["t"]) == raw["t"]
    assert read_columns({name: describe_column(column) for name, column in columns.items()})


def test_dates_of_one_period_are_one_position() -> None:
    twice = {"role": "order", "step": "1 month", "states": ["2024-01-01", "2024-01-31"]}
    with pytest.raises(InputError, match="one date in each 1 month"):
        parse_columns({"t": twice})


# -- dates as values -----------------------------------------------------------------------------

ADMITTED: dict[str, Any] = {"admitted": {"bounds": ["2024-01-01", "2024-12-31"]}}
DAY_NUMBERS = [
    19723.0,
    19905.25,
    20088.0,
]  # clipped: 2023-05-01 to the first, 2030-01-01 to the last


@pytest.mark.parametrize("kind", ["text", "format", "frame", "dates"])
def test_dates_are_numbers_of_days(kind: str, tmp_path: Path) -> None:
    texts = ["2023-05-01", "2024-07-01 06:00", "2030-01-01"]
    frame = pd.DataFrame({"admitted": pd.to_datetime(texts, format="mixed")})
    declared = ADMITTED["admitted"]
    source: Any = frame
    if kind == "text":
        (tmp_path / "t.csv").write_text("admitted\n" + "\n".join(texts))
        source = "t.csv"
    elif kind == "format":
        declared = declared | {"format": "%d.%m.%Y %H:%M"}
        source = pd.DataFrame({"admitted": frame.admitted.dt.strftime("%d.%m.%Y %H:%M")})
    elif kind == "dates":
        source = pa.table({"admitted": pa.array([datetime.date(2024, 7, 1)], pa.date32())})
    columns = parse_columns({"admitted": declared})
    read = reading.read(open_table(source, tmp_path), columns, "admitted")
    assert cells(read.value) == ([19905.0] if kind == "dates" else DAY_NUMBERS)
    assert columns["admitted"].bounds == (19723.0, 20088.0)
    assert describe_column(columns["admitted"]) == {
        "bounds": [19723.0, 20088.0], "unit": "days since 1970-01-01",
        **({"format": "%d.%m.%Y %H:%M"} if kind == "format" else {}),
    }  # fmt: skip


def test_conditions_on_dates_that_are_numbers() -> None:
    derived = {"late": {"from": "admitted", "where": "admitted >= '2024-07-01 12:00:00'"}}
    columns = parse_columns(ADMITTED | derived)
    assert columns["late"].where == "admitted >= 19905.5"
    predicate = Predicate.parse("'2024-02-01' <= admitted < '2024-07-01' or late == True", columns)
    assert predicate.text == "((admitted >= 19754) and (admitted < 19905)) or (late == 1)"
    assert Predicate.parse(predicate.text, columns).text == predicate.text
    stated = {name: describe_column(column) for name, column in columns.items()}
    check_query(
        read_query({"name": "q", "kind": "count", "where": predicate.text}), stated_columns(stated)
    )
    frame = pd.DataFrame({"admitted": ["2024-01-31", "2024-02-01", "2024-06-30", "2024-07-02"]})
    total = run(open_table(frame), columns, [CountQuery("q", predicate)])
    assert total["q"].values[None] == (3,)
    for text in ("admitted > 'soon'", "admitted > '2024-02-30'", "admitted == True"):
        with pytest.raises(InputError):
            Predicate.parse(text, columns)


@pytest.mark.parametrize(
    ("declared", "key"),
    [
        ({"bounds": ["2024-01-01", 5]}, "bounds"),
        ({"bounds": ["2024-01-01", "tomorrow"]}, "bounds"),
        ({"bounds": ["2024-02-01", "2024-01-01"]}, "bounds"),
        ({"bounds": ["2024-01-01", "2024-02-01"], "unit": "s"}, "unit"),
        ({"bounds": ["2024-01-01", "2024-02-01"], "missing": {"impute": "2024-03-01"}}, "missing"),
        ({"bounds": [1, 2], "format": "%Y"}, "format"),
        ({"bounds": [1, 2], "is_date": True}, "is_date"),
    ],
)
def test_what_are_no_bounds_of_dates(declared: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=rf"data\.columns\.d\.{key}"):
        parse_columns({"d": declared})


def test_cells_that_are_no_dates(tmp_path: Path) -> None:
    columns = parse_columns({"d": {**ADMITTED["admitted"], "missing": {"impute": "2024-06-01"}}})
    (tmp_path / "t.csv").write_text("d\n2024-01-01\nNA\n2024-13-01\n")
    table = open_table("t.csv", tmp_path)
    assert [problem.code for problem in inspect(table, columns, Structure())] == ["not-a-time"]
    assert cells(reading.read(table, columns, "d").value) == [19723.0, 19875.0, None]
    (tmp_path / "t.csv").write_text("d\n2024-01-01 00:00Z\n2024-01-01 00:00\n")
    table = open_table("t.csv", tmp_path)
    assert [problem.code for problem in inspect(table, columns, Structure())] == ["mixed-offsets"]
    with pytest.raises(InputError, match="dates or times in the table in memory"):
        inspect(open_table(pd.DataFrame({"d": [1.0]})), columns, Structure())


def test_a_mean_of_dates_is_released_and_verified(tmp_path: Path) -> None:
    made = Study(
        pd.DataFrame({"admitted": ["2024-03-01", "2024-05-01"]}),
        dataset="admissions",
        n=2,
        columns=ADMITTED,
        population={"model": "independent", "covers": ["admitted"]},
        budget={"epsilon": 1000.0},
        queries=[
            {"name": "mean", "kind": "mean", "column": "admitted"},
            {"name": "late", "kind": "count", "where": "admitted >= '2024-04-01'"},
        ],
        ledger=str(tmp_path / "ledger.db"),
    )
    released = made.release()
    assert released["mean"].value == pytest.approx(19813.5, abs=20)
    assert released["mean"].unit == "days since 1970-01-01"
    body = released.certificate.body
    assert body["columns"]["admitted"]["bounds"] == [19723.0, 20088.0]
    assert verify(released.certificate).verdict == "VALID ASSUMING"
