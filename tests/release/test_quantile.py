"""Quantiles and medians of a study: from the table to the scores, and what people are told."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp.accounting import Spend
from bayesdp.errors import BudgetExceededError, InputError, TableMismatchError, UnsupportedError
from bayesdp.mechanisms.selection import NoisyMax, rank_scores
from bayesdp.release import Study
from bayesdp.release.price.plan import PlannedQuery
from bayesdp.report.plain import check_document
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run

Document = dict[str, Any]
COLUMNS: Document = {
    "x": {"bounds": [0.0, 10.0], "unit": "kg"},
    "s": {"states": [3, 1, 2]},
    "g": {"public": True, "states": ["a", "b"]},
}
TABLE = pd.DataFrame(
    {"x": [1.0, 2.0, 4.0, 40.0, -3.0], "s": [3, 1, 2, 2, 3], "g": ["a", "b", "a", "a", "b"]}
)
MEDIAN: Document = {"name": "m", "kind": "median", "column": "x", "candidates": [0, 2, 5, 10]}
NUMBERS = [0.0, 2.0, 5.0, 10.0]


def study(folder: Path, *queries: Document, table: pd.DataFrame = TABLE, **other: Any) -> Study:
    made: Document = {
        "dataset": "d",
        "n": len(table),
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["x", "s"], "source": "us"},
        "budget": {"epsilon": 2.0},
        "ledger": str(folder / "ledger.db"),
    }
    folder.mkdir(exist_ok=True)
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    return Study(table, **(made | other), queries=named)


@pytest.fixture
def best(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Noise is 0: the first of the best candidates is chosen. What was scored is told."""
    seen: list[list[int]] = []

    def choose(self: NoisyMax, scores: list[int]) -> int:
        seen.append(list(scores))
        return scores.index(max(scores))

    monkeypatch.setattr(NoisyMax, "choose", choose)
    return seen


# -- from the table to the scores ------------------------------------------------------------------


def scored(made: Study, query: PlannedQuery, table: pd.DataFrame) -> list[tuple[int, ...]]:
    """The scores of each group as a release of this table would have them, by its own path."""
    totals = run(open_table(table, Path()), made.spec.columns, [query.table_query()])
    choice = query.asked.choice
    assert choice is not None
    return [tuple(choice.scores(counts)) for counts in totals[query.name].values.values()]


ROWS = [(x, s) for x in (-1.0, 2.9, 7.5) for s in (1, 2)]
"""Values below the bounds, halfway between candidates or nearly; each may count or not."""


def test_no_neighbour_s_scores_are_further_than_priced(tmp_path: Path) -> None:
    """All tables of two rows and all neighbours, through the engine; a private condition."""
    made = study(tmp_path, MEDIAN | {"where": "s == 1"})
    (query,) = made.check().plan.queries
    scores = {
        rows: scored(made, query, pd.DataFrame(rows, columns=["x", "s"]).assign(g="a"))[0]
        for rows in combinations_with_replacement(ROWS, 2)
    }
    furthest = 0
    for rows in scores:
        for new in ROWS:
            for kept in rows:
                other = scores[tuple(sorted((kept, new)))]  # the other row was replaced
                furthest = max(
                    furthest, *(abs(a - b) for a, b in zip(scores[rows], other, strict=True))
                )
    assert furthest == query.sensitivity == 2


def test_no_person_moves_scores_further_than_priced(tmp_path: Path) -> None:
    """Persons of at most two rows, which may lie in both groups: the moves of groups add up."""
    columns = COLUMNS | {"who": {"public": True}}
    shape = {"columns": columns, "unit": "who", "rows_per_unit": 2, "n": 2}
    made = study(tmp_path, MEDIAN | {"by": "g"}, **shape)
    (query,) = made.check().plan.queries
    kinds = [(x, g) for x in (0.0, 10.0) for g in ("a", "b")]
    persons = [p for many in (1, 2) for p in combinations_with_replacement(kinds, many)]
    other = ((0.0, "a"), (10.0, "b"))
    scores = {
        person: scored(
            made,
            query,
            pd.DataFrame([*other, *person], columns=["x", "g"]).assign(
                s=1, who=[1, 1, *([2] * len(person))]
            ),
        )
        for person in persons
    }
    furthest = max(
        sum(
            max(abs(a - b) for a, b in zip(*group, strict=True))
            for group in zip(scores[before], scores[after], strict=True)
        )
        for before in persons
        for after in persons
    )
    assert furthest == query.sensitivity == 4


