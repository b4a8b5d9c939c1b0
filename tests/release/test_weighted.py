"""Survey weights: exact sums of products, what a record moves, the noise, ratios, refusals."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp import kernel
from bayesdp.errors import InputError
from bayesdp.release import Study
from bayesdp.release.price.planned_query import PlannedQuery
from bayesdp.statements.queries import interval_of_products
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.effort import runs
from tests.kernel.test_forgeries import renewed

Document = dict[str, Any]
COLUMNS: Document = {
    "w": {"bounds": [0.25, 2.0]},
    "x": {"bounds": [-3.0, 2.0], "unit": "cm"},
    "ill": {"states": [0, 1]},
    "g": {"public": True, "states": ["a", "b"]},
    "town": {"states": ["here", "there"]},
}
TABLE = pd.DataFrame(
    {
        "w": [0.25, 0.7, 1.3, 2.0, 5.0, 0.1],
        "x": [-3.0, -0.4, 0.3, 2.0, 1.1, -9.0],
        "ill": [0, 1, 1, 0, 1, 1],
        "g": list("ababab"),
        "town": ["here", "there"] * 3,
    }
)
CLIPPED = TABLE.assign(w=TABLE.w.clip(0.25, 2.0), x=TABLE.x.clip(-3.0, 2.0))
SUM: Document = {"name": "s", "kind": "sum", "column": "x", "weighted_by": "w"}
ILL: Document = {"name": "ill", "kind": "count", "where": "ill == 1", "weighted_by": "w"}
MEAN: Document = {"name": "mean", "kind": "mean", "column": "x", "weighted_by": "w"}
GAUSSIAN = {"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"}


def study(folder: Path, *queries: Document, table: pd.DataFrame = TABLE, **other: Any) -> Study:
    made: Document = {
        "dataset": "weighted",
        "n": len(table),
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["w", "x", "ill", "town"]},
        "budget": {"epsilon": 1e6},
        "ledger": str(folder / "ledger.db"),
    }
    folder.mkdir(exist_ok=True)
    return Study(table, **(made | other), queries=list(queries))


# -- what is released ------------------------------------------------------------------------------


def test_weighted_numbers_by_hand(tmp_path: Path) -> None:
    """With hardly any noise: sums of clipped weights and of products of clipped cells."""
    share = {"name": "share", "kind": "proportion", "where": "ill == 1", "weighted_by": "w"}
    of_ill = MEAN | {"name": "of ill", "where": "ill == 1"}
    by_group = MEAN | {"name": "by group", "by": "g"}
    release = study(tmp_path, SUM, ILL, MEAN, share, of_ill, by_group).release()
    w, x, ill = CLIPPED.w, CLIPPED.x, CLIPPED.ill == 1
    assert release["s"].value == pytest.approx((w * x).sum(), abs=1e-3)
    assert release["s"].unit == "cm"
    assert release["ill"].value == pytest.approx(w[ill].sum(), abs=1e-3)
    exact = {
        "mean": (w * x).sum() / w.sum(),
        "share": w[ill].sum() / w.sum(),
        "of ill": (w * x)[ill].sum() / w[ill].sum(),
    }
    for name, value in exact.items():
        (number,) = release[name].at(1.0 - 1e-9)
        assert number.value == pytest.approx(value, abs=1e-3)
        assert number.low <= value <= number.high
    for number, group in zip(release["by group"], "ab", strict=True):
        there = CLIPPED.g == group
        assert number.place == group
        assert number.value == pytest.approx((w * x)[there].sum() / w[there].sum(), abs=1e-3)
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"
    assert release["mean, sum of weights"].unit == ""


def test_products_are_exact_integers(tmp_path: Path) -> None:
    """The engine's integers are those of the grid, product by product."""
    made = study(tmp_path, SUM, SUM | {"name": "m", "where": "ill == 1"})
    for query in made.check().plan.queries:
        assert query.grid is not None
        kept = CLIPPED[CLIPPED.ill == 1] if query.asked.masked else CLIPPED
        by_hand = sum(query.grid.index(w * x) for w, x in zip(kept.w, kept.x, strict=True))
        assert integers(made, query, TABLE) == [by_hand]


# -- what a record can move ------------------------------------------------------------------------


def integers(made: Study, query: PlannedQuery, table: pd.DataFrame) -> list[int]:
    totals = run(open_table(table, Path()), made.spec.columns, [query.table_query()])
    return [values[0] for values in totals[query.name].values.values()]


