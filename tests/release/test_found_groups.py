"""Counts by groups that nobody declares: (eps, delta) by exhaustion, what is shown and what not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import InputError, Refusal, TableError, UnknownNameError, UnsupportedError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release import Study
from bayesdp.release.price.plan import PlannedQuery, structure_of
from bayesdp.release.queries.found_groups import FoundGroups
from bayesdp.release.results.found_groups import FoundResult, found_results
from bayesdp.tables.queries.query import Cap
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import Total, run
from bayesdp.verification import verify
from tests.chance import OFF, Chance, discrete_laplace, within
from tests.effort import in_full, runs
from tests.release.test_every_kind import Seeded

Document = dict[str, Any]
COLUMNS: Document = {"shop": {"groups": "from data"}, "ill": {"states": [0, 1]}}
BUDGET: Document = {"notion": "dp", "epsilon": 1.0, "delta": 1e-6, "mechanism_delta": 5e-7}
VISITS: Document = {"name": "visits", "kind": "count", "by": "shop"}


def study(
    table: Any, folder: Path, *queries: Document, budget: Document = BUDGET, **more: Any
) -> Study:
    made: Document = {
        "dataset": "d",
        "columns": COLUMNS,
        "budget": budget,
        "queries": list(queries) or [VISITS],
        "ledger": str(folder / "ledger.db"),
    }
    return Study(table, **(made | more))


def shops(**counts: int) -> pd.DataFrame:
    names = [name for name, count in counts.items() for _ in range(count)]
    return pd.DataFrame({"shop": names, "ill": [i % 2 for i in range(len(names))]})


# -- (eps, delta), by exhaustion over neighbours, with the exact law of the noise ------------------


def shown_law(count: int, asked: FoundGroups, noise: DiscreteLaplace, top: int) -> list[float]:
    """The law of what is released of a group: nothing, each count below `top`, or from there on.

    A group without rows is never shown. From the larger of two counts on, the odds of every
    noisy count are the same, so that they may be taken together.
    """
    threshold, a = asked.threshold(noise), math.exp(-1.0 / noise.scale)
    if count == 0:
        return [1.0, *[0.0] * (top - threshold + 1)]

    def above(least: int) -> float:  # P(count + Z >= least)
        steps = least - count
        return a**steps / (1 + a) if steps > 0 else 1.0 - a ** (1 - steps) / (1 + a)

    masses = [(1 - a) / (1 + a) * a ** abs(k - count) for k in range(threshold, top)]
    law = [1.0 - above(threshold), *masses, above(top)]
    assert math.isclose(sum(law), 1.0, rel_tol=1e-9)
    return law


def divergence(
    first: Sequence[int],
    second: Sequence[int],
    asked: FoundGroups,
    noise: DiscreteLaplace,
    epsilon: float,
) -> float:
    """The largest of P(S) - e^eps Q(S): of the counts of all groups, which have noise apart."""
    ps, qs = np.ones(1), np.ones(1)
    for a, b in zip(first, second, strict=True):
        if a != b:
            top = max(asked.threshold(noise), a, b)
            ps = np.outer(ps, shown_law(a, asked, noise, top)).ravel()
            qs = np.outer(qs, shown_law(b, asked, noise, top)).ravel()
    return float(np.maximum(ps - math.exp(epsilon) * qs, 0.0).sum())


def own_rows(reach: str) -> Iterator[tuple[int, ...]]:
    """How many rows of a record count in each of three groups: all that may be, none included."""
    _, _, (rows, groups, in_group) = REACHES[reach]
    for own in product(range(in_group + 1), repeat=3):
        if sum(own) <= rows and sum(number > 0 for number in own) <= groups:
            yield own


REACHES = {
    "a row": (1, None, (1, 1, 1)),
    "two rows": (2, None, (2, 2, 2)),
    "two rows, one group": (2, Cap(groups=1, rows_in_group=2), (2, 1, 2)),
    "two groups": (5, Cap(groups=2, rows_in_group=1), (2, 2, 1)),
    "one row of many": (5, Cap(rows=1), (1, 1, 1)),
    "three rows of a group": (3, Cap(groups=1, rows_in_group=3), (3, 1, 3)),
}
"""The rows of a record, its cap, and by hand: how many count, in how many groups, and in one."""


def worst(
    reach: str, epsilon: float, delta: float, less: int = 0
) -> tuple[float, FoundGroups, DiscreteLaplace]:
    """The largest divergence over neighbours, with a threshold that is so much lower."""
    rows, cap, (most_rows, _, _) = REACHES[reach]
    asked = FoundGroups.of("shop", delta, rows, cap)
    noise = DiscreteLaplace.for_cost(2 * most_rows, epsilon)

    class Lower(FoundGroups):
        def threshold(self, noise: DiscreteLaplace) -> int:
            return asked.threshold(noise) - less

    used = Lower(asked.column, delta, asked.rows, asked.rows_in_group, asked.groups)
    there = (0, 1, asked.threshold(noise)) if in_full() else (0, asked.threshold(noise))
    most = 0.0
    for others in product(there, repeat=3):
        for before, after in product(list(own_rows(reach)), repeat=2):
            pair = [[a + b for a, b in zip(others, own, strict=True)] for own in (before, after)]
            most = max(most, divergence(*pair, used, noise, epsilon))
    return most, asked, noise


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (3.0, 0.2), (0.5, 1e-9)])
@pytest.mark.parametrize("reach", REACHES)
def test_every_pair_of_neighbours_keeps_to_epsilon_and_delta(
    reach: str, epsilon: float, delta: float
) -> None:
    """Rows of a record move anywhere: to groups of nobody else, of few others and of many."""
    most, asked, noise = worst(reach, epsilon, delta)
    assert most <= delta * (1 + 1e-9)
    # Groups that are only of one record are shown as often as is allowed, but for whole steps; or
    # less often where its rows are too few to be as many in each of so many groups.
    tight = asked.groups * asked.rows_in_group <= asked.rows
    if tight and asked.threshold(noise) > asked.rows_in_group + 1:
        assert most >= 0.8 * delta * math.exp(-1.0 / noise.scale)


@pytest.mark.parametrize("reach", REACHES)
def test_a_threshold_that_is_lower_by_one_does_not(reach: str) -> None:
    most, asked, _ = worst(reach, 1.0, 0.01, less=1)
    if asked.groups * asked.rows_in_group <= asked.rows:
        # Any of several groups is shown less often than the sum of their probabilities.
        assert most > (0.01 if asked.groups == 1 else 0.0097)


def test_the_threshold_is_the_least() -> None:
    rng = np.random.default_rng(5)
    for _ in range(runs(400)):
        noise = DiscreteLaplace(float(np.exp(rng.uniform(-2, 12))))
        rows = int(rng.integers(1, 50))
        allowed = Fraction(float(np.exp(rng.uniform(-60, 0))))
        threshold = noise.threshold(rows, allowed)
        assert threshold > rows
        a = math.exp(-1.0 / noise.scale)

        def chance(least: int, rows: int = rows, a: float = a) -> float:
            return a ** (least - rows) / (1 + a)

        assert chance(threshold) <= float(allowed) * (1 + 1e-9)
        if threshold > rows + 1:
            assert chance(threshold - 1) >= float(allowed) * (1 - 1e-9)
    with pytest.raises(InputError, match="allowed"):
        noise.threshold(1, Fraction(0))
    with pytest.raises(InputError, match=r"threshold.*2\^62"):
        DiscreteLaplace(2.0**61).threshold(1, Fraction(1, 10**9))


# -- through the real path -------------------------------------------------------------------------


def counts_of(made: Study, table: pd.DataFrame) -> Total:
    """The counts that get noise, by the data engine."""
    plan = made.check().plan
    (query,) = plan.queries
    opened, structure = open_table(table, Path()), structure_of(plan.study)
    return run(opened, plan.study.columns, [query.table_query()], structure)[query.name]


CELLS = ["a", " a", "b", "c", "\u2003c\u200b", "", None, "x" * 101, "tab\tbed", "d"]


@pytest.mark.parametrize(
    "capped",
    [
        {},
        {"max_rows": 2},
        {"max_rows_per_group": 1},
        {"max_groups": 1, "max_rows_per_group": 2},
        {"max_groups": 2, "max_rows_per_group": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("where", [None, "ill == 1"])
def test_neighbours_differ_by_no_more_than_is_priced(
    capped: Document, where: str | None, tmp_path: Path
) -> None:
    """Random persons, of whom one is replaced: counts, and groups of this person alone."""
    rng = np.random.default_rng(17)
    others = pd.DataFrame(
        {
            "who": np.repeat(["p", "q", "r"], 3),
            "shop": ["a", "a", "b", "b", "b", "c", None, "", "a"],
            "ill": [0, 1, 1, 0, 1, 1, 1, 0, 1],
        }
    )

    def table() -> pd.DataFrame:
        size = int(rng.integers(1, 7))
        own = pd.DataFrame(
            {
                "who": ["first"] * size,
                "shop": [CELLS[i] for i in rng.integers(len(CELLS), size=size)],
                "ill": rng.integers(2, size=size),
            }
        )
        return pd.concat([own, others]).sample(frac=1.0, random_state=int(rng.integers(2**31)))

    wanted = VISITS | capped | ({} if where is None else {"where": where})
    first = table()
    made = study(
        first,
        tmp_path,
        wanted,
        n=4,
        unit="who",
        max_rows=5,
        columns=COLUMNS | {"who": {"public": True}},
    )
    (query,) = made.check().plan.queries
    asked = query.asked.from_data
    assert asked is not None
    seen = [counts_of(made, table()) for _ in range(runs(40, least=8))]
    furthest = 0
    for before, after in combinations([dict(total.values) for total in seen], 2):
        common = before.keys() & after.keys()
        moved = sum(abs(before[group][0] - after[group][0]) for group in common)
        for mine, theirs in ((before, after), (after, before)):
            alone = [mine[group][0] for group in mine.keys() - theirs.keys()]
            assert len(alone) <= asked.groups
            assert all(0 < count <= asked.rows_in_group for count in alone)
            moved += sum(alone)
        furthest = max(furthest, moved)
    assert 0 < furthest <= query.sensitivity == 2 * asked.rows


def test_names_are_read_as_texts_without_spaces_around_them(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"shop": [*CELLS, "Ä b", "007", "7", "<i>&'\"", "NA"], "ill": [0] * (len(CELLS) + 5)}
    )
    made = study(table, tmp_path, n=len(table))
    due = {"a": 2, "b": 1, "c": 2, "d": 1, "Ä b": 1, "007": 1, "7": 1, "<i>&'\"": 1, "NA": 1}
    assert {k: v[0] for k, v in counts_of(made, table).values.items()} == due
    file = tmp_path / "visits.csv"
    table.to_csv(file, index=False)
    (query,) = made.check().plan.queries
    there = run(open_table(str(file), Path()), made.spec.columns, [query.table_query()])
    del due["NA"]  # which is a missing cell in a CSV file, as in other columns of texts
    assert {k: v[0] for k, v in there["visits"].values.items()} == due
    assert there["visits"].sizes == {}  # those of declared groups are public


@pytest.mark.parametrize(
    ("cells", "names"),
    [([3, 3, 12], {"3": 2, "12": 1}), ([1.5, 2.0, 2.0], None), ([True, False, True], None)],
)
def test_whole_numbers_are_names_too(
    cells: list[Any], names: dict[str, int] | None, tmp_path: Path
) -> None:
    table = pd.DataFrame({"shop": cells, "ill": [0, 1, 1]})
    made = study(table, tmp_path, n=3)
    if names is None:
        with pytest.raises(TableError, match=r"data\.columns\.shop.*texts or whole numbers"):
            counts_of(made, table)
    else:
        assert {k: v[0] for k, v in counts_of(made, table).values.items()} == names


def test_what_is_shown_and_what_is_not(tmp_path: Path) -> None:
    """Nothing of a small group is anywhere: not in the certificate, the ledger or the report."""
    table = shops(market=400, harbour=300, secretplace=1, hiddenplace=5)
    asked = VISITS | {"delta": 1e-7}
    budget = BUDGET | {"spend": 0.5}
    others = {"name": "n", "kind": "count", "where": "ill == 1"}
    made = study(table, tmp_path, asked, others, budget=budget)
    release = made.release()
    shown = release["visits"]
    assert [result.group for result in shown] == ["harbour", "market"]
    assert all(isinstance(result, FoundResult) for result in shown)
    assert abs(shown["market"].value - 400) < 150
    assert [result.query for result in release] == ["n", "visits", "visits"]
    assert verify(release.certificate).verdict == "VALID ASSUMING"
    texts = [release.certificate.to_json(), str(release), repr(release), str(release.to_dict())]
    texts += [str(made.check()), *map(str, made.inspect()), *made.hints()]
    everything = "\n".join(texts)
    ledger = (tmp_path / "ledger.db").read_bytes()
    for name in ("secretplace", "hiddenplace"):
        assert name not in everything
        assert name.encode() not in ledger
    assert "market" in everything
    assert b"market" in ledger


def test_none_may_be_shown(tmp_path: Path) -> None:
    made = study(shops(a=2, b=3), tmp_path, n=5)
    release = made.release()
    assert list(release["visits"]) == []
    assert "visits" in release
    assert len(release) == 0
    assert verify(release.certificate).verdict == "VALID ASSUMING"
    assert "OpenDP's discrete Laplace sampler" in " ".join(release.certificate.body["assumptions"])
    with pytest.raises(UnknownNameError):
        release["visits", "a"]
    with pytest.raises(UnknownNameError, match="visits"):
        release["visit"]


def test_names_that_look_like_markup_are_shown_as_they_stand(tmp_path: Path) -> None:
    names = {"<b>x</b>": 500, "[red]y": 500, 'it\'s, "so"': 500}
    release = study(shops(**names), tmp_path).release()
    assert {result.group for result in release["visits"]} == set(names)
    html = release._repr_html_()
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert "<b>x" not in html
    assert verify(release.certificate).verdict == "VALID ASSUMING"


# -- its noise and its error -----------------------------------------------------------------------


def planned(folder: Path, epsilon: float) -> PlannedQuery:
    budget = BUDGET | {"epsilon": epsilon}
    (query,) = study(shops(a=3), folder, budget=budget, n=3).check().plan.queries
    return query


def test_the_noise_has_its_scale_and_no_other(tmp_path: Path, chance: Chance) -> None:
    """A row leaves a group and enters another one: the scale is 2 / 0.5, computed by hand."""
    query, scale = planned(tmp_path, 0.5), 4.0
    total = Total({f"g{i:05}": (10_000,) for i in range(40_000)}, {})
    noise = np.array([result.value - 10_000 for result in found_results(query, total)])
    assert len(noise) == 40_000
    reach = 1.6 * scale
    hits, true = int((np.abs(noise) <= reach).sum()), within(discrete_laplace(scale), reach)
    chance.expect(hits, len(noise), true)
    for factor in OFF:
        claimed = within(discrete_laplace(factor * scale), reach)
        chance.expect_not(hits, len(noise), claimed, true)


def test_a_group_of_one_record_is_shown_as_seldom_as_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Seeded(3, monkeypatch)
    budget = BUDGET | {"delta": 0.02, "mechanism_delta": 0.01}
    (query,) = study(shops(a=3), tmp_path, budget=budget, n=3).check().plan.queries
    number = runs(400_000)
    total = Total({f"g{i:06}": (1,) for i in range(number)}, {})
    share = len(found_results(query, total)) / number
    off = 5.0 * math.sqrt(0.01 / number)
    assert 0.01 * math.exp(-1.0 / query.noise.scale) - off <= share <= 0.01 + off


@pytest.mark.prove
def test_errors_hold_as_often_as_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group is not shown or within its error; an error half as large holds less often."""
    query, number = planned(tmp_path, 0.5), runs(10_000)
    threshold = query.threshold
    assert threshold is not None
    Seeded(12, monkeypatch)
    exact = {"far": threshold + 200, "near": threshold, "below": threshold - 10}
    total = Total({name: (count,) for name, count in exact.items()}, {})
    most = 0.05 * number + 5.0 * math.sqrt(0.05 * 0.95 * number)
    misses, halves = Counter[str](), Counter[str]()
    for _ in range(number):
        for result in found_results(query, total):
            off = abs(result.value - exact[str(result.group)])
            misses[str(result.group)] += off > result.error(0.95)
            halves[str(result.group)] += off > result.error(0.95) / 2.0
    assert max(misses.values()) <= most
    assert halves["far"] > most