def test_values_count_as_the_nearest_candidate(tmp_path: Path, best: list[list[int]]) -> None:
    """1 is halfway between 0 and 2 and counts as 2; 40 is clipped, and counts as 10."""
    release = study(tmp_path, MEDIAN).release()
    assert best == [rank_scores([1, 2, 1, 1], Fraction(1, 2))]
    assert release["m"].value == 2.0


def test_states_are_candidates_in_order(tmp_path: Path, best: list[list[int]]) -> None:
    """They are declared as 3, 1, 2; groups have scores of their own."""
    asked = {"name": "m", "kind": "quantile", "probability": 0.9, "column": "s", "by": "g"}
    release = study(tmp_path, asked).release()
    p = Fraction(9, 10)
    assert best == [rank_scores([0, 2, 1], p), rank_scores([1, 0, 1], p)]
    assert [result.value for result in release] == [3.0, 3.0]
    assert [result.group for result in release] == ["a", "b"]
    assert release["m", "b"].value == 3.0


def test_missing_values_count_as_imputed(tmp_path: Path, best: list[list[int]]) -> None:
    table = TABLE.assign(x=[None, None, None, 4.0, 1.0])
    with pytest.raises(TableMismatchError):
        study(tmp_path, MEDIAN, table=table).release()
    columns = COLUMNS | {"x": COLUMNS["x"] | {"missing": {"impute": 9.5}}}
    study(tmp_path, MEDIAN, table=table, columns=columns).release()
    assert best == [rank_scores([0, 1, 1, 3], Fraction(1, 2))]


def test_states_of_cuts_are_candidates(tmp_path: Path, best: list[list[int]]) -> None:
    columns = COLUMNS | {"size": {"from": "x", "cuts": [2.0, 5.0]}}
    asked = {"name": "m", "kind": "median", "column": "size"}
    release = study(tmp_path, asked, columns=columns).release()
    assert best == [rank_scores([2, 2, 1], Fraction(1, 2))]
    assert release["m"].value == 1.0
    assert "[0, 2), [2, 5), [5, 10]" in str(release)
    assert str(release["m"]) == "m: [2, 5) +- 2.5 ranks (95 %)"


# -- what is told ----------------------------------------------------------------------------------


def test_a_release_says_what_its_error_is(tmp_path: Path) -> None:
    release = study(tmp_path, MEDIAN, {"kind": "mean", "column": "x"}).release()
    result = release["m"]
    assert result.value in NUMBERS
    rows = result.rank_error(0.95)
    assert str(result) == f"m: {result.value:g} kg +- {rows:g} ranks (95 %)"
    with pytest.raises(UnsupportedError, match="rank_error"):
        result.error()
    assert result.rank_error(0.99) > rows > result.rank_error(0.8)
    frame = release.to_pandas().set_index("query")
    assert frame.loc["m", "value"] == result.value
    assert frame.loc["m", ["error_95", "low_95", "high_95"]].isna().all()
    assert frame.loc["q1", "error_95"] > 0
    page = release._repr_html_()
    assert f"+- {rows:g} ranks (95 %)" in page
    assert "The error of a quantile is that of its rank" in page
    plain = release.to_dict()["results"][0]
    assert plain["rank_error"] == {"confidence": 0.95, "rows": rows}
    assert "error" not in plain
    verdict = bdp.verify(release.certificate)
    assert verdict.verdict == "VALID ASSUMING"
    assert "quantiles are chosen by OpenDP's noisy max" in verdict.assuming


def test_the_error_by_hand(tmp_path: Path) -> None:
    """Four candidates, a median: scores in half rows move by 2, so that the scale is 4 / eps."""
    (query,) = study(tmp_path, MEDIAN).check().plan.queries
    assert query.dp_epsilon == pytest.approx(2.0, rel=1e-6)
    assert query.noise.scale == pytest.approx(2.0, rel=1e-6)
    # 3 e^(-(k + 1) / 2) / 2 <= 0.05 from k + 1 = 6.80 on, and 6 half rows are 3.
    assert query.error() == 3.0


