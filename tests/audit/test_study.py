"""Audits of studies: made-up tables go the way of a release, and hypotheses are what they say."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from bayesdp.audit import audit_study
from bayesdp.audit.contents import FAR, Content, DeclaredRecords, MadeRow
from bayesdp.audit.hypotheses import hypotheses
from bayesdp.audit.study import StudyAudit, audit_plan
from bayesdp.audit.tables import (
    Databases,
    MadeUp,
    centres,
    distance,
    like_released,
    noised,
    released,
)
from bayesdp.cli import app
from bayesdp.errors import InputError, Refusal, UnsupportedError
from bayesdp.mechanisms import DiscreteGaussian
from bayesdp.release import Study
from bayesdp.report.audits import audit_lines, down_words
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.audit.test_power import COUNT, PERSON, SUM, audited, study
from tests.effort import runs
from tests.release.studies import random_study
from tests.release.test_every_kind import Seeded

Document = dict[str, Any]


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Seeded:
    monkeypatch.chdir(tmp_path)
    return Seeded(7, monkeypatch)


def made_up(made: Study, n: int | None = None) -> MadeUp:
    plan = made._plan(n)
    return MadeUp(DeclaredRecords.of(plan.study), plan)


CHAIN: Document = {"model": "markov", "transition": [[0.8, 0.2], [0.2, 0.8]], "length": 4}
IN_SERIES: Document = {"who": {"role": "series"}, "t": {"role": "order", "step": 1}}

SERIES = [
    {"kind": "series", "by": "g", "where": "s == 1"},
    {"kind": "series", "column": "s", "answers": "cumulative"},
    {"kind": "quantile", "column": "x", "probability": 0.5, "candidates": [0.0, 0.5, 1.0]},
    {"kind": "histogram", "column": "s", "by": "g"},
]


def databases(made: MadeUp, rng: np.random.Generator, count: int) -> Databases:
    """Tables of contents at random."""
    rows = made.declared.rows(rng)[:8]
    data = made.declared.spec.data
    size = data.rows_per_unit if data.unit != "row" else 1
    contents: list[Content] = [(MadeRow(made.declared.first()),)]
    for cells in rows:
        many = size if data.balanced else int(rng.integers(1, (size or 1) + 1))
        contents.append(tuple(MadeRow(cells, 0) for _ in range(many or 1)))
    if size != 1 and data.balanced:
        contents[0] = contents[0] * (size or 1)
    slots = rng.integers(0, len(contents), (count, 3 + len(made.fillers)))
    slots[:, 3:] = 0
    return Databases(tuple(contents), slots, 3)


@pytest.mark.prove
def test_tables_at_once_have_the_integers_of_each_alone(tmp_path: Path) -> None:
    """By the plain queries of the plan, one table after the other."""
    plain = study(SERIES, n=9)
    tried = 0
    for seed in range(runs(60, least=6)):
        rng = np.random.default_rng(seed)
        made = plain if seed == 0 else random_study(rng, tmp_path / "l.db", seed)
        try:
            up = made_up(made, 12 if isinstance(made.spec.data.n, str) else None)
            tables = databases(up, rng, 5)
            together = up.exact(tables)
        except (Refusal, UnsupportedError):
            continue
        tried += 1
        queries = [query.table_query() for query in up.plan.queries]
        for i in range(len(tables)):
            data, _ = up._table(tables.part(i, i + 1))
            totals = run(
                open_table(pa.table(data), Path()), made.spec.columns, queries, up._structure()
            )
            for query, totals_of in zip(up.plan.queries, together.totals, strict=True):
                alone = totals[query.name]
                assert dict(totals_of[i].values) == dict(alone.values), (seed, query.name)
                assert dict(totals_of[i].sizes) == dict(alone.sizes)
    assert tried >= 3


def test_rows_stand_where_their_content_says() -> None:
    """In the first group, though their slot is of the second; others where their slot is."""
    up = made_up(study([COUNT | {"by": "g"}], **PERSON))
    ill = up.declared.first() | {"s": 1}
    contents = ((MadeRow(up.declared.first()),), (MadeRow(ill, 0),) * 3, (MadeRow(ill),) * 2)
    tables = Databases(contents, np.array([[0, 1], [0, 2]]), 1)
    ((first, second),) = up.exact(tables).totals
    assert dict(first.values) == {1: (3,), 2: (0,)}
    assert dict(second.values) == {1: (0,), 2: (2,)}


def test_the_attacked_group_is_a_series_and_all_others_are_apart() -> None:
    up = made_up(study([COUNT], CHAIN | {"covers": ["s"]}, columns=IN_SERIES))
    contents = ((MadeRow(up.declared.first()),),)
    data, _ = up._table(Databases(contents, np.zeros((2, 5), dtype=np.int64), 3))
    series = data["who"].to_numpy().reshape(2, 5)
    assert [len(set(row[:3])) for row in series.tolist()] == [1, 1]
    assert len(set(series.reshape(-1).tolist())) == 6
    assert data["t"].to_pylist() == [0, 1, 2, 3, 4] * 2


def test_equal_tables_are_computed_once() -> None:
    up = made_up(study([COUNT]))
    tables = databases(up, np.random.default_rng(2), 200)
    distinct, places = tables.distinct()
    assert len(distinct) < 200
    assert (distinct.slots[places] == tables.slots).all()
    values = Databases(tables.contents, tables.slots, 3, "x", np.zeros((200, 3)))
    assert values.distinct()[0] is values


def test_what_is_made_sooner_has_the_law_of_releases() -> None:
    up = made_up(study([COUNT | {"by": "g"}, SUM, {"kind": "mean", "column": "x"}], n=9))
    exact = up.exact(databases(up, np.random.default_rng(3), 1))
    places = np.zeros(4000, dtype=np.int64)
    quick, slow = like_released(up.plan, exact, places), released(up.plan, exact, places)
    assert quick.shape == slow.shape == (4000, 4)
    _, scales, _ = centres(up.plan, exact)
    apart = (quick.mean(axis=0) - slow.mean(axis=0)) / scales
    assert (np.abs(apart) < 5 * math.sqrt(2 * 2 / 4000)).all()
    assert quick.std(axis=0) == pytest.approx(slow.std(axis=0), rel=0.15)


def test_distances_are_those_of_theory() -> None:
    made = study([COUNT, {"kind": "histogram", "column": "s"}, SERIES[2]])
    up = made_up(made)
    rows = [up.declared.first() | {"s": s, "x": x} for s in (0, 1) for x in (0.0, 1.0)]
    contents = tuple((MadeRow(cells),) for cells in rows)
    slots = np.array([[0, 0, 0], [3, 0, 0]])
    exact = up.exact(Databases(contents, slots, 1))
    count, histogram, median = up.plan.queries
    for query, totals, due in zip(up.plan.queries, exact.totals, (1, 2, None), strict=True):
        moved = np.abs(noised(query, totals[0]) - noised(query, totals[1]))
        if due is not None:
            assert moved.sum() == due
            assert distance(query, *totals) == pytest.approx(due / query.noise.scale)
            assert distance(query, *totals) == pytest.approx(query.dp_epsilon, rel=1e-9)
        else:
            # From 0 to 1 the median's scores move by as much as they can: by one row.
            assert distance(query, *totals) == pytest.approx(query.dp_epsilon, rel=1e-9)
    assert count.dp_epsilon + histogram.dp_epsilon + median.dp_epsilon <= 1.0 + 1e-9
    gaussian = made_up(study([COUNT], budget={"delta": 1e-6, "noise": "gaussian"}))
    (query,) = gaussian.plan.queries
    assert isinstance(query.noise, DiscreteGaussian)
    exact = gaussian.exact(Databases(contents, slots[:, :2], 1))
    assert distance(query, *exact.totals[0]) == pytest.approx(query.noise.scale**-2)


# -- what records can hold -------------------------------------------------------------------------


def test_cells_lie_where_declarations_make_them_matter() -> None:
    columns = {
        "x": {"bounds": [0.0, 2.0], "missing": {"codes": [-9], "impute": 1.0}},
        "s": {"states": ["a", "b"], "other": "b"},
        "band": {"from": "x", "cuts": [0.5, 1.5]},
        "tall": {"from": "height", "where": "height > 180"},
        "kind": {"from": "word", "where": "word == 'yes 2'"},
    }
    queries = [{"kind": "count", "where": "tall == 1 and x > 1.25"}]
    declared = DeclaredRecords.of(study(queries, columns=columns).spec)
    numbers = declared.numbers
    assert numbers["x"][:3] == [1.0, 0.0, 2.0]
    assert {1.25, -2e6, 2 + 2e6, -9} <= set(numbers["x"])
    assert FAR == 1e6
    assert numbers["s"] == ["a", "b", "no state at all"]
    assert numbers["height"] == [179.0, 180.0, 181.0]
    assert numbers["word"] == ["yes 2", "another text"]
    assert {row["height"] for row in declared.of_states(["tall"])} == {179.0, 181.0}
    bands = declared.of_states(["band", "tall"])
    assert len(bands) == 6
    assert [row["word"] for row in declared.of_states(["kind"])] == ["another text", "yes 2"]
    never = {"never": {"from": "height", "where": "height > 5 and height < 3"}}
    with pytest.raises(UnsupportedError, match="a cell whose state is"):
        DeclaredRecords.of(study([COUNT], columns=never).spec).of_states(["never"])


def test_no_cell_is_one_that_a_table_may_not_have() -> None:
    """A number beside the declared states would be refused by the engine."""
    columns = {"both": {"from": "s", "where": "s == 1"}}
    made = study([COUNT, {"kind": "histogram", "column": "both"}], columns=columns)
    assert DeclaredRecords.of(made.spec).numbers["s"] == [0, 1]
    assert not audited(made, samples=1000).exceeded


def test_only_values_that_the_level_speaks_of_vary() -> None:
    columns = {"z": {"bounds": [0.0, 1.0], "independent": True}}
    independent = {"model": "independent", "covers": ["s"]}
    declared = DeclaredRecords.of(study([COUNT], independent, columns=columns).spec)
    assert set(declared.can_vary()) == {"s", "z"}
    assert set(DeclaredRecords.of(study([COUNT], columns=columns).spec).can_vary()) == {
        "x",
        "s",
        "z",
    }
    rows = declared.rows(np.random.default_rng(1))
    assert {row["x"] for row in rows} == {0.5}
    assert all(
        0.0 <= row["z"] <= 1.0
        for row in declared.rows(np.random.default_rng(1), inside=frozenset({"z"}))
    )


# -- hypotheses ------------------------------------------------------------------------------------


def words_of(made: Study) -> list[str]:
    up = made_up(made)
    return [p.words for p in hypotheses(up, made.spec.population, np.random.default_rng(1))]


def test_classes_of_adversaries_have_their_hypotheses() -> None:
    for adversary, informed, knowing, blind in (
        ("any", True, True, True),
        ("uninformed", False, False, True),
        ("informed", True, False, False),
    ):
        made = study(
            [COUNT],
            CHAIN | {"covers": ["s"]},
            columns=IN_SERIES,
            budget={"adversary": adversary},
        )
        words = words_of(made)
        assert any("all others are known" in text for text in words) == informed
        assert any("of them known:" in text and "none" not in text for text in words) == knowing
        assert any("none of them known" in text for text in words) == blind


def test_impossible_values_are_not_attacked() -> None:
    """The second state is never reached, so no record has a secret about which a level speaks."""
    stuck = CHAIN | {"transition": [[1.0, 0.0], [0.5, 0.5]], "initial": [1.0, 0.0], "covers": ["s"]}
    made = study([COUNT], stuck, columns=IN_SERIES)
    with pytest.raises(UnsupportedError, match="moves any number"):
        audit_study(made, samples=1000)


def test_copies_show_what_dp_hides() -> None:
    """Three copies: the level is three times the cost, and a tenth below it is shown."""
    made = study(
        [COUNT],
        {"model": "clusters", "size": 3, "covers": ["s"]},
        columns={"home": {"role": "cluster"}},
        budget={"epsilon": 1.5},
    )
    seen = audited(made)
    assert seen.claimed == pytest.approx(1.5)
    assert 1.0 < seen.bound.epsilon <= 1.5
    assert "copies" in seen.attack
    assert made.check().plan.dp_epsilon == pytest.approx(0.5)


def test_secrets_of_gaussian_records_stay_within_bounds() -> None:
    normal = {"model": "gaussian", "size": 3, "max_correlation": 0.5, "covers": ["x"]}
    made = study([SUM], normal, columns={"home": {"role": "cluster"}}, budget={"epsilon": 2.0})
    up = made_up(made)
    pairs = hypotheses(up, made.spec.population, np.random.default_rng(1))
    tables = pairs[-1].first(50, np.random.default_rng(2))
    assert tables.values is not None
    assert tables.values.shape == (50, 3)
    assert (tables.values == 0.0).any(axis=0).tolist().count(True) == 1
    contents = pairs[0].first(1, np.random.default_rng(2)).contents
    assert all(0.0 <= row.cells["x"] <= 1.0 for content in contents for row in content)
    seen = audited(made, samples=8000)
    assert not seen.exceeded
    assert seen.bound.epsilon > 1.0


@pytest.mark.parametrize(
    "population",
    [
        {"model": "autoregressive", "coefficient": 0.5, "length": 5, "covers": ["x"]},
        {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]], "covers": ["s"]},
        {"model": "unknown", "records": 6, "covers": ["x", "s"]},
        {
            "model": "tree",
            "nodes": [
                {"name": "a", "law": [0.5, 0.5]},
                {"name": "b", "parent": "a", "transition": [[0.9, 0.1], [0.1, 0.9]]},
            ],
            "covers": ["s"],
        },
        {
            "model": "family",
            "members": [CHAIN, CHAIN | {"transition": [[0.6, 0.4], [0.4, 0.6]]}],
            "covers": ["s"],
        },
    ],
    ids=lambda spec: spec["model"],
)
def test_every_kind_of_population_is_attacked(population: Document) -> None:
    columns: Document = {}
    if population["model"] in ("autoregressive", "family"):
        columns = IN_SERIES
    if population["model"] == "finite":
        columns = {"home": {"role": "cluster"}}
    query = SUM if population["covers"] == ["x"] else COUNT
    n = 2 if population["model"] == "tree" else 5
    made = study([query], population, n=n, columns=columns, budget={"epsilon": 3.0})
    seen = audited(made, samples=2000)
    assert not seen.exceeded
    assert seen.bound.epsilon > 0.5


# -- what is said ----------------------------------------------------------------------------------

WEEKS = """[data]
source = "not there.csv"
dataset = "d"
n = 40
[data.columns]
s = { states = [0, 1] }
[budget]
notion = "dp"
epsilon = 1.0
[[query]]
name = "q"
kind = "count"
where = "s == 1"
"""


def test_the_command_says_claim_attack_and_gap(tmp_path: Path) -> None:
    path = tmp_path / "weeks.toml"
    path.write_text(WEEKS, encoding="utf-8")
    plain = CliRunner().invoke(app, ["audit", str(path), "--samples", "2000"])
    assert plain.exit_code == 0, plain.output
    assert plain.output.startswith(
        "claimed (DP): level 1\nstrongest attack, of 1 tried: one record"
    )
    assert "gap: 0." in plain.output
    done = CliRunner().invoke(app, ["audit", str(path), "--samples", "2000", "--json"])
    document = json.loads(done.stdout)
    assert document["claimed"] == pytest.approx(1.0)
    assert document["exceeded"] is False
    assert 0.0 < document["lower_bound"] < 1.0
    assert document["gap"] == pytest.approx(document["claimed"] - document["lower_bound"])
    assert document["confidence"] == 0.999
    assert not (tmp_path / "ledger.db").exists()


def test_a_claim_that_is_exceeded_ends_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeded: Seeded
) -> None:
    path = tmp_path / "weeks.toml"
    path.write_text(WEEKS, encoding="utf-8")
    honest = seeded._laplace
    monkeypatch.setattr(seeded, "_laplace", lambda scale, size: honest(scale / 3, size))
    monkeypatch.setattr(
        "bayesdp.mechanisms.laplace.DiscreteLaplace.release",
        lambda self, values: [
            int(v + z)
            for v, z in zip(values, seeded._laplace(self.scale, len(values)), strict=True)
        ],
    )
    done = CliRunner().invoke(app, ["audit", str(path), "--samples", "4000"])
    assert done.exit_code == 1
    assert "The claim is EXCEEDED" in done.output


def test_lines_round_what_is_shown_down() -> None:
    assert down_words(1.23456789) == "1.23456"
    assert down_words(0.0) == "0"
    assert down_words(3.0) == "3"
    assert down_words(0.00123456789) == "0.00123456"
    seen = audited(study([COUNT]), samples=2000)
    assert isinstance(seen, StudyAudit)
    assert audit_lines(seen)[0] == "claimed (DP): level 1"
    assert len(audit_lines(seen)) == 5


REFUSED: dict[str, tuple[Any, str]] = {
    "programs or collected answers": (
        lambda: study([{"kind": "randomized_response", "column": "s", "epsilon": 1.0}]),
        r"query\[0\]\.kind is 'randomized_response'",
    ),
    "dates": (
        lambda: study([COUNT], columns={"day": {"bounds": ["2020-01-01", "2021-01-01"]}}),
        r"data\.columns\.day: expected no dates",
    ),
    "groups that are found": (
        lambda: study(
            [{"kind": "count", "by": "shop"}],
            columns={"shop": {"groups": "from data"}},
            budget=dict(epsilon=1.0, notion="dp", delta=1e-6, mechanism_delta=5e-7),
        ),
        r"data\.columns\.shop\.groups",
    ),
    "n from the data": (lambda: study([COUNT], n="from data"), r"data\.n is 'from data'"),
    "Gaussian records of two columns": (
        lambda: study(
            [SUM],
            {
                "model": "gaussian",
                "size": 2,
                "covariance": (np.eye(4) + 0.1).tolist(),
                "covers": ["x", "y"],
                "bounds": [[0.0, 1.0], [0.0, 1.0]],
            },
            columns={"home": {"role": "cluster"}, "y": {"bounds": [0.0, 1.0]}},
        ),
        "one column",
    ),
    "many groups": (
        lambda: study(
            [COUNT | {"by": "h"}], columns={"h": {"public": True, "states": list(range(301))}}
        ),
        r"query\.by is \['h'\]: expected public columns of at most 300",
    ),
    "panels": (
        lambda: study(
            [COUNT],
            {"model": "panel", "series": 1, "length": 3, "own_previous": 2.0, "covers": ["s"]},
            columns={"home": {"role": "cluster"}} | IN_SERIES,
        ),
        "population is 'panel'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_attacked_is_refused(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message):
        audit_study(make(), samples=1000)


def test_events_are_estimated_on_samples_that_chose_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bayesdp.audit import study as module

    seen: dict[str, list[np.ndarray]] = {"chosen": [], "estimated": []}
    choose, estimate = module.choose_event, module.estimate

    def chosen(first: Any, second: Any, *rest: Any) -> Any:
        seen["chosen"] += [first, second]
        return choose(first, second, *rest)

    def estimated(event: Any, first: Any, second: Any, *rest: Any) -> Any:
        seen["estimated"] += [first, second]
        return estimate(event, first, second, *rest)

    monkeypatch.setattr(module, "choose_event", chosen)
    monkeypatch.setattr(module, "estimate", estimated)
    audited(study([COUNT, SUM]), samples=2000)
    assert len(seen["estimated"]) == 2
    assert all(len(half) == 1000 for half in seen["estimated"])
    for half in seen["estimated"]:
        assert not any(np.array_equal(half, other) for other in seen["chosen"])


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(InputError, match="samples is 10"):
        audit_study(study([COUNT]), samples=10)
    with pytest.raises(InputError, match="confidence is 2"):
        audit_study(study([COUNT]), confidence=2)


def test_wide_releases_are_audited_by_fewer_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesdp.audit.study.MOST_NUMBERS", 60_000)
    wide = {"kind": "histogram", "column": "x", "bins": np.linspace(0, 1, 21).tolist()}
    plan = study([wide], budget={"epsilon": 4.0}).check().plan
    seen = audit_plan(plan, samples=10**6, rng=np.random.default_rng(1))
    assert seen.bound.samples == 750
    assert not seen.exceeded


def test_records_of_several_rows_are_attacked_by_more_than_count() -> None:
    made = study([COUNT | {"max_rows": 2}], **PERSON)
    up = made_up(made)
    (pair,) = hypotheses(up, None, np.random.default_rng(1))
    sizes = {len(up_content) for up_content in pair.first(1, np.random.default_rng(1)).contents}
    assert max(sizes) == 3
    assert audited(made, samples=4000).bound.epsilon > 0.5
