"""Small files of the forms that public data have: quarters, hours across a clock change, a CSV of a
European spreadsheet. `check --data` and `release` say the same of each.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesdp.errors import TableMismatchError
from bayesdp.release import Study
from bayesdp.verification import verify

TRANSITION = "[[0.7, 0.3], [0.4, 0.6]]"


def study(folder: Path, table: str, columns: str, *, n: int, length: int, query: str = "") -> Study:
    (folder / "table.csv").write_bytes(table.encode())
    (folder / "study.toml").write_text(f"""
[data]
source = "table.csv"
dataset = "made-up"
n = {n}
[data.columns]
{columns}
[population]
model = "markov"
transition = {TRANSITION}
length = {length}
covers = ["high"]
[budget]
epsilon = 2000.0
[[query]]
name = "high"
kind = "count"
where = "high == 1"
{query}
""")
    return Study.load(folder / "study.toml")


def counts(made: Study) -> dict[str, int]:
    """The released counts by group, which have next to no noise here."""
    assert made.inspect() == []
    released = made.release()
    assert verify(released.certificate).verdict == "VALID ASSUMING"
    return {", ".join(result.places): round(result.value) for result in released.results}


def refused(made: Study) -> list[str]:
    """The codes of what is wrong, where a release refuses the table too."""
    with pytest.raises(TableMismatchError):
        made.release()
    assert made.spends() == []
    return [finding.code for finding in made.inspect()]


QUARTERS = ["2023-10-01", "2024-01-01", "2024-04-01", "2024-07-01"]
PANEL = [("north", 0), ("north", 1), ("north", 2), ("south", 1), ("south", 3)]


@pytest.mark.parametrize(
    ("header", "cell", "declared"),
    [
        ("quarter", lambda year, q: f"{year}-Q{q}", 'format = "%Y-Q%q"'),
        ("year,q", lambda year, q: f"{year},{q}", 'from = ["year", "q"], format = "%Y %q"'),
    ],
)
def test_a_panel_by_quarter(header: str, cell: object, declared: str, tmp_path: Path) -> None:
    assert callable(cell)
    rows = [
        f"{region},{cell(2023 + (place + 3) // 4, (place + 3) % 4 + 1)},{place % 2}"
        for region, place in PANEL
    ]
    columns = f"""region = {{ role = "series" }}
high = {{ states = [0, 1] }}
quarter = {{ role = "order", step = "1 quarter", states = {QUARTERS}, {declared} }}
"""
    table = "\n".join([f"region,{header},high", *rows, ""])
    made = study(tmp_path, table, columns, n=5, length=4, query='by = "quarter"')
    assert counts(made) == dict(zip(QUARTERS, (0, 2, 0, 1), strict=True))


def test_a_panel_by_quarter_that_is_too_long_or_has_a_quarter_twice(tmp_path: Path) -> None:
    columns = """high = { states = [0, 1] }
quarter = { role = "order", step = "1 quarter", format = "%Y-Q%q" }"""
    long = "quarter,high\n2023-Q4,0\n2024-Q4,1\n"
    assert refused(study(tmp_path, long, columns, n=2, length=4)) == ["series-span"]
    twice = "quarter,high\n2023-Q4,0\n2023-Q4,1\n"
    assert refused(study(tmp_path, twice, columns, n=2, length=4)) == ["duplicate-order"]


HOUR = """high = { states = [0, 1] }
at = { role = "order", step = "1 hour" }"""
AUTUMN = ["01:00:00+02:00", "02:00:00+02:00", "02:00:00+01:00", "03:00:00+01:00"]
SPRING = ["2024-03-31T01:00:00+01:00", "2024-03-31T03:00:00+02:00", "2024-03-31T04:00:00+02:00"]


def hours(times: list[str]) -> str:
    return "at,high\n" + "".join(f"{time},1\n" for time in times)


def test_hours_across_a_clock_change(tmp_path: Path) -> None:
    autumn = [f"2024-10-27T{time}" for time in AUTUMN]
    later = HOUR + '\nlater = { from = "at", where = "at >= \'2024-10-27 01:00:00\'" }'  # in UTC
    made = study(tmp_path, hours(autumn), later, n=4, length=4, query='by = "later"')
    assert counts(made) == {"0": 2, "1": 2}
    (tmp_path / "spring").mkdir()
    assert counts(study(tmp_path / "spring", hours(SPRING), HOUR, n=3, length=3)) == {"": 3}


@pytest.mark.parametrize(
    ("times", "code"),
    [
        ([time[:8] for time in AUTUMN], "duplicate-order"),
        (["01:00:00Z", "02:00:00Z", "02:00:00"], "mixed-offsets"),
        (["01:00:00+02:00", "02:00:00+01:00"], "off-length"),
    ],
)
def test_hours_whose_order_is_not_known(times: list[str], code: str, tmp_path: Path) -> None:
    table = hours([f"2024-10-27T{time}" for time in times])
    made = study(tmp_path, table, HOUR, n=len(times), length=len(times))
    assert refused(made)[0] == code.replace("off-length", "series-span")


EUROPEAN = "\ufeffTag;Größe;high\r\n1.2.2026;170;0\r\n02.02.2026;182;1\r\n3.2.2026;165;1\r\n"
DAYS = """high = { states = [0, 1] }
Tag = { role = "order", step = "1 day", format = "%d.%m.%Y" }
"Größe" = { bounds = [120, 220], unit = "cm", independent = true }"""


def test_a_european_csv(tmp_path: Path) -> None:
    made = study(tmp_path, EUROPEAN, DAYS, n=3, length=3)
    assert counts(made) == {"": 2}


def test_decimal_commas_are_refused_not_misread(tmp_path: Path) -> None:
    made = study(tmp_path, EUROPEAN.replace("170", "170,5"), DAYS, n=3, length=3)
    assert refused(made) == ["not-a-number"]