def test_a_check_says_it_before_the_release(tmp_path: Path) -> None:
    table = pd.concat([TABLE] * 2, ignore_index=True)
    check = study(tmp_path, MEDIAN, table=table).check()
    assert "m: +- 3 ranks (95 %), DP cost 2" in str(check)
    assert "m: the rank is off by at most 0.3 of all rows (95 %)." in str(check)
    assert "larger than everything" not in str(check)
    assert "m is one of 4 numbers from 0 to 10 kg; each value counts as the nearest" in str(check)
    (shown,) = check_document(check)["queries"]
    assert shown["rank_error"] == {"confidence": 0.95, "rows": 3.0}
    assert shown["candidates"] == NUMBERS
    assert shown["probability"] == 0.5
    assert "error" not in shown


@pytest.mark.parametrize(("probability", "most"), [(0.5, 0.5), (0.9, 0.9), (0.1, 0.9)])
def test_a_rank_that_may_be_any_is_said_so(probability: float, most: float, tmp_path: Path) -> None:
    """Three ranks of six rows are all that a median can be off; of ten rows they are not."""
    asked = MEDIAN | {"kind": "quantile", "probability": probability, "error": 3.0}
    for rows in (3, 6, 10):
        table = TABLE.iloc[[i % 5 for i in range(rows)]].reset_index(drop=True)
        check = study(tmp_path / str(rows), asked, table=table, budget={"epsilon": 100.0}).check()
        useless = most * rows <= 3.0
        assert ("larger than everything" in str(check)) == useless
        assert ("of all rows" in str(check)) == (not useless)


def test_persons_with_as_many_rows_each(tmp_path: Path) -> None:
    """The share is of all rows, of which a person has two."""
    table = pd.DataFrame(
        {"who": [f"p{i // 2}" for i in range(80)], "x": [float(i % 9) for i in range(80)]}
    )
    columns = {"x": COLUMNS["x"], "who": {"public": True}}
    made = study(
        tmp_path,
        MEDIAN,
        table=table,
        columns=columns,
        unit="who",
        rows_per_unit=2,
        n=40,
        balanced=True,
        population=None,
        budget={"notion": "dp", "epsilon": 2.0},
    )
    (query,) = made.check().plan.queries
    share = query.error() / 80
    assert f"off by at most {share:g} of all rows" in str(made.check())


def test_the_report_shows_it(tmp_path: Path) -> None:
    made = study(tmp_path, MEDIAN)
    release = made.release()
    page = bdp.write_report(tmp_path / "report.html", made, release).read_text()
    assert "+- 3 ranks" in page
    assert "the quantile of &#x27;x&#x27; that has the share 0.5 of the rows below it" in page
    assert "<svg" not in page.partition("Released numbers")[2].partition("</table>")[0]
    with pytest.raises(InputError, match="numbers that have an error"):
        bdp.figure(release)
    both = study(tmp_path, MEDIAN, {"kind": "mean", "column": "x"}, dataset="e")
    assert "<svg" in bdp.figure(both.release())


@pytest.mark.parametrize(
    "budget",
    [
        {"epsilon": 2.0, "delta": 1e-6, "noise": "gaussian"},
        {"epsilon": 2.0, "delta": 1e-6, "notion": "dp"},
        {"epsilon": 2.0, "notion": "dp"},
    ],
)
def test_every_budget_pays_for_quantiles(tmp_path: Path, budget: Document) -> None:
    no_population = {"population": None} if budget.get("notion") == "dp" else {}
    queries = [MEDIAN | {"name": f"m{i}"} for i in range(6)] + [{"kind": "mean", "column": "x"}]
    made = study(tmp_path, *queries, budget=budget, **no_population)
    plan = made.check().plan
    release = made.release()
    assert plan.level <= 2.0
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"
    zcdp = plan.noise == "gaussian"
    for query in plan.queries[:6]:
        name = "exponential-mechanism" if zcdp else "permute-and-flip"
        assert query.spend.mechanism == name
        assert query.spend.kind == "any"
        assert (query.dp_rho > 0.0) == zcdp
        assert (query.dp_epsilon > 0.0) != zcdp


