"""`[[derived]]` of a study: what is computed from released numbers, where it is shown, refusals."""

from __future__ import annotations

import json
import math
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.cli import app
from bayesdp.errors import InputError, UnknownNameError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release.derived.numbers import _log_moment, _never_falling, cumulative
from bayesdp.release.price.noise import Noise
from bayesdp.release.results.result import Result
from bayesdp.report.plain import check_document
from bayesdp.report.released import write_report
from tests.effort import runs
from tests.release.test_crossed import COLUMNS, TABLE, study
from tests.release.test_derived import GAUSSIAN, LAPLACE, draws

AGES = {"name": "ages", "kind": "histogram", "column": "age", "bins": [0, 30, 60, 100]}
TOTAL = {"name": "years", "kind": "sum", "column": "age", "where": "ill == 1"}
ILL = {"name": "ill", "kind": "count", "where": "ill == 1"}
BY_SEX = {"name": "ill by sex", "kind": "count", "where": "ill == 1", "by": "sex"}
YEARS_BY_SEX = {"name": "years by sex", "kind": "sum", "column": "age", "by": "sex"}
MEANS = {"name": "means", "kind": "mean", "column": "age", "by": "sex"}
MEDIAN = {"name": "median", "kind": "median", "column": "age", "step": 1.0}
CELLS = {"name": "cells", "kind": "histogram", "column": ["ill", "smokes"]}
VARIANCE = {"name": "variance", "kind": "variance", "column": "age"}
QUERIES = (AGES, TOTAL, ILL, BY_SEX, YEARS_BY_SEX, MEANS, MEDIAN, CELLS, VARIANCE)
RATIO = {"name": "mean of ill", "kind": "ratio", "numerator": "years", "denominator": "ill"}
DERIVED = [
    RATIO,
    {"name": "by sex", "kind": "ratio", "numerator": "years by sex", "denominator": "ill by sex"},
    {"name": "shares", "kind": "ratio", "numerator": "ill by sex", "denominator": "ill"},
    {"name": "commonest", "kind": "largest", "query": "cells", "count": 2},
    {"name": "adding up", "kind": "consistent", "query": "cells"},
    {"name": "up to", "kind": "cumulative", "query": "ages"},
]


def asked(folder: Path, derived: Any = DERIVED, **other: Any) -> bdp.Study:
    return study(folder, *QUERIES, derived=derived, **other)


def test_what_is_derived_follows_from_the_numbers(tmp_path: Path) -> None:
    """With hardly any noise it is what can be counted by hand."""
    release = asked(tmp_path).release()
    ill = TABLE[TABLE.ill == 1]
    (mean,) = release["mean of ill"].at(1.0 - 1e-9)
    assert mean.low <= ill.age.mean() <= mean.high
    assert mean.value == pytest.approx(75.0, abs=0.1)
    assert release["mean of ill"].unit == "years"
    assert {n.place: round(4 * n.value) for n in release["shares"]} == {"f": 1, "m": 2, "x": 1}
    assert [n.place for n in release["by sex"]] == ["f", "m", "x"]
    assert [n.place for n in release["commonest"]] == ["0, no", "1, yes"]
    assert [round(n.value) for n in release["adding up"]] == [3, 1, 1, 3]
    assert [round(n.value) for n in release["up to"]] == [1, 4, 8]
    *_, last = release["up to"]
    assert (last.low, last.value, last.high) == (8.0, 8.0, 8.0)
    assert "up to" in release
    assert "down to" not in release
    with pytest.raises(UnknownNameError, match="commonest"):
        release["commones"]


def test_it_costs_nothing_and_changes_nothing(tmp_path: Path) -> None:
    """The price, the certificate and the identity of the study are those without it."""
    plain, made = asked(tmp_path / "a", ()), asked(tmp_path / "b")
    assert plain.check().plan.spends == made.check().plan.spends
    released = made.release()
    assert bdp.verify(released.certificate).verdict == "VALID ASSUMING"
    text = released.certificate.to_json()
    assert not any(f'"{spec["name"]}"' in text for spec in DERIVED)
    with pytest.raises(bdp.Refusal):  # the same study, whatever is derived from it
        study(tmp_path / "b", *QUERIES).release()