@pytest.mark.parametrize("where", [None, "ill == 1"])
@pytest.mark.parametrize("budget", [{"epsilon": 1.0}, GAUSSIAN])
@pytest.mark.parametrize("bounds", [(-3.0, 2.0), (1.0, 2.0), (-2.0, -0.5)])
def test_no_neighbour_is_further_than_priced(
    where: str | None, budget: Document, bounds: tuple[float, float], tmp_path: Path
) -> None:
    """Weight and value of the replaced record both move: all rows of extreme cells, both ways."""
    columns = COLUMNS | {"x": {"bounds": list(bounds)}}
    asked = SUM | ({"where": where} if where else {})
    kept = TABLE.head(2)
    made = study(tmp_path, asked, table=kept, columns=columns, budget=budget)
    (query,) = made.check().plan.queries
    rows = list(product([0.25, 0.1, 1.0, 2.0, 9.0], [bounds[0], 0.0, bounds[1], 1e9], [0, 1]))
    totals = [
        integers(
            made,
            query,
            pd.concat([kept.head(1), pd.DataFrame([row], columns=["w", "x", "ill"])]).assign(
                g="a", town="here"
            ),
        )[0]
        for row in rows
    ]
    furthest = max(totals) - min(totals)
    due = query.sensitivity if "delta" not in budget else math.isqrt(query.sensitivity)
    assert due * 0.999 <= furthest <= due + 1e-9


@pytest.mark.parametrize("first", [(-3.0, 2.0), (0.1, 0.7), (-1.7, -0.3), (0.0, 1e300)])
@pytest.mark.parametrize("second", [(0.0, 2.0), (0.3, 1.1), (-0.2, 0.9)])
def test_products_lie_between_those_of_the_ends(
    first: tuple[float, float], second: tuple[float, float]
) -> None:
    """Against rational arithmetic on the ends, and rounded products of what lies between them."""
    low, high = interval_of_products(first, second)
    exact = [Fraction(x) * Fraction(w) for x in first for w in second]
    assert low == float(min(exact))
    assert high == float(max(exact))
    rng = np.random.default_rng(1)
    x, w = rng.uniform(*first, 2000), rng.uniform(*second, 2000)
    assert ((low <= x * w) & (x * w <= high)).all()


def test_a_weighted_sum_is_priced_as_any_query_on_a_gaussian_population(tmp_path: Path) -> None:
    """A product is not Lipschitz in one of the values alone."""
    gaussian = {"model": "gaussian", "size": 2, "max_correlation": 0.2, "covers": ["x", "w"]}
    columns = COLUMNS | {"home": {"role": "cluster"}, "ill": {"public": True}}
    columns["town"] = {"public": True}
    table = TABLE.assign(home=[1, 1, 2, 2, 3, 3])
    made = study(tmp_path, SUM, table=table, columns=columns, population=gaussian)
    (query,) = made.check().plan.queries
    assert query.spend.kind == "any"
    assert bdp.verify(made.release().certificate).verdict == "VALID ASSUMING"


# -- its noise and its error -----------------------------------------------------------------------


