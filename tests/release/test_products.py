"""Covariances and moments of regressions: from the table to the integers and their noise."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp import kernel
from bayesdp.errors import InputError, TableMismatchError, UnsupportedError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release import Study
from bayesdp.release.drawing.study_drawing import noisy
from bayesdp.release.price.plan import PlannedQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.chance import Chance
from tests.kernel.test_forgeries import refused, renewed
from tests.release.many_tables import values_of_each

Document = dict[str, Any]
Change = Callable[[Document], object]
COLUMNS: Document = {
    "x": {"bounds": [-1.0, 4.0], "unit": "kg"},
    "y": {"bounds": [0.0, 8.0], "unit": "km/h"},
    "s": {"states": [3, 1, 2]},
    "g": {"public": True, "states": ["a", "b"]},
}
TABLE = pd.DataFrame(
    {
        "x": [-7.0, -1.0, 0.3, 2.0, 4.0, 1e308],
        "y": [8.0, 9.0, 3.0, 0.5, -2.0, 0.0],
        "s": [3, 1, 2, 2, 3, 1],
        "g": ["a", "b", "a", "b", "a", "a"],
    }
)
TOGETHER: Document = {"name": "c", "kind": "covariance", "column": ["x", "y"]}
LINE: Document = {"name": "r", "kind": "regression", "outcome": "y", "on": ["x", "s"]}
GAUSSIAN = {"delta": 1e-6, "noise": "gaussian"}


def study(folder: Path, *queries: Document, table: pd.DataFrame = TABLE, **other: Any) -> Study:
    made: Document = {
        "dataset": "d",
        "n": len(table),
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["x", "y", "s"], "source": "us"},
        "budget": {"epsilon": 1e6},
        "ledger": str(folder / "ledger.db"),
    }
    folder.mkdir(exist_ok=True)
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    return Study(table, **(made | other), queries=named)


def clipped(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(x=table.x.clip(-1.0, 4.0), y=table.y.clip(0.0, 8.0))


def cov(frame: pd.DataFrame, *names: str) -> float:
    first, second = (frame[name] - frame[name].mean() for name in names)
    return float((first * second).mean())


def test_it_is_that_of_numpy(tmp_path: Path) -> None:
    """So little noise that there is none: of clipped values, by groups, of rows that match."""
    values = clipped(TABLE)
    release = study(
        tmp_path,
        TOGETHER,
        {"kind": "covariance", "columns": ["x", "y"], "by": "g"},
        {"kind": "covariance", "column": ["s", "x"], "where": "g == 'a'"},
        {"kind": "covariance", "column": ["x", "x2"]},
        table=TABLE.assign(x2=TABLE.x),
        columns=COLUMNS | {"x2": COLUMNS["x"] | {"independent": True}},
    ).release()
    assert release["c"].value == pytest.approx(cov(values, "x", "y"), rel=1e-3)
    assert release["c"].value < 0.0
    assert release["c"].unit == "kg*(km/h)"
    for group, there in values.groupby("g"):
        assert release["q1", group].value == pytest.approx(cov(there, "x", "y"), rel=1e-3)
        assert release["q1", group].rows == len(there)
    assert release["q2"].value == pytest.approx(cov(values[values.g == "a"], "s", "x"), rel=1e-3)
    assert release["q2"].unit == "kg"
    assert release["q3"].value == pytest.approx(np.var(values.x), rel=1e-3)
    assert release["q3"].unit == "kg^2"
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"


def test_moments_are_those_of_scaled_columns(tmp_path: Path) -> None:
    values = clipped(TABLE)
    scaled = {"x": (values.x - 1.5) / 2.5, "s": values.s - 2.0, "y": (values.y - 4.0) / 4.0}
    release = study(tmp_path, LINE, LINE | {"name": "by", "by": "g"}).release()
    names = ["x", "s", "y"]
    due = {name: scaled[name] for name in names} | {
        f"{a} * {b}": scaled[a] * scaled[b] for a, b in combinations_with_replacement(names, 2)
    }
    assert [result.cell for result in release["r"]] == list(due)
    for name, numbers in due.items():
        assert release["r", name].value == pytest.approx(numbers.mean(), abs=1e-3)
        assert release["r", name].unit == ""
        in_b = numbers[values.g == "b"].mean()
        assert release["by", "b", name].value == pytest.approx(in_b, abs=1e-3)
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"


# -- what a record can move ------------------------------------------------------------------------


def integers(made: Study, query: PlannedQuery, table: pd.DataFrame) -> list[int]:
    answer = run(open_table(table, Path()), made.spec.columns, [query.table_query()])
    return [n for values in answer[query.name].values.values() for n in values]


def integers_of_each(
    made: Study, query: PlannedQuery, tables: Sequence[pd.DataFrame]
) -> list[list[int]]:
    """The integers of many tables; those of some are the same if a table is scanned alone."""
    answers = values_of_each(made.spec.columns, [query], tables)[query.name]
    each = [[n for values in answer for n in values] for answer in answers]
    for place in {0, len(tables) // 2, len(tables) - 1}:
        assert each[place] == integers(made, query, tables[place])
    return each


def steps_of(query: PlannedQuery) -> int:
    return 2 ** int(getattr(query.grid, "bits", 0))


@pytest.mark.parametrize("budget", [{}, GAUSSIAN])
def test_no_neighbour_moves_a_covariance_further_than_priced(
    budget: Document, tmp_path: Path
) -> None:
    """All tables of three rows with values at ends and middles, and all their neighbours."""
    made = study(tmp_path, TOGETHER, table=TABLE.head(3), budget={"epsilon": 1.0} | budget)
    (query,) = made.check().plan.queries
    steps = steps_of(query)
    cells = list(product((-1.0, 2.0, 4.0), (0.0, 3.0, 8.0)))
    tables = list(combinations_with_replacement(cells, 3))
    frames = [pd.DataFrame(rows, columns=["x", "y"]).assign(s=1, g="a") for rows in tables]
    numbers = integers_of_each(made, query, frames)
    totals = {rows: number for rows, (number,) in zip(tables, numbers, strict=True)}
    furthest = max(
        abs(totals[rows] - totals[tuple(sorted((*kept, new)))])
        for rows in tables
        for kept in (rows[1:], rows[:1] + rows[2:], rows[:2])
        for new in cells
    )
    due = query.sensitivity if not budget else math.isqrt(query.sensitivity)
    assert due == steps**2
    assert furthest in (2 * steps**2 // 3, 2 * steps**2 // 3 + 1)  # (1 - 1/N) K^2, with integers


@pytest.mark.parametrize(("on", "share"), [(["x"], 8 / 9), (["x", "s"], 1.0)])
@pytest.mark.parametrize("budget", [{}, GAUSSIAN])
def test_no_neighbour_moves_moments_further_than_priced(
    on: list[str], share: float, budget: Document, tmp_path: Path
) -> None:
    """One row goes from any of the ends, middles and extremes of the proof to any other."""
    third = 1.0 / (len(on) + 2.0)  # a scaled value of -third is the extreme one of the proof in l1
    ends = [-1.0, -third, 0.0, third, 1.0]
    columns = COLUMNS | {"s": {"bounds": [-1.0, 1.0]}}
    asked = LINE | {"on": on}
    made = study(tmp_path, asked, columns=columns, budget={"epsilon": 1.0} | budget)
    (query,) = made.check().plan.queries
    steps, d = steps_of(query), len(on) + 1
    frames = []
    for point in product(ends, repeat=d):
        x, *s, y = point
        cells = {"x": 1.5 + 2.5 * x, "y": 4.0 + 4.0 * y, "s": s[0] if s else 0.0, "g": "a"}
        frames.append(pd.DataFrame([cells]))
    totals = np.array(integers_of_each(made, query, frames), dtype=float)
    apart = totals[:, None] - totals[None]
    if budget:
        assert query.sensitivity == ((d + 1) * steps**2) ** 2
        furthest = (apart**2).sum(axis=2).max()
        assert share * 0.999 * query.sensitivity <= furthest <= query.sensitivity * (1 + 1e-12)
    else:
        assert query.sensitivity == d * (d + 2) ** 2 * steps**2 // (2 * (d + 1))
        furthest = np.abs(apart).sum(axis=2).max()
        assert 0.995 * query.sensitivity <= furthest <= query.sensitivity * (1 + 1e-12)


@pytest.mark.parametrize("budget", [{}, GAUSSIAN])
@pytest.mark.parametrize("persons", [False, True])
def test_no_group_or_person_moves_further_than_priced(
    budget: Document, persons: bool, tmp_path: Path
) -> None:
    """A record's group keeps its size; persons have two rows each."""
    rng, table = np.random.default_rng(3), TABLE.assign(who=[1, 1, 2, 2, 3, 3])
    person = {"columns": COLUMNS | {"who": {"public": True}}, "unit": "who", "rows_per_unit": 2}
    other = person | {"balanced": True, "n": 3} if persons else {}
    by = {} if persons else {"by": "g"}
    asked = [query | by for query in (TOGETHER, LINE)]
    made = study(tmp_path, *asked, table=table, budget={"epsilon": 1.0} | budget, **other)
    width, power = 1 + persons, 2 if budget else 1
    tables = []
    for _ in range(20):
        before = table.assign(x=rng.choice([-1, 0.5, 4], 6), y=rng.choice([0, 3, 8], 6))
        after = before.copy()
        first = int(rng.integers(6 // width)) * width
        rows = slice(first, first + width - 1)
        after.loc[rows, "x"] = rng.choice([-1, 0.5, 4], width)
        after.loc[rows, "y"] = rng.choice([0, 3, 8], width)
        tables += [before, after]
    for query in made.check().plan.queries:
        steps = steps_of(query) ** 2
        due = {"c": steps, "r": 4 * steps if budget else 3 * 5**2 * steps // 8}[query.name]
        assert query.sensitivity == (width * due) ** power
        each = integers_of_each(made, query, tables)
        for pair in zip(each[::2], each[1::2], strict=True):
            moved = sum(abs(a - b) ** power for a, b in zip(*pair, strict=True))
            assert moved <= query.sensitivity


# -- their noise -----------------------------------------------------------------------------------

GROUPS, EPSILON = 2000, 40.0
OFF = (1.2, 0.83)
NUMBERS = {"c": 4, "r": 1}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_noise_has_its_scale_and_no_other(name: str, tmp_path: Path, chance: Chance) -> None:
    """Four rows at the corners: the covariance is 0; the moments of a line 0 and 1, by hand."""
    table = pd.DataFrame(
        {
            "x": np.tile([0.0, 100.0, 0.0, 100.0], GROUPS),
            "y": np.tile([0.0, 0.0, 10.0, 10.0], GROUPS),
            "g": np.repeat(np.arange(GROUPS), 4),
        }
    )
    states = list(range(GROUPS))
    columns = {
        "x": {"bounds": [0, 100]},
        "y": {"bounds": [0, 10]},
        "g": {"public": True, "states": states},
    }
    asked = (TOGETHER if name == "c" else LINE | {"on": "x"}) | {"by": "g"}
    made = study(
        tmp_path,
        asked,
        table=table,
        columns=columns,
        population={"model": "independent", "covers": ["x", "y"], "source": "us"},
        budget={"epsilon": EPSILON},
    )
    (query,) = made.check().plan.queries
    total = run(open_table(table, Path()), made.spec.columns, [query.table_query()])[query.name]
    true, results = {"x * x": 1.0, "y * y": 1.0}, []
    for _ in range(NUMBERS[name]):
        results += noisy(query, total)
    noise = [result.value - true.get(str(result.cell), 0.0) for result in results]
    scale = {"c": 1000.0, "r": 16.0 / 3.0}[name] / EPSILON / 4.0
    draws, sizes, error = len(noise), np.abs(noise), results[0].margin()
    assert draws == {"c": 4, "r": 5}[name] * GROUPS
    for reach in (1.6 * scale, error):
        hits, share = int((sizes <= reach).sum()), -math.expm1(-reach / scale)
        chance.expect(hits, draws, share)
        if reach != error:
            for factor in OFF:
                chance.expect_not(hits, draws, -math.expm1(-reach / (factor * scale)), share)
    chance.expect(int((np.array(noise) > 0).sum()), draws, 0.5)
    assert error == pytest.approx(scale * math.log(20), rel=1e-3)


# -- what is told ----------------------------------------------------------------------------------


def test_its_error_is_known_before(tmp_path: Path) -> None:
    """Six rows of widths of 5 and 8 at epsilon 1: the scale is 40 / 6."""
    made = study(tmp_path, TOGETHER, budget={"epsilon": 1.0})
    (query,) = made.check().plan.queries
    assert query.error(rows=6) == pytest.approx(40 / 6 * math.log(20), rel=1e-3)
    assert query.spend.kind == "any"
    assert "kg*(km/h)" in str(made.check())
    less = study(tmp_path / "less", TOGETHER, budget={"epsilon": 0.9})
    assert "larger than everything" in str(less.check())  # a covariance is from -10 to 10
    wanted = study(tmp_path / "wanted", TOGETHER | {"error": 2.0}, budget={"epsilon": 90.0})
    (priced,) = wanted.check().plan.queries
    assert priced.error(rows=6) <= 2.0 < priced.error(0.953, rows=6)
    line = study(tmp_path / "line", LINE, budget={"epsilon": 1.0})
    (moments,) = line.check().plan.queries
    assert moments.error(rows=6) == pytest.approx(75 / 8 / 6 * math.log(20), rel=1e-3)
    assert "larger than everything" in str(line.check())  # a moment is from -1 to 1
    assert moments.numbers == 9


REFUSED: dict[str, tuple[Document, Document, str]] = {
    "one column": ({"column": "x"}, {}, r'column = \["x", \.\.\.\], or kind = "variance"'),
    "no column": ({"column": None}, {}, "the two columns whose covariance"),
    "three columns": ({"column": ["x", "y", "s"]}, {}, "Ask for each pair"),
    "twice": ({"column": ["x", "x"]}, {}, "each of them once"),
    "both keys": ({"columns": ["x", "y"]}, {}, "columns"),
    "private condition": ({"where": "s == 1"}, {}, "public columns only, for a covariance"),
    "texts": ({"column": ["x", "g2"]}, {}, "a column of numbers"),
    "public": ({"column": ["x", "g"]}, {}, "a private column.*needs no noise"),
    "undeclared": ({"column": ["x", "yy"]}, {}, "Did you mean 'y'"),
    "bins": ({"bins": [0.0, 1.0, 2.0]}, {}, "only on a histogram"),
    "an outcome": ({"outcome": "y"}, {}, "only on a regression"),
    "rows unknown": ({"by": "g", "error": 1.0}, {}, r"group_sizes = \{ a = .*Else use weight\.$"),
    "persons": ({}, {"unit": "who", "rows_per_unit": 2, "n": 3}, "balanced = true.*histogram of"),
    "persons by": (
        {"by": "g"},
        {"unit": "who", "rows_per_unit": 2, "n": 3, "balanced": True},
        "Leave by out",
    ),
    "too many rows": ({}, {"n": 2**40}, "room in 64-bit integers"),
    "no outcome": (LINE | {"column": None, "outcome": None}, {}, "outcome.*column to explain"),
    "on nothing": (LINE | {"column": None, "on": []}, {}, "names of columns|columns to explain it"),
    "on itself": (LINE | {"column": None, "on": ["x", "y"]}, {}, "other than the outcome"),
    "a column": (LINE | {"column": "x"}, {}, "whose columns are its outcome"),
    "an error": (LINE | {"column": None, "error": 1.0}, {}, "Use weight"),
    "on texts": (LINE | {"column": None, "on": ["x", "g2"]}, {}, r"on.*a column of numbers"),
    "of a public outcome": (LINE | {"column": None, "outcome": "g"}, {}, r"outcome.*private"),
    "two names": (LINE | {"column": None, "on": ["x", "x * x"]}, {}, "Name the column otherwise"),
    "too many columns": (
        LINE | {"column": None, "on": [f"z{i}" for i in range(20)]},
        {},
        "at most 19 columns",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    query, other, words = REFUSED[name]
    columns = COLUMNS | {
        "who": {"public": True},
        "g2": {"states": ["u", "v"], "independent": True},
        "x * x": {"bounds": [0.0, 1.0], "independent": True},
    }
    small = {"budget": {"epsilon": 1e-13}} if name == "too many rows" else {}
    with pytest.raises((InputError, UnsupportedError), match=words):
        study(tmp_path, TOGETHER | query, columns=columns, **small, **other).check()


def test_a_group_without_rows_has_none(tmp_path: Path) -> None:
    for query in (TOGETHER, LINE):
        made = study(tmp_path, query | {"by": "g"}, table=TABLE.assign(g="a"))
        with pytest.raises(TableMismatchError, match=f"no {query['kind']} of them"):
            made.release()


# -- what is not proved ----------------------------------------------------------------------------


@cache
def _released(name: str) -> str:
    folder = Path(mkdtemp(prefix="bayesdp-products-"))
    query = TOGETHER if name == "c" else LINE
    budget = {"epsilon": 4.0}
    made = study(folder, query | {"where": "g == 'a'"}, budget=budget)
    return made.release().certificate.to_json()


def released(name: str) -> Document:
    document: Document = json.loads(_released(name))
    return document


def evidence(document: Document) -> Document:
    (step,) = document["derivation"]["premises"]
    (composition,) = step["premises"]
    stated: Document = composition["premises"][0]["evidence"]
    return stated


def less_noise(share: Fraction) -> Change:
    """A smaller sensitivity, with the noise that the stated cost then has."""

    def change(document: Document) -> None:
        stated = evidence(document)
        before = stated["sensitivity"]
        stated["sensitivity"] = math.ceil(before * share)
        stated["scale"] *= stated["sensitivity"] / before
        stated["scale"] = math.nextafter(stated["scale"], math.inf)
        for shown in document["results"]:
            shown["noise"]["scale"] = stated["scale"]
            length = Fraction(*stated["step"]) / shown["rows"]
            shown["error"]["value"] = DiscreteLaplace(stated["scale"]).quantile(0.95) * float(
                length
            )

    return change


def _grids(change: Callable[[list[Document]], object]) -> Change:
    return lambda document: change(evidence(document)["grids"])


def _finer(grids: list[Document]) -> None:
    grids[1] |= {"bits": grids[1]["bits"] + 1, "slack": grids[1]["slack"] / 2.0}


def _other_steps(document: Document) -> None:
    stated = evidence(document)
    stated["step"][0] *= 2
    for shown in document["results"]:
        shown["noise"]["step"] *= 2.0
        shown["error"]["value"] *= 2.0


def _fewer_rows(document: Document) -> None:
    shown = document["results"][3]
    times = shown["rows"] / 2
    shown |= {"rows": 2, "value": shown["value"] * times}
    length = Fraction(*evidence(document)["step"]) / 2
    shown["noise"]["step"] = float(length)
    noise = DiscreteLaplace(shown["noise"]["scale"])
    shown["error"]["value"] = noise.quantile(0.95) * float(length)


def _private_rows(document: Document) -> None:
    """A condition on private values, which the spend admits to read."""
    stated = evidence(document)
    stated["query"]["where"] = "s == 1"
    stated["spend"]["reads"] = sorted({*stated["spend"]["reads"], "s"})


def _as(query: Document) -> Change:
    return lambda document: evidence(document)["query"].update(query)


FORGED: dict[str, tuple[str, Change, str]] = {
    "smaller-move": ("c", less_noise(Fraction(1, 2)), "is due"),
    "a-hair-less": ("c", less_noise(1 - Fraction(1, 10**6)), "is due"),
    "moves-of-one-moment": ("r", less_noise(Fraction(8, 75)), "is due"),
    "moments-a-hair-less": ("r", less_noise(1 - Fraction(1, 10**6)), "is due"),
    "other-steps": ("c", _other_steps, "step"),
    "other-steps-of-moments": ("r", _other_steps, "step"),
    "a-mean": ("c", _as({"kind": "mean"}), ""),
    "three-columns": ("c", _as({"column": ["x", "y", "s"]}), "two columns"),
    "other-columns": ("c", _as({"column": ["x", "s"]}), "bounds"),
    "columns-exchanged": ("c", _as({"column": ["y", "x"]}), "bounds"),
    "a-public-column": ("c", _as({"column": ["x", "g"]}), "private columns of numbers"),
    "private-condition": ("c", _as({"where": "s == 1"}), "whose number is private"),
    "private-condition-throughout": ("c", _private_rows, "whose number is private"),
    "moments-of-fewer": ("r", _as({"on": "x"}), ""),
    "outcome-on-itself": ("r", _as({"on": ["x", "y"]}), "on itself"),
    "no-outcome": ("r", lambda d: evidence(d)["query"].pop("outcome"), "outcome"),
    "no-grids": ("c", lambda d: evidence(d).pop("grids"), "grids"),
    "one-grid": ("c", _grids(list.pop), ""),
    "masked": ("c", _grids(lambda grids: grids[0].update(masked=True)), "masked"),
    "more-steps": ("c", _grids(_finer), "steps"),
    "more-steps-of-a-moment": ("r", _grids(_finer), "steps"),
    "smaller-bounds": ("c", _grids(lambda grids: grids[1].update(hi=1.0)), "bounds"),
    "smaller-bounds-of-moments": ("r", _grids(lambda grids: grids[1].update(hi=2.0)), "bounds"),
    "a-single-grid": (
        "c",
        lambda d: evidence(d).update(grid=evidence(d)["grids"][0]),
        "a grid belongs",
    ),
    "unit": ("c", lambda d: d["results"][0].update(unit="kg"), "unit"),
    "unit-of-moments": ("r", lambda d: d["results"][0].update(unit="kg"), "unit"),
    "no-rows": ("c", lambda d: d["results"][0].pop("rows"), "rows"),
    "more-rows": ("c", lambda d: d["results"][0].update(rows=7), ""),
    "rows-of-one-moment": ("r", _fewer_rows, "rows of the other moments"),
    "no-room": ("c", lambda d: d.update(n=2**40), "64-bit"),
    "a-moment-less": ("r", lambda d: d["results"].pop(), "number of results"),
    "a-moment-twice": ("r", lambda d: d["results"].insert(1, d["results"].pop(0)), "is due"),
    "beyond-64-bits": ("r", lambda d: d["results"][2].update(value=1e6), "whole number of steps"),
}


@pytest.mark.parametrize("name", ["c", "r"])
def test_an_honest_one_is_valid(name: str) -> None:
    assert kernel.check(released(name))


@pytest.mark.parametrize("name", FORGED)
def test_forged_products_are_refused(name: str) -> None:
    kind, change, reason = FORGED[name]
    document = released(kind)
    before = copy.deepcopy(document)
    change(document)
    assert document != before
    refused(renewed(document), "", reason)
