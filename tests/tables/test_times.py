"""Dates and times of an order column: compared as times, and grouped by where they are declared."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from bayesdp.errors import InputError
from bayesdp.statements.conditions import is_time
from bayesdp.tables import reading
from bayesdp.tables.checks import Structure, inspect
from bayesdp.tables.columns import group_keys
from bayesdp.tables.declarations import parse_columns
from bayesdp.tables.predicates import Predicate
from bayesdp.tables.queries import CountQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums import run

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
    texts = [str(one).removesuffix(" 00:00:00") for one in times]
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
    assert "not-a-time" in {one.code for one in inspect(table, columns, Structure())}


def test_a_date_that_is_not_declared_is_found(tmp_path: Path) -> None:
    more = open_table(pd.DataFrame([*ROWS, {"date": "2026-02-03", "ill": 0}]))
    found = inspect(more, parse_columns(COLUMNS), Structure())
    assert [one.code for one in found] == ["undeclared"]


def test_a_number_as_the_step_of_dates(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(tmp_path / "days.csv", index=False)
    columns = parse_columns(COLUMNS | {"date": {"role": "order", "step": 1}})
    found = inspect(open_table("days.csv", tmp_path), columns, Structure())
    (message,) = [one.message for one in found if one.code == "order-key"]
    assert 'its step is a text such as "1 day", not 1' in message
    (tmp_path / "days.csv").write_text("date,ill\n1,0\nsecond,1\n")
    found = inspect(open_table("days.csv", tmp_path), columns, Structure())
    (message,) = [one.message for one in found if one.code == "order-key"]
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