def test_the_noise_has_the_scale_of_the_product(tmp_path: Path) -> None:
    """Two-sided: of the stated scale, and of no scale 30 % off. And the errors hold as often."""
    groups = list(range(400))
    table = pd.DataFrame({"w": 1.0, "x": 1.0, "ill": 1, "g": groups, "town": "here"})
    columns = COLUMNS | {"g": {"public": True, "states": groups}}
    budget = {"epsilon": 2.0}
    made = study(tmp_path, SUM | {"by": "g"}, table=table, columns=columns, budget=budget)
    values = np.array(
        [
            [result.value for result in made.release(again=True)["s"]]
            for made in [
                study(tmp_path / str(i), SUM | {"by": "g"}, table=table, columns=columns,
                      budget=budget)
                for i in range(max(2, runs(10_000) // 400))
            ]
        ]
    )  # fmt: skip
    (query,) = made.check().plan.queries
    scale = 10.0 / 2.0  # products lie from -6 to 4, by hand
    off = np.abs(values - 1.0).ravel()
    spread = 5.0 / math.sqrt(off.size)
    assert abs(off.mean() / scale - 1.0) < spread < 0.3 or off.size < 1000
    assert query.error(0.95) == pytest.approx(scale * math.log(20.0), rel=1e-3)
    inside = (off <= query.error(0.95)).mean()
    assert abs(inside - 0.95) <= 5.0 * math.sqrt(0.05 * 0.95 / off.size)


# -- certificates that lie -------------------------------------------------------------------------


def evidence(document: Document) -> Document:
    step: Document = document["derivation"]
    while "query" not in step["evidence"]:
        step = step["premises"][0]
    stated: Document = step["evidence"]
    return stated


LIES: dict[str, Callable[[Document], Any]] = {
    "no weights": lambda d: evidence(d)["query"].pop("weighted_by"),
    "weights by the column itself": lambda d: evidence(d)["query"].update(weighted_by="x"),
    "weights of states": lambda d: evidence(d)["query"].update(weighted_by="ill"),
    "weights of texts": lambda d: evidence(d)["query"].update(weighted_by="town"),
    "weights of a public column": lambda d: evidence(d)["query"].update(weighted_by="g"),
    "weights of no column": lambda d: evidence(d)["query"].update(weighted_by="v"),
    "the column's own bounds": lambda d: evidence(d)["grid"].update(lo=-3.0, hi=2.0),
    "the largest weight is larger": lambda d: d["columns"]["w"].update(bounds=[0.25, 3.0]),
    "a smaller sensitivity": lambda d: evidence(d).update(sensitivity=5),
    "the weights are not read": lambda d: evidence(d)["spend"].update(reads=["x"]),
    "it is smooth": lambda d: evidence(d)["spend"].update(kind="lipschitz"),
    "a mean": lambda d: evidence(d)["query"].update(kind="mean"),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Document:
    made = study(tmp_path_factory.mktemp("lies"), SUM, budget={"epsilon": 4.0})
    document: Document = json.loads(made.release().certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    return document


@pytest.mark.parametrize("name", LIES)
def test_no_lie_about_weights_is_valid(name: str, certificate: Document) -> None:
    document = copy.deepcopy(certificate)
    LIES[name](document)
    assert bdp.verify(renewed(document)).verdict == "INVALID"


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (SUM | {"weighted_by": "v"}, r"weighted_by is 'v'.*expected a declared column"),
        (SUM | {"weighted_by": "g"}, r"weighted_by is 'g'.*bounds from 0 on"),
        (SUM | {"weighted_by": "ill"}, r"weighted_by is 'ill'.*bounds from 0 on"),
        (SUM | {"weighted_by": "x"}, r"weighted_by is 'x'.*bounds from 0 on"),
        (SUM | {"weight": "w"}, r"query\[0\]\.weight is 'w': expected a number"),
        (SUM | {"kind": "variance"}, r"nothing on a variance"),
        (
            {"name": "h", "kind": "histogram", "column": "ill", "weighted_by": "w"},
            r"a count, sum, mean or proportion may be weighted.*weighted count each",
        ),
        (SUM | {"total_bounds": [0.0, 1.0]}, r"total_bounds is"),
        (ILL | {"where": None}, r"where: expected the condition whose weighted count"),
        (ILL | {"column": "x"}, r"column is 'x': expected nothing on a count"),
        (MEAN | {"error": 1.0}, r"error is 1\.0: expected nothing on a weighted mean"),
        (MEAN | {"by": "g", "group_sizes": {"a": 3, "b": 3}}, r"group_sizes is"),
        (SUM | {"column": "town"}, r"column is 'town'"),
    ],
)
def test_what_cannot_be_weighted_is_refused(query: Document, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        study(tmp_path, {key: value for key, value in query.items() if value is not None})


def test_a_wanted_error_of_a_weighted_sum_is_kept(tmp_path: Path) -> None:
    (query,) = study(tmp_path, SUM | {"error": 0.5}).check().plan.queries
    assert query.error(0.95) == pytest.approx(0.5, rel=1e-3)
    assert query.error(0.95) <= 0.5


def test_a_weighted_mean_has_the_weight_of_one_query(tmp_path: Path) -> None:
    check = study(tmp_path, MEAN, ILL, budget={"epsilon": 1.0}).check()
    first, second, other = check.plan.queries
    assert first.dp_epsilon + second.dp_epsilon == pytest.approx(other.dp_epsilon)
    assert "mean: the ratio of 'mean, weighted sum' to 'mean, sum of weights'" in str(check)
    with pytest.raises(InputError, match=r"query\[1\]\.column"):
        study(tmp_path, MEAN, {"name": "q", "kind": "sum", "column": "y"})


@pytest.mark.parametrize("budget", [{"epsilon": 4.0}, GAUSSIAN])
def test_persons_of_several_rows_have_weights_too(budget: Document, tmp_path: Path) -> None:
    person: Document = {"unit": "who", "max_rows": 2, "n": 3}
    columns = COLUMNS | {"who": {"public": True}}
    table = TABLE.assign(who=[1, 1, 2, 2, 2, 3])
    made = study(tmp_path, SUM, table=table, columns=columns, budget=budget, **person)
    (query,) = made.check().plan.queries
    assert query.grid is not None
    one_row = query.grid.sensitivity
    assert query.sensitivity == (2 * one_row if "delta" not in budget else 4 * one_row**2)
    assert bdp.verify(made.release().certificate).verdict == "VALID ASSUMING"