def test_disjoint_public_groups_cost_the_largest(tmp_path: Path) -> None:
    """By a public column a quantile of each group costs what that of all rows does."""
    alone = study(tmp_path, MEDIAN).check().plan
    grouped = study(tmp_path, MEDIAN | {"by": "g"}).check().plan
    assert grouped.queries[0].noise == alone.queries[0].noise
    parts = [MEDIAN | {"name": name, "where": f"g == '{name}'"} for name in "ab"]
    divided = study(tmp_path, *parts).check().plan
    assert divided.dp_epsilon == pytest.approx(2.0)
    assert divided.queries[0].noise.scale == pytest.approx(alone.queries[0].noise.scale, rel=1e-6)


def test_a_wanted_error_is_kept(tmp_path: Path) -> None:
    """In ranks: the cost is the smallest whose error is at most this."""
    made = study(tmp_path, MEDIAN | {"error": 20.0, "confidence": 0.9}, budget={"epsilon": 9.0})
    (query,) = made.check().plan.queries
    assert query.error(0.9) == 20.0
    assert type(query.noise)(query.noise.scale * 1.03, 4).quantile(0.9) > 40
    with pytest.raises(BudgetExceededError, match=r"error = [0-9.]+ for 'm' \(ranks\)"):
        study(tmp_path, MEDIAN | {"error": 0.5}, budget={"epsilon": 0.01}).check()


def test_sizes_of_steps_are_those_of_decimals(tmp_path: Path) -> None:
    """The grid of tenths has the doubles that people write, and ends within the bounds."""
    asked = {"name": "m", "kind": "median", "column": "x", "step": 0.1}
    (query,) = study(tmp_path, asked).check().plan.queries
    assert query.asked.choice is not None
    assert query.asked.choice.candidates == tuple(i / 10 for i in range(101))


# -- what is refused -------------------------------------------------------------------------------