def test_it_is_shown_wherever_results_are(tmp_path: Path) -> None:
    made = asked(tmp_path)
    check = made.check()
    assert "up to: the running sums of 'ages', which never fall, at no cost (cumulative)." in str(
        check
    )
    document = check_document(check)
    assert document["derived"][0] == {
        "name": "mean of ill",
        "kind": "ratio",
        "from": ["years", "ill"],
        "dp_epsilon": 0.0,
    }
    release = made.release()
    plain = json.loads(json.dumps(release.to_dict()))["derived"]
    assert [entry["name"] for entry in plain] == [spec["name"] for spec in DERIVED]
    assert plain[4]["total"] == 8.0
    assert plain[0]["numbers"][0]["low"] < plain[0]["numbers"][0]["value"]
    frame = release.to_pandas()
    rows = frame[frame["query"] == "up to"]
    assert list(rows["group"]) == ["[0, 30)", "[30, 60)", "[60, 100]"]
    assert rows["error_95"].isna().all()
    assert (rows["low_95"] <= rows["value"]).all()
    page = write_report(tmp_path / "r.html", made, release).read_text()
    assert "Computed from the released numbers, at no cost" in page
    assert "adding up" in page
    assert "(95 %, all at once)" in str(release)
    assert "mean of ill" in release._repr_html_()


def test_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    TABLE.to_csv("t.csv", index=False)
    text = """[data]
source = "t.csv"
dataset = "d"
n = 8
[data.columns]
ill = { states = [0, 1] }
[population]
model = "independent"
covers = ["ill"]
[budget]
epsilon = 50.0
[[query]]
name = "ill"
kind = "histogram"
column = "ill"
[[derived]]
name = "up to"
kind = "cumulative"
query = "ill"
"""
    Path("s.toml").write_text(text)
    checked = CliRunner().invoke(app, ["check", "s.toml"])
    assert checked.exit_code == 0
    assert "up to: the running sums of 'ill', which never fall, at no cost" in checked.output
    done = CliRunner().invoke(app, ["release", "s.toml"])
    assert done.exit_code == 0
    assert "Computed from these numbers, at no cost" in done.output


def test_a_denominator_that_may_be_0_gives_no_ratio(tmp_path: Path) -> None:
    release = asked(tmp_path, [RATIO], budget={"epsilon": 1e-3}).release()
    (number,) = release["mean of ill"]
    assert number.value is number.low is number.high is None
    assert "may be 0" in number.reason
    assert "not known" in str(release["mean of ill"])
    assert release["mean of ill"].to_dict()["numbers"][0]["value"] is None


# -- running sums ----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN, DiscreteLaplace(0.4), DiscreteGaussian(0.7)])
@pytest.mark.parametrize("truth", [(50, 0, 0, 20, 3), (0,) * 12, (2, 1)])
def test_running_sums_are_off_by_at_most_their_error(noise: Noise, truth: tuple[int, ...]) -> None:
    """All at once, as often as said; monotone, and within 0 and the total."""
    rng, count = np.random.default_rng(11), runs(600)
    words, total = [str(i) for i in range(len(truth))], sum(truth)
    noises = draws(rng, noise, count * len(truth)).reshape(count, -1)
    inside = raw_inside = 0
    for added in noises:
        numbers = [
            Result("a", "histogram", float(t + x), noise, 1.0, 1.0)
            for t, x in zip(truth, added, strict=True)
        ]
        made = cumulative(numbers, words, total, 0.9)
        values = list(made.values.values())
        assert all(a <= b for a, b in pairwise([0.0, *values]))
        assert values[-1] == total
        exact = list(accumulate(truth))
        far = max(abs(v - t) for v, t in zip(values, exact, strict=True))
        worst = max(abs(s) for s in list(accumulate(added))[:-1])
        assert far <= worst + 1e-9  # neither step moves a sum further off than the worst one
        inside += far <= made.error
        raw_inside += worst <= made.error
    spread = 4.0 * math.sqrt(0.09 / count)
    assert inside / count >= 0.9 - spread
    assert raw_inside / count >= 0.9 - spread


def test_the_error_of_running_sums_is_not_of_one_number() -> None:
    """An error of a single number would be seen: eleven noises together exceed it often."""
    rng = np.random.default_rng(12)
    noises = draws(rng, LAPLACE, 12_000).reshape(-1, 12)
    worst = np.abs(np.cumsum(noises, axis=1)[:, :-1]).max(axis=1)
    assert (worst <= LAPLACE.quantile(0.9)).mean() < 0.5