# -- what is refused -------------------------------------------------------------------------------

AGE: Document = {"age": {"bounds": [0, 100]}}
REFUSED: dict[str, tuple[Document, str]] = {
    "a mean": (
        {"queries": [{"name": "m", "kind": "mean", "column": "age", "by": "shop"}]},
        r"query\[0\]\.kind.*a count",
    ),
    "a histogram": (
        {"queries": [{"name": "m", "kind": "histogram", "column": "ill", "by": "shop"}]},
        r"query\[0\]\.kind.*a count",
    ),
    "a histogram of names": (
        {"queries": [{"name": "m", "kind": "histogram", "column": "shop"}]},
        r'query\[0\]\.column.*states.*"count" with by = "shop"',
    ),
    "bins of names": (
        {"queries": [{"name": "m", "kind": "histogram", "column": "shop", "bins": [0, 1, 2]}]},
        r'query\[0\]\.column.*"count" with by = "shop"',
    ),
    "a histogram of names and others": (
        {"queries": [{"name": "m", "kind": "histogram", "column": ["ill", "shop"]}]},
        r'query\[0\]\.column.*"count" with by = "shop"',
    ),
    "two columns": (
        {"queries": [VISITS | {"by": ["shop", "team"]}]},
        r"query\[0\]\.by.*one column",
    ),
    "weights": (
        {"queries": [VISITS | {"weighted_by": "age"}]},
        r"query\[0\]",
    ),
    "a column": ({"queries": [VISITS | {"column": "age"}]}, r"query\[0\]\.column"),
    "no delta": ({"budget": {"notion": "dp", "epsilon": 1.0}}, r"query\[0\]\.by.*mechanism_delta"),
    "nothing set aside": (
        {"budget": {"notion": "dp", "epsilon": 1.0, "delta": 1e-6}},
        r"query\[0\]\.by.*mechanism_delta = 5e-07",
    ),
    "Gaussian noise": ({"budget": BUDGET | {"noise": "gaussian"}}, r"budget\.noise.*laplace"),
    "more delta": ({"queries": [VISITS | {"delta": 6e-7}]}, r"query\[0\]\.delta.*5e-07"),
    "more delta together": (
        {"queries": [VISITS | {"delta": 3e-7}, VISITS | {"name": "again", "delta": 3e-7}]},
        r"query\[1\]\.delta",
    ),
    "hardly any delta": ({"queries": [VISITS | {"delta": 1e-40}]}, r"query\[0\]\.delta.*1e-30"),
    "another delta": (
        {"queries": [{"name": "n", "kind": "count", "where": "ill == 1", "delta": 1e-7}]},
        r"query\[0\]\.delta.*groups",
    ),
    "groups that are declared": (
        {"columns": COLUMNS | {"shop": {"groups": "from the data"}}},
        r"data\.columns\.shop\.groups",
    ),
    "public groups": (
        {"columns": COLUMNS | {"shop": {"groups": "from data", "public": True}}},
        r"data\.columns\.shop\.public",
    ),
    "imputed groups": (
        {"columns": COLUMNS | {"shop": {"groups": "from data", "missing": {"impute": "a"}}}},
        r"data\.columns\.shop\.missing",
    ),
    "groups and states": (
        {"columns": COLUMNS | {"shop": {"groups": "from data", "states": ["a"]}}},
        r"data\.columns\.shop",
    ),
    "caps of rows": ({"queries": [VISITS | {"max_rows": 2}]}, r"query\[0\]\.max_rows"),
    "the largest": (
        {"derived": [{"name": "l", "kind": "largest", "query": "visits", "count": 2}]},
        r"derived\[0\]\.query.*declared",
    ),
    "consistent": (
        {"derived": [{"name": "l", "kind": "consistent", "query": "visits", "total": 2}]},
        r"derived\[0\]\.query.*declared",
    ),
    "ratios": (
        {
            "derived": [{"name": "r", "kind": "ratio", "numerator": "visits", "denominator": "n"}],
            "queries": [VISITS, {"name": "n", "kind": "count", "where": "ill == 1"}],
        },
        r"derived\[0\]\.numerator.*declared",
    ),
    "sampling": (
        {"derived": [{"name": "l", "kind": "sampling", "query": "visits"}]},
        r"derived\[0\]\.query.*declared",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    changes, words = REFUSED[name]
    team = {"team": {"public": True, "states": ["red", "blue"]}}
    columns = changes.pop("columns", COLUMNS | AGE | team)
    queries = changes.get("queries", [VISITS])
    rest = {key: value for key, value in changes.items() if key != "queries"}
    with pytest.raises(InputError, match=words):
        study(None, tmp_path, *queries, n=9, columns=columns, **rest)


def test_bayesian_levels_are_refused(tmp_path: Path) -> None:
    population = {"model": "clusters", "size": 1, "covers": ["shop", "ill"]}
    budget = BUDGET | {"notion": "bdp"}
    with pytest.raises(UnsupportedError, match=r"mechanism_delta"):
        study(None, tmp_path, n=9, population=population, budget=budget)
    del budget["mechanism_delta"]
    with pytest.raises(UnsupportedError, match=r"query\[0\]\.by.*population"):
        study(None, tmp_path, n=9, population=population, budget=budget)


def test_results_are_not_put_in_order_or_made_consistent(tmp_path: Path) -> None:
    """Which of them there are depends on the noise, so no error of all of them holds."""
    release = study(shops(a=500, b=600), tmp_path).release()
    shown = release["visits"]
    assert len(shown) == 2
    for made in (
        lambda: shown.largest(1),
        lambda: shown.separation(),
        lambda: shown.consistent(1100.0),
        lambda: shown[0].over(shown[1]),
    ):
        with pytest.raises(InputError, match="found_groups"):
            made()


def test_deltas_of_releases_add_up_in_the_ledger(tmp_path: Path) -> None:
    budget = BUDGET | {"spend": 0.25}
    table = shops(a=900)
    for number in range(2):
        made = study(table, tmp_path, VISITS | {"name": f"v{number}", "delta": 2e-7}, budget=budget)
        release = made.release()
    assert release.certificate.body["data_set"]["dp_delta"] == pytest.approx(4e-7)
    assert release.delta == 2e-7
    made = study(table, tmp_path, VISITS | {"name": "v3", "delta": 2e-7}, budget=budget)
    words = r"smaller deltas.*\[\[query\]\]"
    assert re.search(words, str(made.check().preview.refusal))
    with pytest.raises(Refusal, match=words):
        made.release()
    made = study(table, tmp_path, VISITS | {"name": "v3", "delta": 9e-8}, budget=budget)
    assert verify(made.release().certificate).verdict == "VALID ASSUMING"


def test_equal_parts_of_what_is_set_aside(tmp_path: Path) -> None:
    queries = [VISITS | {"name": f"v{i}"} for i in range(3)]
    plan = study(None, tmp_path, *queries, n=9).check().plan
    deltas = [query.spend.dp_delta for query in plan.queries]
    assert deltas == [pytest.approx(5e-7 / 3)] * 3
    assert sum(map(Fraction, deltas)) <= Fraction(5e-7)
    assert 4.9999e-7 < plan.delta <= 5e-7


def test_a_count_at_the_threshold_is_shown_and_one_below_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = planned(tmp_path, 1.0)
    assert query.threshold is not None
    counts = {"at": query.threshold, "below": query.threshold - 1, "above": query.threshold + 1}
    monkeypatch.setattr(DiscreteLaplace, "release", lambda _, values: [int(v) for v in values])
    shown = found_results(query, Total({name: (count,) for name, count in counts.items()}, {}))
    assert [(result.group, result.value) for result in shown] == [
        ("above", query.threshold + 1.0),
        ("at", float(query.threshold)),
    ]


def test_a_missing_cell_takes_no_place_among_a_persons_groups(tmp_path: Path) -> None:
    """Nor does a row that does not match the condition."""
    people = range(40)
    table = pd.DataFrame(
        {
            "who": [i for i in people for _ in range(3)],
            "shop": [shop for _ in people for shop in (None, "a", "b")],
            "ill": [ill for _ in people for ill in (1, 1, 0)],
        }
    )
    asked = VISITS | {"where": "ill == 1", "max_groups": 1, "max_rows_per_group": 1}
    columns = COLUMNS | {"who": {"public": True}}
    made = study(table, tmp_path, asked, n=40, unit="who", rows_per_unit=3, columns=columns)
    assert counts_of(made, table).values == {"a": (40,)}


@pytest.mark.parametrize(
    ("where", "due"),
    [
        ("shop == 'a'", {"a": (2,)}),
        ("shop != 'a'", {"b": (3,)}),
        ("shop in ['a', 'c']", {"a": (2,)}),
        ("shop == 'a' or ill == 1", {"a": (2,), "b": (2,)}),
    ],
)
def test_a_condition_on_the_groups_own_names_leaves_the_others_out(
    where: str, due: dict[str, tuple[int]], tmp_path: Path
) -> None:
    table = pd.DataFrame({"shop": ["a", "a", "b", "b", "b", None], "ill": [0, 1, 0, 1, 1, 1]})
    made = study(table, tmp_path, VISITS | {"where": where}, n=6)
    assert counts_of(made, table).values == due