QUANTILE = {"kind": "quantile", "column": "x", "probability": 0.9, "candidates": [1.0, 2.0]}
REFUSED: dict[str, tuple[Document, str]] = {
    "no probability": ({"probability": None}, r"probability: expected the share .*median"),
    "probability of one": ({"probability": 1.0}, "probability"),
    "many digits": ({"probability": 1 / 3}, "at most six decimals"),
    "no candidates": ({"candidates": None}, r"candidates or a step: .*step = 0\.1 "),
    "both": ({"step": 1.0}, "either candidates or a step"),
    "one candidate": ({"candidates": [1.0]}, "at least two increasing"),
    "disorder": ({"candidates": [2.0, 1.0]}, "at least two increasing"),
    "twice": ({"candidates": [1.0, 1.0]}, "at least two increasing"),
    "outside": ({"candidates": [1.0, 11.0]}, "11.*between the bounds 0 and 10"),
    "too many": ({"candidates": None, "step": 0.001}, "at most 2000 candidates"),
    "step too large": ({"candidates": None, "step": 11.0}, "at most 10"),
    "step of nothing": ({"candidates": None, "step": 0.0}, "step"),
    "neighbouring doubles": ({"candidates": [1.0, 1.0000000000000002]}, "double in between"),
    "states have no candidates": ({"column": "s"}, "the states of 's' are the candidates"),
    "states have no step": ({"column": "s", "candidates": None, "step": 1.0}, "the candidates"),
    "public column": ({"column": "g", "candidates": None}, "private column"),
    "no column": ({"column": None}, "column"),
    "bins": ({"bins": [1.0, 2.0, 3.0]}, "only on a histogram"),
    "sizes of groups": (
        {"by": "g", "group_sizes": {"a": 3, "b": 2}},
        "a mean, proportion, variance, covariance or regression",
    ),
    "one mechanism": ({"tightness": "mechanism"}, "tightness"),
    "another median": ({"kind": "median"}, "0.5, which a median has"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, name: str) -> None:
    changes, message = REFUSED[name]
    asked = {key: value for key, value in (QUANTILE | changes).items() if value is not None}
    with pytest.raises((InputError, UnsupportedError), match=message):
        study(tmp_path, asked)


@pytest.mark.parametrize("key", ["probability", "candidates", "step"])
def test_keys_of_quantiles_stand_nowhere_else(tmp_path: Path, key: str) -> None:
    value = [1.0, 2.0] if key == "candidates" else 0.5
    for asked in (
        {"kind": "mean", "column": "x"},
        {"kind": "count", "where": "s == 1"},
    ):
        with pytest.raises(InputError, match=rf"query\[0\]\.{key}.*quantile"):
            study(tmp_path, asked | {key: value})


def test_many_groups_have_fewer_candidates(tmp_path: Path) -> None:
    columns = COLUMNS | {"g": {"public": True, "states": list(range(100))}}
    asked = {"kind": "median", "column": "x", "step": 0.02, "by": "g"}
    with pytest.raises(InputError, match="at most 400 candidates in each of 100 groups"):
        study(tmp_path, asked, columns=columns)


def test_a_column_of_many_states_has_no_quantile(tmp_path: Path) -> None:
    """Each state is counted, in each group: as candidates are."""
    columns = COLUMNS | {"s": {"states": list(range(2001))}}
    with pytest.raises(InputError, match="at most 2000 candidates"):
        study(tmp_path, {"kind": "median", "column": "s"}, columns=columns).check()
    columns = COLUMNS | {
        "s": {"states": list(range(300))},
        "g": {"public": True, "states": [f"g{i}" for i in range(200)]},
    }
    with pytest.raises(InputError, match="at most 200 candidates in each of 200 groups"):
        study(tmp_path, {"kind": "median", "column": "s", "by": "g"}, columns=columns).check()


def test_texts_have_no_quantile(tmp_path: Path) -> None:
    columns = COLUMNS | {"s": {"states": ["low", "high"]}}
    asked = {"kind": "median", "column": "s"}
    with pytest.raises(InputError, match="a column of numbers"):
        study(tmp_path, asked, columns=columns)


def test_groups_without_rows_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    """Also under a condition on private values: that the group has no rows is public."""
    table = TABLE.assign(g="a")
    for where in ({}, {"where": "s == 1"}):
        made = study(tmp_path, MEDIAN | {"by": "g"} | where, table=table)
        with pytest.raises(TableMismatchError, match="no rows in the group 'b'"):
            made.release()
        assert [finding.code for finding in made.inspect()] == ["empty-group"]
        assert made.spends() == []
    made = study(tmp_path, MEDIAN | {"where": "g == 'b'"}, table=table)
    with pytest.raises(TableMismatchError, match="no rows where g == 'b'"):
        made.release()
    study(tmp_path, MEDIAN | {"where": "s > 3"}, table=table).release()  # that is private


def test_groups_that_persons_lie_in_are_protected_with_them(tmp_path: Path) -> None:
    """That a group has no rows would tell whose rows lie there: its median is any candidate."""
    columns = COLUMNS | {"who": {"public": True}}
    who = [1, 1, 2, 2, 3]
    for where in ({"by": "g"}, {"where": "g == 'b'"}):
        for last in "ab":
            made = study(
                tmp_path / f"{last}{len(where)}{'by' in where}",
                MEDIAN | where,
                table=TABLE.assign(who=who, g=["a"] * 4 + [last]),
                columns=columns,
                unit="who",
                rows_per_unit=2,
                n=3,
                population=None,
                budget={"notion": "dp", "epsilon": 2.0},
            )
            assert made.inspect() == []
            assert bdp.verify(made.release().certificate).verdict.startswith("VALID")


def test_a_certificate_names_its_candidates(tmp_path: Path) -> None:
    asked = [MEDIAN, {"kind": "median", "column": "s", "name": "of states"}]
    document = json.loads(study(tmp_path, *asked).release().certificate.to_json())
    first, second = document["derivation"]["premises"][0]["premises"][0]["premises"]
    assert first["evidence"]["query"] == {
        "name": "m",
        "kind": "quantile",
        "column": "x",
        "probability": 0.5,
        "candidates": NUMBERS,
    }
    assert "candidates" not in second["evidence"]["query"]
    assert first["rule"] == "permute-and-flip"
    assert first["evidence"]["sensitivity"] == 2


def test_what_others_chose_before_at_a_pure_cost(tmp_path: Path) -> None:
    """Others' exponential mechanism has a pure cost, ours one in zCDP: certificates have both."""
    budget = {"epsilon": 5.0, "spend": 1.0}
    made = study(tmp_path, {"kind": "count", "where": "x > 3"}, budget=budget)
    made.register()
    spend = Spend(
        dataset="d",
        unit="row",
        query="old",
        kind="any",
        dp_epsilon=0.1,
        reads=("x",),
        mechanism="exponential-mechanism",
    )
    made.ledger().debit("d", "row", [spend], study="another tool", request={})
    assert bdp.verify(made.release().certificate).verdict.startswith("VALID")