def test_the_closest_numbers_that_never_fall() -> None:
    """Against all monotone vectors on a grid; and averages of pools are exact."""
    from fractions import Fraction as F

    grid = [F(i, 2) for i in range(-2, 7)]
    for values in product([F(-1), F(0), F(2), F(3)], repeat=3):
        made = _never_falling(values)
        off = sum((a - b) ** 2 for a, b in zip(made, values, strict=True))
        best = min(
            sum((a - b) ** 2 for a, b in zip(v, values, strict=True))
            for v in product(grid, repeat=3)
            if v[0] <= v[1] <= v[2]
        )
        assert off <= best
        assert list(made) == sorted(made)


@pytest.mark.parametrize(("scale", "share"), [(0.5, 0.3), (3.0, 0.9), (20.0, 0.5)])
def test_the_moments_of_discrete_laplace_noise(scale: float, share: float) -> None:
    a, u = math.exp(-1.0 / scale), share / scale
    weights = {k: a ** abs(k) * (1 - a) / (1 + a) for k in range(-4000, 4001)}
    moment = math.fsum(w * math.exp(u * k) for k, w in weights.items() if w > 0.0)
    assert _log_moment(scale, share) == pytest.approx(math.log(moment), rel=1e-9)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("x", r"derived\[0\] is 'x': expected a table"),
        ({"kind": "ratio"}, r"derived\[0\]\.name"),
        (RATIO | {"kind": "rati"}, r"derived\[0\]\.kind is 'rati'"),
        (RATIO | {"name": "ill"}, r"derived\[0\]\.name is 'ill': expected a name that no query"),
        (RATIO | {"denominator": "il"}, r"denominator is 'il'.*Did you mean 'ill'\?"),
        (RATIO | {"query": "ill"}, r"derived\[0\]\.query is 'ill': expected nothing"),
        (RATIO | {"denominator": None}, r"derived\[0\]\.denominator: expected the name"),
        (RATIO | {"denominator": "years"}, r"denominator is 'years': expected another query"),
        (RATIO | {"denominator": "median"}, r"denominator is 'median'.*is a quantile"),
        (RATIO | {"numerator": "variance"}, r"numerator is 'variance'"),
        (RATIO | {"denominator": "ill by sex"}, r"denominator is 'ill by sex': expected one numb"),
        (
            RATIO | {"numerator": "cells", "denominator": "ages"},
            r"denominator is 'ages': expected one number",
        ),
        ({"name": "a", "kind": "largest", "query": "cells"}, r"derived\[0\]\.count: expected how"),
        ({"name": "a", "kind": "largest", "query": "cells", "count": 5}, r"count is 5.*at most 4"),
        ({"name": "a", "kind": "largest", "query": "cells", "count": 0}, r"count is 0"),
        ({"name": "a", "kind": "largest", "query": "ill", "count": 1}, "several numbers"),
        ({"name": "a", "kind": "largest", "query": "means", "count": 1}, "same noise"),
        ({"name": "a", "kind": "consistent", "query": "years"}, "of kind count or histogram"),
        ({"name": "a", "kind": "consistent", "query": "ill by sex"}, r"derived\[0\]\.total: exp"),
        ({"name": "a", "kind": "consistent", "query": "cells", "total": -1}, "total is -1"),
        ({"name": "a", "kind": "cumulative", "query": "cells"}, "a histogram of one column"),
        ({"name": "a", "kind": "cumulative", "query": "ill"}, "a histogram of one column"),
        (RATIO | {"confidence": 1.0}, r"derived\[0\]\.confidence is 1\.0"),
    ],
)
def test_what_cannot_be_derived_is_refused_before_anything_is_spent(
    entry: Any, said: str, tmp_path: Path
) -> None:
    if isinstance(entry, dict):
        entry = {key: value for key, value in entry.items() if value is not None}
    with pytest.raises(InputError, match=said):
        asked(tmp_path, [entry])


def test_names_are_used_once_and_the_table_is_a_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"derived\[1\]\.name"):
        asked(tmp_path, [RATIO, RATIO])
    with pytest.raises(InputError, match="derived"):
        asked(tmp_path, RATIO)


