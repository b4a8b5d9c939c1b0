"""Variances of a study: from the table to the integers, their noise, and what people are told."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp import kernel
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release import Study
from bayesdp.release.price.plan import PlannedQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.chance import Chance
from tests.kernel.test_forgeries import refused, renewed

Document = dict[str, Any]
Change = Callable[[Document], object]
COLUMNS: Document = {
    "x": {"bounds": [-1.0, 4.0], "unit": "kg"},
    "s": {"states": [3, 1, 2]},
    "g": {"public": True, "states": ["a", "b"]},
}
VALUES = [-7.0, -1.0, 0.3, 2.0, 4.0, 1e308]
TABLE = pd.DataFrame({"x": VALUES, "s": [3, 1, 2, 2, 3, 1], "g": ["a", "b", "a", "b", "a", "a"]})
SPREAD: Document = {"name": "v", "kind": "variance", "column": "x"}


def study(folder: Path, *queries: Document, table: pd.DataFrame = TABLE, **other: Any) -> Study:
    made: Document = {
        "dataset": "d",
        "n": len(table),
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["x", "s"], "source": "us"},
        "budget": {"epsilon": 1e6},
        "ledger": str(folder / "ledger.db"),
    }
    folder.mkdir(exist_ok=True)
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    return Study(table, **(made | other), queries=named)


def test_it_is_that_of_numpy(tmp_path: Path) -> None:
    """So little noise that there is none: of clipped values, by groups, of rows that match."""
    clipped = TABLE.assign(x=TABLE.x.clip(-1.0, 4.0))
    release = study(
        tmp_path,
        SPREAD,
        {"kind": "variance", "column": "x", "by": "g"},
        {"kind": "variance", "column": "x", "where": "g == 'a'"},
        {"kind": "variance", "column": "s"},
    ).release()
    close = pytest.approx
    assert release["v"].value == close(np.var(clipped.x), rel=1e-3)
    assert release["v"].unit == "kg^2"
    for group, there in clipped.groupby("g"):
        assert release["q1", group].value == close(np.var(there.x), rel=1e-3)
        assert release["q1", group].rows == len(there)
    assert release["q2"].value == close(release["q1", "a"].value, rel=1e-3)
    assert release["q3"].value == close(np.var(clipped.s), rel=1e-3)
    assert release["q3"].unit == ""
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"


# -- what a record can move ------------------------------------------------------------------------


def squares(made: Study, query: PlannedQuery, table: pd.DataFrame) -> list[int]:
    totals = run(open_table(table, Path()), made.spec.columns, [query.table_query()])
    return [values[0] for values in totals["v"].values.values()]


@pytest.mark.parametrize("budget", [{}, {"delta": 1e-6, "noise": "gaussian"}])
def test_no_neighbour_is_further_than_priced(budget: Document, tmp_path: Path) -> None:
    """All tables of three rows with these values, and all their neighbours, through the engine."""
    made = study(tmp_path, SPREAD, table=TABLE.head(3), budget={"epsilon": 1.0} | budget)
    (query,) = made.check().plan.queries
    assert query.grid is not None
    steps = 2**query.grid.bits
    tables = list(combinations_with_replacement(VALUES, 3))
    integers = {
        rows: squares(made, query, pd.DataFrame({"x": rows, "s": 1, "g": "a"}))[0]
        for rows in tables
    }
    furthest = max(
        abs(integers[rows] - integers[tuple(sorted((*kept, new)))])
        for rows in tables
        for kept in (rows[1:], rows[:1] + rows[2:], rows[:2])
        for new in VALUES
    )
    due = query.sensitivity if not budget else math.isqrt(query.sensitivity)
    assert due == steps**2
    assert furthest in (2 * steps**2 // 3, 2 * steps**2 // 3 + 1)  # (1 - 1/N) K^2, with integers
    assert furthest <= due


def test_no_group_or_person_moves_further_than_priced(tmp_path: Path) -> None:
    """A record's group keeps its size; persons have two rows each."""
    rng = np.random.default_rng(3)
    person = {"columns": COLUMNS | {"who": {"public": True}}, "unit": "who", "rows_per_unit": 2}
    table = TABLE.assign(who=[1, 1, 2, 2, 3, 3])
    by_group = study(tmp_path, SPREAD | {"by": "g"})
    persons = study(tmp_path / "persons", SPREAD, table=table, **person, balanced=True, n=3)
    for made, width, most in ((by_group, 1, 1), (persons, 2, 2)):
        (query,) = made.check().plan.queries
        assert query.grid is not None
        assert query.sensitivity == most * 4**query.grid.bits
        for _ in range(12):
            before = table.assign(x=rng.choice(VALUES, 6))
            after = before.copy()
            first = int(rng.integers(6 // width)) * width
            after.loc[first : first + width - 1, "x"] = rng.choice(VALUES, width)
            pairs = zip(squares(made, query, before), squares(made, query, after), strict=True)
            assert sum(abs(a - b) for a, b in pairs) <= query.sensitivity


# -- its noise -------------------------------------------------------------------------------------

GROUPS, RELEASES, EPSILON = 2000, 4, 40.0
DRAWS = GROUPS * RELEASES
SCALE = 100.0**2 / EPSILON / 4  # of a variance of four rows, by hand
OFF = (1.2, 0.83)


@pytest.fixture(scope="module")
def noises(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, float]:
    """Differences from the exact variances, and the error at 95 % that is said."""
    table = pd.DataFrame(
        {"x": np.tile([0.0, 100.0, 0.0, 100.0], GROUPS), "g": np.repeat(np.arange(GROUPS), 4)}
    )
    columns = {"x": {"bounds": [0, 100]}, "g": {"public": True, "states": list(range(GROUPS))}}
    noise: list[float] = []
    for number in range(RELEASES):
        release = study(
            tmp_path_factory.mktemp(f"noise{number}"),
            SPREAD | {"by": "g"},
            table=table,
            columns=columns,
            population={"model": "independent", "covers": ["x"], "source": "us"},
            budget={"epsilon": EPSILON},
        ).release()
        noise += [result.value - 2500.0 for result in release]
    return np.array(noise), release["v"][0].error(0.95)


def test_the_noise_of_a_variance_has_its_scale_and_no_other(
    noises: tuple[np.ndarray, float], chance: Chance
) -> None:
    noise, error = noises
    assert len(noise) == DRAWS
    for reach in (1.6 * SCALE, error):
        hits, true = int((np.abs(noise) <= reach).sum()), -math.expm1(-reach / SCALE)
        chance.expect(hits, DRAWS, true)
        if reach != error:
            for factor in OFF:
                chance.expect_not(hits, DRAWS, -math.expm1(-reach / (factor * SCALE)), true)
    chance.expect(int((noise > 0).sum()), DRAWS, 0.5)
    assert error == pytest.approx(SCALE * math.log(20), rel=1e-3)


def test_it_is_never_below_0(tmp_path: Path) -> None:
    """Values are all the same and the noise is large: negative answers are shown as 0."""
    states = list(range(64))
    table = pd.DataFrame({"x": 1.0, "g": states * 2})
    columns = {"x": COLUMNS["x"], "g": {"public": True, "states": states}}
    population = {"model": "independent", "covers": ["x"], "source": "us"}
    asked, budget = SPREAD | {"by": "g"}, {"epsilon": 0.1}
    made = study(
        tmp_path, asked, table=table, columns=columns, population=population, budget=budget
    )
    release = made.release()
    values = [result.value for result in release]
    assert min(values) == 0.0 < max(values)
    assert bdp.verify(release.certificate)


# -- what is told ----------------------------------------------------------------------------------


def test_its_error_is_known_before(tmp_path: Path) -> None:
    """Six rows of a width of 5 at epsilon 1: the scale is 25 / 6."""
    made = study(tmp_path, SPREAD, budget={"epsilon": 1.0})
    (query,) = made.check().plan.queries
    assert query.error(rows=6) == pytest.approx(25 / 6 * math.log(20), rel=1e-3)
    assert query.spend.kind == "any"
    assert "v: +- 12.48" in str(made.check())
    assert "kg^2" in str(made.check())
    assert "larger than everything" in str(made.check())  # no variance is above 6.25
    wanted = study(tmp_path / "wanted", SPREAD | {"error": 2.0}, budget={"epsilon": 30.0})
    (priced,) = wanted.check().plan.queries
    assert priced.error(rows=6) <= 2.0 < priced.error(0.953, rows=6)
    sized = SPREAD | {"by": "g", "group_sizes": {"a": 4, "b": 2}}
    (by_group,) = study(tmp_path / "sized", sized).check().plan.queries
    errors = by_group.group_errors()
    assert errors["b"] == pytest.approx(2 * errors["a"])


REFUSED: dict[str, tuple[Document, Document, str]] = {
    "private condition": ({"where": "s == 1"}, {}, "public columns only, for a variance"),
    "texts": ({"column": "g2"}, {}, "a column of numbers"),
    "rows unknown": ({"by": "g", "error": 1.0}, {}, r"group_sizes = \{ a = .*Else use weight\.$"),
    "matching rows": ({"where": "g == 'a'", "error": 1.0}, {}, r"that match\.$"),
    "no number": ({"error": 1.0}, {"n": "from data"}, r"or use weight\.$"),
    "persons": ({}, {"unit": "who", "rows_per_unit": 2, "n": 3}, "balanced = true.*quantiles"),
    "persons by": (
        {"by": "g"},
        {"unit": "who", "rows_per_unit": 2, "n": 3, "balanced": True},
        "Leave by out",
    ),
    "too many rows": ({}, {"n": 2**40}, "room in 64-bit integers"),
    "no finite cost": ({"column": "far", "error": 1.0}, {}, "its share would be inf"),
    "no finite error": ({"column": "far"}, {}, "finite doubles"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    query, other, words = REFUSED[name]
    columns = COLUMNS | {
        "who": {"public": True},
        "g2": {"states": ["u", "v"], "independent": True},
        "far": {"bounds": [0.0, 1e200], "independent": True},
    }
    small = {"budget": {"epsilon": 1e-13}} if name == "too many rows" else {}
    with pytest.raises((InputError, UnsupportedError), match=words):
        study(tmp_path, SPREAD | query, columns=columns, **small, **other).check()


# -- what is not proved ----------------------------------------------------------------------------


@cache
def _released() -> str:
    folder = Path(mkdtemp(prefix="bayesdp-variances-"))
    budget = {"epsilon": 4.0}
    return (
        study(folder, SPREAD | {"where": "g == 'a'"}, budget=budget).release().certificate.to_json()
    )


def released() -> Document:
    document: Document = json.loads(_released())
    return document


def evidence(document: Document) -> Document:
    (step,) = document["derivation"]["premises"]
    (composition,) = step["premises"]
    stated: Document = composition["premises"][0]["evidence"]
    return stated


def less_noise(share: Fraction) -> Change:
    """A smaller sensitivity, with the noise that the stated cost then has."""

    def change(document: Document) -> None:
        stated, (shown,) = evidence(document), document["results"]
        stated["sensitivity"] = math.ceil(stated["sensitivity"] * share)
        stated["scale"] = math.nextafter(stated["scale"] * float(share), math.inf)
        shown["noise"]["scale"] = stated["scale"]
        length = Fraction(*stated["step"]) / shown["rows"]
        shown["error"]["value"] = DiscreteLaplace(stated["scale"]).quantile(0.95) * float(length)

    return change


def _of_a_sum(document: Document) -> None:
    """The sensitivity that the sum of the values would have."""
    bits = evidence(document)["grid"]["bits"]
    less_noise(Fraction(1, 2**bits))(document)


def _plain_steps(document: Document) -> None:
    """The steps of the grid itself, and not their squares."""
    stated, (shown,) = evidence(document), document["results"]
    length = Fraction(5, 2 ** stated["grid"]["bits"])
    stated["step"] = [length.numerator, length.denominator]
    shown["noise"]["step"] = float(length / shown["rows"])


def _a_mean(document: Document) -> None:
    evidence(document)["query"]["kind"] = "mean"
    document["results"][0] |= {"kind": "mean", "unit": "kg"}


def _negative(document: Document) -> None:
    shown = document["results"][0]
    shown["value"] = -3 * shown["noise"]["step"]


def _lipschitz(document: Document) -> None:
    (step,) = document["derivation"]["premises"][0]["premises"][0]["premises"]
    step["conclusion"]["kind"] = "lipschitz"
    spend = step["evidence"]["spend"]
    slack = 2.0 / 2.0 ** step["evidence"]["grid"]["bits"] * spend["dp_epsilon"]
    spend |= {"kind": "lipschitz", "interval": [-1.0, 4.0], "slack": math.nextafter(slack, 9.0)}


FORGED: dict[str, tuple[Change, str]] = {
    "smaller-move": (less_noise(Fraction(1, 2)), "is due"),
    "a-hair-less": (less_noise(1 - Fraction(1, 10**6)), "is due"),
    "sensitivity-of-a-sum": (_of_a_sum, "is due"),
    "steps-of-a-sum": (_plain_steps, "step"),
    "a-mean": (_a_mean, ""),
    "below-0": (_negative, "below 0"),
    "unit-of-a-mean": (lambda d: d["results"][0].update(unit="kg"), "unit"),
    "lipschitz": (_lipschitz, ""),
    "private-condition": (
        lambda d: evidence(d)["query"].update(where="s == 1"),
        "whose number is private",
    ),
    "no-grid": (lambda d: evidence(d).pop("grid"), "grid"),
    "no-rows": (lambda d: d["results"][0].pop("rows"), "rows"),
    "more-rows": (lambda d: d["results"][0].update(rows=7), ""),
    "no-room": (lambda d: d.update(n=2**40), "64-bit"),
    "smaller-bounds": (lambda d: evidence(d)["grid"].update(hi=1.0), "bounds"),
}


def test_an_honest_one_is_valid() -> None:
    assert kernel.check(released())


@pytest.mark.parametrize("name", FORGED)
def test_forged_variances_are_refused(name: str) -> None:
    change, reason = FORGED[name]
    document = released()
    before = copy.deepcopy(document)
    change(document)
    assert document != before
    refused(renewed(document), "", reason)