def test_a_total_is_the_number_of_records_only_where_a_record_is_a_row(tmp_path: Path) -> None:
    persons = TABLE.assign(person=range(8))
    made = {"columns": COLUMNS | {"person": {"public": True}}, "unit": "person"}
    spec = {"name": "a", "kind": "consistent", "query": "cells"}
    with pytest.raises(InputError, match=r"derived\[0\]\.total"):
        study(tmp_path, CELLS, derived=[spec], table=persons, rows_per_unit=1, **made)
    stated = [spec | {"total": 8}]
    release = study(tmp_path, CELLS, derived=stated, table=persons, rows_per_unit=1, **made)
    assert sum(n.value for n in release.release()["a"]) == pytest.approx(8.0)


SERIES = {"name": "weeks", "kind": "series", "column": "age", "by": "sex"}
REGRESSION = {"name": "line", "kind": "regression", "outcome": "age", "on": "ill"}


@pytest.mark.parametrize(
    "query", [SERIES, REGRESSION, SERIES | {"answers": "periods"}, REGRESSION | {"by": "region"}]
)
def test_numbers_without_noise_of_their_own_are_not_ranked(query: Any, tmp_path: Path) -> None:
    """Refused with the study, before any debit, also where they are many of one law's noise."""
    derived = [{"name": "top", "kind": "largest", "query": query["name"], "count": 1}]
    with pytest.raises(InputError, match=r"derived\[0\]\.query.*expected a query of kind count"):
        study(tmp_path, query, derived=derived)


def test_covariances_of_groups_of_a_size_are_ranked(tmp_path: Path) -> None:
    query = {"name": "both", "kind": "covariance", "column": ["age", "ill"], "by": "region"}
    query |= {"group_sizes": {"north": 4, "south": 4}}
    derived = [{"name": "top", "kind": "largest", "query": "both", "count": 2}]
    release = study(tmp_path, query, derived=derived).release()
    exact = [part.age.cov(part.ill, ddof=0) for _, part in TABLE.groupby("region")]
    assert [n.value for n in release["top"]] == pytest.approx(sorted(exact)[::-1], abs=0.01)


def test_what_is_no_part_of_a_ratio_is_said_of_its_kind(tmp_path: Path) -> None:
    derived = [{"name": "r", "kind": "ratio", "numerator": "weeks", "denominator": "ill"}]
    with pytest.raises(InputError, match="Ratios of a series have no interval"):
        study(tmp_path, SERIES, ILL, derived=derived)


# -- nothing fails after its debit -----------------------------------------------------------------

HUGE = COLUMNS | {"age": {"bounds": [0.0, 1e300]}, "small": {"bounds": [5e-301, 1e-300]}}


def of_sizes(folder: Path, *queries: Any, **other: Any) -> bdp.Study:
    table = TABLE.assign(age=TABLE.age * 1e298, small=7e-301)
    population = {"model": "independent", "covers": ["ill", "smokes", "age", "small"]}
    population["source"] = "us"
    return study(folder, *queries, table=table, columns=HUGE, population=population, **other)


def test_a_ratio_beyond_doubles_is_not_known(tmp_path: Path) -> None:
    small = TOTAL | {"name": "small", "column": "small"}
    derived = [{"name": "r", "kind": "ratio", "numerator": "years", "denominator": "small"}]
    release = of_sizes(tmp_path, TOTAL, small, derived=derived).release()
    (number,) = release["r"]
    assert (number.value, number.low, number.high) == (None, None, None)
    assert "beyond the largest double" in str(release["r"])


def test_coefficients_beyond_doubles_are_refused_before_the_debit(tmp_path: Path) -> None:
    line = {"name": "line", "kind": "regression", "outcome": "age", "on": "small"}
    with pytest.raises(InputError, match=r"query\[0\]\.on.*coefficients are doubles"):
        of_sizes(tmp_path, line)
    of_sizes(tmp_path, line | {"outcome": "small", "on": "age"}).release()


def test_a_design_effect_has_an_end(tmp_path: Path) -> None:
    asked = {"name": "d", "kind": "sampling", "query": "ill by sex", "design_effect": 1e308}
    with pytest.raises(InputError, match=r"derived\[0\]\.design_effect is 1e\+308"):
        study(tmp_path, BY_SEX, derived=[asked])
    release = study(tmp_path, BY_SEX, derived=[asked | {"design_effect": 1e9}]).release()
    assert all(math.isfinite(number.high) for number in release["d"])
