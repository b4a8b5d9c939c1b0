"""Private fits: from a table to noisy counts, their price, the ledger, and what all of it leaks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import verify
from bayesdp.errors import (
    BudgetExceededError,
    FailedError,
    InputError,
    LedgerError,
    Refusal,
    TableMismatchError,
    UnsupportedError,
)
from bayesdp.fitting.noisy_counts import (
    PublicWindows,
    VisitsAndExits,
    VisitsAndMoves,
    WindowCells,
    released_counts,
)
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.populations import MarkovChain
from bayesdp.release import Study
from bayesdp.release.private_fits.private_fit import exact_counts
from bayesdp.tables.source import open_table
from tests.accounting.chains import change
from tests.effort import runs
from tests.release.test_stored import rehash

QUERY = {"name": "ones", "kind": "count", "where": "s == 1"}
COLUMNS: dict[str, Any] = {"t": {"role": "order", "step": 1}, "s": {"states": [0, 1]}}
DP = {"notion": "dp", "epsilon": 1000.0}
CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 400, "covers": ["s"]}


def series(length: int = 400, seed: int = 1) -> list[int]:
    rng, records = np.random.default_rng(seed), [0]
    while len(records) < length:
        records.append(int(rng.random() < (0.7 if records[-1] else 0.1)))
    return records


def study(ledger: Path, table: Any = None, **given: Any) -> Study:
    """A study of one series, with what is `given` in place."""
    if table is None:
        records = series()
        table = pd.DataFrame({"t": range(len(records)), "s": records})
    declared: dict[str, Any] = {
        "dataset": "made up",
        "n": len(table),
        "columns": COLUMNS,
        "budget": DP,
        "queries": [QUERY],
    }
    return Study(table, ledger=str(ledger / "ledger.db"), **declared | given)


@pytest.fixture
def here(tmp_path: Path) -> Any:
    """`study` with its ledger in a folder of its own."""
    return partial(study, tmp_path)


@pytest.fixture
def _small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits of fewer records than could have any bounds: for what is counted in them."""
    for kind in (VisitsAndExits, VisitsAndMoves, WindowCells):
        monkeypatch.setattr(kind, "least_transitions", lambda *given: 0)


# -- from the table to integers ----------------------------------------------------------------

SHAPES: dict[str, tuple[dict[str, Any], list[Any], int, int]] = {
    "one series": ({"t": [1, 2, 3, 4, 5]}, [0, 1], 1, 2),
    "a gap": ({"t": [1, 2, 4, 5, 6]}, [0, 1], 1, 2),
    "two series": ({"t": [1, 2, 1, 2, 3], "who": ["a", "a", "b", "b", "b"]}, [0, 1], 1, 3),
    "two series by turns": (
        {"t": [1, 1, 2, 2, 3], "who": ["a", "b", "a", "b", "b"]},
        [0, 1],
        1,
        3,
    ),
    "order 2": ({"t": [1, 2, 3, 4, 5]}, [0, 1], 2, 6),
    "three states": ({"t": [1, 2, 3, 4]}, ["x", "y", "z"], 1, 4),
    "order 3": ({"t": [1, 2, 3, 4, 6]}, [0, 1], 3, 8),
}


@pytest.mark.prove
@pytest.mark.usefixtures("_small_tables")
@pytest.mark.parametrize("shape", SHAPES)
def test_replacing_a_record_moves_the_integers_by_no_more_than_is_paid_for(
    shape: str, here: Any
) -> None:
    """All tables and their neighbours; in `make test` few of them go through the data engine."""
    places, states, order, sensitivity = SHAPES[shape]
    number = len(places["t"])
    columns = {"t": COLUMNS["t"], "s": {"states": states}}
    if "who" in places:
        columns["who"] = {"role": "series"}
    query = {"name": "first", "kind": "count", "where": f"s == {states[0]!r}"}
    tables = list(itertools.product(states, repeat=number))
    rng = np.random.default_rng(number)
    through_the_engine = {int(i) for i in rng.permutation(len(tables))[: runs(len(tables), 2)]}
    values: dict[tuple[Any, ...], list[int]] = {}
    public = set()
    for i, records in enumerate(tables):
        counts, windows = by_hand(places, records, states, order)
        if i == 0 or i in through_the_engine:
            frame = pd.DataFrame({**places, "s": records})
            asked = here(frame, columns=columns, queries=[query])
            plan = asked.plan_fit(dp_epsilon=300.0, column="s", order=order, length=9)
            actual, windows = exact_counts(plan, open_table(frame))
            assert actual == plan.released.values(counts)
        values[records] = plan.released.values(counts)
        public.add(windows)
    assert plan.released.sensitivity == sensitivity
    assert len(public) == 1  # nothing of it depends on states
    most = max(
        sum(abs(x - y) for x, y in zip(values[records], values[other], strict=True))
        for records in values
        for i, state in itertools.product(range(number), states)
        for other in [(*records[:i], state, *records[i + 1 :])]
    )
    assert most <= sensitivity


def by_hand(
    places: dict[str, Any], records: tuple[Any, ...], states: list[Any], order: int
) -> tuple[np.ndarray, PublicWindows]:
    """The counts of windows, found one by one, and what is public of them."""
    counts = np.zeros((len(states),) * (order + 1), dtype=np.int64)
    who = places.get("who", [""] * len(records))
    where = {(w, t): states.index(r) for w, t, r in zip(who, places["t"], records, strict=True)}
    for name, time in where:
        window = [where.get((name, time - back)) for back in reversed(range(order + 1))]
        if None not in window:
            counts[tuple(window)] += 1
    begun = sum((name, time - 1) not in where for name, time in where)
    return counts, PublicWindows(int(counts.sum()), begun)


def test_imputed_values_are_no_chain(here: Any) -> None:
    """Half of a chain that stays with .98 missing and 0 put in: 1.28 where its fit says .99."""
    imputed = {"missing": {"impute": 1}}
    columns: dict[str, Any] = {"t": COLUMNS["t"], "x": {"bounds": [0, 5]} | imputed}
    columns |= {"s": {"from": "x", "where": "x >= 1"}, "y": {"states": [0, 1]} | imputed}
    asked = here(pd.DataFrame({"t": range(6), "x": [1.0] * 6, "y": [0] * 6}), columns=columns)
    for name in ("s", "y"):
        with pytest.raises(InputError, match="without imputed values"):
            asked.plan_fit(dp_epsilon=300.0, column=name, length=9)


@pytest.mark.usefixtures("_small_tables")
def test_states_that_are_derived_are_read_as_the_study_reads_them(here: Any) -> None:
    frame = pd.DataFrame({"t": range(6), "x": [0.2, 1.5, 1.0, 9.0, 0.1, 1.0]})
    columns: dict[str, Any] = {"t": COLUMNS["t"], "x": {"bounds": [0, 5]}}
    columns |= {"s": {"from": "x", "where": "x >= 1"}, "c": {"from": "x", "cuts": [1, 5]}}
    for name, states in (("s", [0, 1, 1, 1, 0, 1]), ("c", [0, 1, 1, 2, 0, 1])):
        asked = here(frame, columns=columns)
        plan = asked.plan_fit(dp_epsilon=300.0, column=name, length=9)
        values, windows = exact_counts(plan, open_table(frame))
        known = list(range(max(states) + 1))
        counts, due = by_hand({"t": list(range(6))}, tuple(states), known, 1)
        assert (values, windows) == (plan.released.values(counts), due)


# -- the price ---------------------------------------------------------------------------------


def test_under_dp_a_fit_costs_its_dp_epsilon_and_promises_no_more(here: Any) -> None:
    plan = here().plan_fit(dp_epsilon=0.5, column="s", length=400)
    assert plan.dp_epsilon <= 0.5 < plan.dp_epsilon * (1.0 + 1e-12)
    assert plan.level == plan.dp_epsilon
    assert plan.noise == DiscreteLaplace.for_cost(2, 0.5)
    assert plan.spend.reads == ("s",)
    assert "promises no more" in plan.promise()


def test_under_bdp_a_fit_costs_what_the_declared_population_makes_of_it(here: Any) -> None:
    budget = {"notion": "bdp", "epsilon": 3.0}
    plan = here(population=CHAIN, budget=budget).plan_fit(dp_epsilon=0.5)
    due = MarkovChain(CHAIN["transition"], length=400).leakage(0.5).best.epsilon
    assert plan.level == pytest.approx(due)
    assert plan.level >= plan.dp_epsilon
    assert (plan.column, plan.length, plan.spend.reads) == ("s", 400, ("s",))
    assert "not the one that is fitted" in plan.promise()
    with pytest.raises(BudgetExceededError, match="The fit alone reaches the BDP level"):
        here(population=CHAIN, budget=budget | {"spend": 0.5}).plan_fit(dp_epsilon=0.5)


def test_what_a_plan_expects(here: Any) -> None:
    plan = here().plan_fit(dp_epsilon=0.5, column="s", length=400)
    given = plan.expected(MarkovChain(CHAIN["transition"], length=400))
    sticky = plan.expected()
    assert given.transition.tolist() == CHAIN["transition"]
    assert sticky.transition[0].tolist() == pytest.approx([0.8, 0.2])
    assert "nothing better is said" in sticky.supposed
    inside = (given.bounds.lower <= given.transition) & (given.transition <= given.bounds.upper)
    assert inside.all()
    assert given.dp_epsilon_left == max(given.calibration.dp_epsilon - 0.5, 0.0) == 0.0
    assert "leaves nothing" in given.sentences()[-1]
    many = here(pd.DataFrame(), n=100_000)
    cheap = many.plan_fit(dp_epsilon=0.1, column="s", length=400).expected(target=2.0)
    assert cheap.calibration.target == 2.0
    assert 0.0 < cheap.dp_epsilon_left == pytest.approx(cheap.calibration.dp_epsilon - 0.1)
    assert "for releases" in cheap.sentences()[-1]
    declared = here(population=CHAIN, budget={"epsilon": 9.0}).plan_fit(dp_epsilon=0.5)
    assert declared.expected().transition.tolist() == CHAIN["transition"]
    bounds = MarkovChain(
        transition_lower=[[0.8, 0.1], [0.2, 0.6]],
        transition_upper=[[0.9, 0.2], [0.4, 0.8]],
        length=400,
    )
    middle = plan.expected(bounds).transition.ravel().tolist()
    assert middle == pytest.approx([0.85, 0.15, 0.3, 0.7])
    with pytest.raises(InputError, match="3 states and order 1"):
        plan.expected(MarkovChain([[1 / 3] * 3] * 3, length=9))
    with pytest.raises(InputError, match=r"data\.n"):
        here(n="from data").plan_fit(dp_epsilon=0.5, column="s", length=400).expected()


ACTIVITY = [[0.88235828, 0.11764172], [0.30470588, 0.69529412]]


@pytest.mark.parametrize(
    ("n", "dp_epsilon", "least", "most"),
    [(15_264, 0.1, 4.5, 5.1), (15_264, 0.025, 7.0, 7.5), (100_000, 0.025, 4.35, 4.5)],
)
def test_the_noise_that_is_said_beforehand_for_the_activity_series(
    n: int, dp_epsilon: float, least: float, most: float, here: Any
) -> None:
    plan = here(pd.DataFrame(), n=n).plan_fit(dp_epsilon=dp_epsilon, column="s", length=n)
    expected = plan.expected(MarkovChain(ACTIVITY, length=n))
    assert least <= expected.calibration.noise_multiplier <= most


# -- what can't be fitted ----------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"column": None}, "column"),
    ({}, {"column": "x"}, "column is 'x'"),
    ({}, {"column": "t"}, "a private column"),
    ({}, {"order": 4}, "order is 4"),
    ({}, {"order": "auto"}, "order is 'auto'"),
    ({}, {"order": True}, "order is True"),
    ({}, {"length": None}, "length"),
    ({}, {"length": 0}, "length is 0"),
    ({}, {"dp_epsilon": 0.0}, "dp_epsilon is 0"),
    ({}, {"dp_epsilon": "x"}, "dp_epsilon is 'x'"),
    ({}, {"dp_epsilon": math.inf}, "dp_epsilon is inf"),
    ({}, {"confidence": 1.0}, "confidence is 1"),
    ({"columns": {"s": {"states": [0, 1]}}}, {}, 'role "order"'),
    ({"columns": COLUMNS | {"x": {"bounds": [0, 1]}}}, {"column": "x"}, "2 to 200 states"),
    (
        {
            "columns": COLUMNS | {"x": {"bounds": [0, 1]}, "y": {"from": "x", "cuts": [0.5]}},
            "population": CHAIN,
            "budget": {"epsilon": 9.0},
        },
        {"column": "y"},
        r"fit\.column is 'y'",
    ),
]


@pytest.mark.parametrize(("declared", "asked", "message"), WRONG)
def test_what_can_not_be_fitted(
    declared: dict[str, Any], asked: dict[str, Any], message: str, here: Any
) -> None:
    wanted: dict[str, Any] = {"dp_epsilon": 0.5, "column": "s", "length": 400} | asked
    made = here(**declared)
    with pytest.raises(InputError, match=message):
        made.fit(**wanted)
    assert not made.ledger().path.exists()


def test_records_of_several_rows_are_refused(here: Any) -> None:
    frame = pd.DataFrame({"t": range(4), "s": [0, 1, 0, 1], "who": [1, 1, 2, 2]})
    made = here(
        frame,
        n=2,
        unit="who",
        rows_per_unit=2,
        columns=COLUMNS | {"who": {"public": True}},
    )
    with pytest.raises(UnsupportedError, match=r"data\.unit"):
        made.fit(dp_epsilon=100.0, column="s", length=4)


# -- refused before the debit ------------------------------------------------------------------


def refused(made: Study, kind: type[Exception], message: str, **asked: Any) -> None:
    wanted: dict[str, Any] = {"dp_epsilon": 0.5, "column": "s", "length": 400}
    with pytest.raises(kind, match=message):
        made.fit(**wanted | asked)
    assert made.spends() == []


@pytest.mark.parametrize("n", [400, "from data"])
def test_no_bounds_could_result(n: Any, here: Any) -> None:
    made = here(n=n)
    refused(made, Refusal, "No bounds could result", dp_epsilon=0.1)
    refused(made, Refusal, "No bounds could result", dp_epsilon=0.3, order=3)
    gaps = pd.DataFrame({"t": range(0, 800, 2), "s": series()})
    refused(here(gaps, n=n), Refusal, "No 2 records follow each other")
    refused(here(pd.DataFrame({"t": [1], "s": [1]}), n=1), Refusal, "No 2 records")


def test_what_a_table_is_refused_for_is_not_told(here: Any) -> None:
    """The words are the same whatever was found, and the attempt leaves a trace."""
    tables = [
        {"t": range(400), "s": [*series(399), 2]},
        {"t": range(400), "s": [*series(399), None]},
        {"t": [*range(399), 398], "s": series()},
        {"t": [*range(399), 500.5], "s": series()},
    ]
    words = set()
    for columns in tables:
        made = here(pd.DataFrame(columns))
        with pytest.raises(TableMismatchError) as error:
            made.fit(dp_epsilon=0.5, column="s", length=400)
        words.add(str(error.value))
        assert made.spends() == []
    assert len(words) == 1
    trace = made.ledger().refusals()
    assert [row["reason"] for row in trace] == ["table"] * len(tables)
    assert {row["dp_epsilon"] for row in trace} == {0.5}
    refused(here(n=399), TableMismatchError, "nothing was spent")


def test_a_table_that_the_declared_population_excludes_is_refused(here: Any) -> None:
    never = CHAIN | {"transition": [[0.9, 0.1], [1.0, 0.0]]}
    made = here(population=never, budget={"epsilon": 9.0})
    refused(made, TableMismatchError, "nothing was spent")


def test_a_budget_that_is_spent(here: Any) -> None:
    made = here(budget={"notion": "dp", "epsilon": 0.8})
    made.fit(dp_epsilon=0.5, column="s", length=400)
    with pytest.raises(BudgetExceededError, match="Nothing was released and nothing was spent"):
        made.fit(dp_epsilon=0.4, column="s", length=400)
    assert [spend.dp_epsilon for spend in made.spends()] == [0.5]
    assert [row["reason"] for row in made.ledger().refusals()] == ["budget"]


# -- the fit -----------------------------------------------------------------------------------


def test_a_fit_is_paid_for_once(here: Any) -> None:
    made = here()
    fit = partial(made.fit, dp_epsilon=0.5, column="s", length=400)
    first = fit()
    assert first.is_new
    assert first.population.covers == ("s",)
    assert first.population.transition_lower == tuple(map(tuple, first.bounds.lower.tolist()))
    for words in ("fitted to 399 transitions", "'made up'", "DP cost of 0.5", first.release[:8]):
        assert words in str(first.population.source)
    second = Study(None, **asked_again(made)).fit(dp_epsilon=0.5, column="s", length=400)
    assert not second.is_new  # without a look at the table
    assert (second.release, second.values, second.time) == (first.release, first.values, first.time)
    assert second.population == first.population
    wider = fit(confidence=0.99, length=9)
    assert wider.values == first.values
    assert wider.population.length == 9
    assert (wider.bounds.lower <= first.bounds.lower).all()
    assert len(made.spends()) == 1
    assert fit(again=True).is_new
    assert made.fit(dp_epsilon=5.0, column="s", length=400, order=2).is_new
    assert made.fit(dp_epsilon=0.6, column="s", length=400).is_new
    assert len(made.spends()) == 4


def test_a_fit_that_no_fit_has_stored(here: Any) -> None:
    """Its hashes fit."""
    made = here()
    made.fit(dp_epsilon=0.5, column="s", length=400)
    path = made.ledger().path
    change(path, """UPDATE results SET result = replace(result, '"values"', '"other"')""")
    rehash(path)
    with pytest.raises(LedgerError, match="damaged"):
        made.fit(dp_epsilon=0.5, column="s", length=400)


def asked_again(made: Study) -> dict[str, Any]:
    """The same study, without its table."""
    return {
        "dataset": "made up",
        "n": 400,
        "columns": COLUMNS,
        "budget": DP,
        "queries": [QUERY],
        "ledger": made.ledger_url,
    }


def test_another_declaration_is_another_fit(here: Any) -> None:
    """Else counts of other states would be taken for these."""
    frame = pd.DataFrame({"t": range(400), "x": series()})
    fits = []
    for where in ("x > 0", "x < 1"):
        columns = {"t": COLUMNS["t"], "x": {"bounds": [0, 1]}, "s": {"from": "x", "where": where}}
        fits.append(here(frame, columns=columns).fit(dp_epsilon=0.5, column="s", length=400))
    assert [fit.is_new for fit in fits] == [True, True]
    # Kept as a cost of the states alone: a population that covers them can be read with it.
    (first, second) = fits
    assert (first.plan.spend.reads, second.plan.spend.reads) == (
        ("s = (x > 0) of x",),
        ("s = (x < 1) of x",),
    )


def test_the_noise_is_added_to_the_counts_of_the_table(
    here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = series()
    moves = list(itertools.pairwise(records))
    visits, exits = sum(a for a, _ in moves), moves.count((1, 0))
    made = here(budget={"notion": "dp", "epsilon": 1e4})
    fit = partial(made.fit, column="s", length=400)
    assert fit(dp_epsilon=400.0).values == (visits, exits)  # at this cost there is none
    drawn: list[tuple[float, list[int]]] = []

    def release(noise: DiscreteLaplace, values: list[int]) -> list[int]:
        drawn.append((noise.scale, values))
        return [value + 1000 * i for i, value in enumerate(values, start=1)]

    with monkeypatch.context() as patched:
        patched.setattr(DiscreteLaplace, "release", release)
        fitted = fit(dp_epsilon=0.5)
    assert drawn == [(4.0, [visits, exits])]
    assert fitted.values == (visits + 1000, exits + 2000)
    (spend,) = (spend for spend in made.spends() if spend.dp_epsilon < 1.0)
    assert spend.dp_epsilon == fitted.dp_epsilon == DiscreteLaplace(4.0).cost(2)


def test_a_failure_after_the_debit_is_paid_for(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = here()
    with monkeypatch.context() as patched:
        patched.setattr(DiscreteLaplace, "release", lambda self, values: 1 / 0)
        with pytest.raises(FailedError, match="Nothing had been released"):
            made.fit(dp_epsilon=0.5, column="s", length=400)
    assert len(made.spends()) == 1
    assert made.fit(dp_epsilon=0.5, column="s", length=400).is_new
    assert len(made.spends()) == 2


def test_the_ledger_sums_the_fit_and_what_uses_its_population(here: Any) -> None:
    past = here()
    fitted = past.fit(dp_epsilon=2.0, column="s", length=400)
    made = here(population=fitted.population, budget={"epsilon": 12.0, "spend": 4.0})
    with pytest.raises(InputError, match="ledger register"):
        made.release()
    assert made.register().total == 12.0
    release = made.release()
    costs = [spend.dp_epsilon for spend in made.spends()]
    assert costs == [fitted.dp_epsilon, release.dp_epsilon]
    state = release.certificate.body["data_set"]
    assert state["dp_epsilon"] == pytest.approx(sum(costs))
    assert [spend["query"] for spend in state["earlier_spends"]] == [fitted.plan.spend.query]
    due = fitted.population.leakage(sum(costs)).best.epsilon
    assert state["level"] == pytest.approx(due)
    assert state["level"] > release.level
    assert release.certificate.body["population"]["source"] == fitted.population.source
    assert verify(release.certificate).verdict == "VALID ASSUMING"
    readings = made.ledger().show()[0]["readings"]
    levels = {reading["notion"]: reading["level"] for reading in readings}
    assert levels == {"dp": pytest.approx(sum(costs)), "bdp": pytest.approx(due)}


def test_what_people_and_programs_see(here: Any) -> None:
    fitted = here().fit(dp_epsilon=0.5, column="s", length=400)
    plain = fitted.estimated()
    assert plain["released"]["values"] == list(fitted.values)
    assert (plain["released"]["transitions"], plain["released"]["runs"]) == (399, 1)
    assert plain["states"] == [0, 1]
    assert plain["level"] == plain["dp_epsilon"] == fitted.level
    assert "PrivateFit(" in repr(fitted)
    assert "DP cost 0.5" in repr(fitted)
    assert [check.name for check in fitted.diagnostics][-1] == "not tested"
    constant = pd.DataFrame({"t": range(400), "s": [0] * 400})
    hidden = here(constant).fit(dp_epsilon=0.5, column="s", length=400, again=True)
    assert hidden.diagnostics[0].name == "hidden transitions"
    assert not hidden.diagnostics[0].fits


# -- what a fit and a release of its population leak together ------------------------------------


def outcomes(plan_epsilon: float, records: int) -> Iterator[tuple[list[int], PublicWindows, Any]]:
    """Noisy integers that may come out for so many records, with the bounds that they give."""
    kind = released_counts(2, 1, many_series=False)
    noise = DiscreteLaplace.for_cost(kind.sensitivity, plan_epsilon)
    windows = PublicWindows(records - 1, 1)
    for visits, exits in itertools.product(range(-1, records + 1), range(-1, records // 2 + 2)):
        yield [visits, exits], windows, (kind, noise)


def exact_leakage(law: np.ndarray, density: np.ndarray) -> float:
    """The largest log-ratio of `density` over all adversaries and secrets; axes are records."""

    def with_unknown(array: np.ndarray) -> np.ndarray:
        for axis in range(array.ndim):  # a third value of each record: it is not known
            total = array.sum(axis=axis, keepdims=True)
            array = np.concatenate([array, total], axis=axis)
        return array

    below, above = with_unknown(law), with_unknown(law * density)
    given = np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0.0)
    worst = 0.0
    for axis in range(law.ndim):
        secrets = np.log(np.take(given, [0, 1], axis=axis))
        ratios = np.abs(np.diff(secrets, axis=axis))
        worst = max(worst, float(np.nanmax(ratios)))
    return worst


@pytest.mark.prove
@pytest.mark.parametrize("records", [3, 4, 6])
def test_fit_and_release_leak_no_more_than_certified_where_the_bounds_hold(records: int) -> None:
    """All noisy counts, all adversaries, and chains at the corners of the bounds or near."""
    rng = np.random.default_rng(records)
    bits = np.array(list(itertools.product((0, 1), repeat=records)))
    visits = bits[:, :-1].sum(axis=1)
    exits = ((bits[:, :-1] == 1) & (bits[:, 1:] == 0)).sum(axis=1)
    ones, shape = bits.sum(axis=1), (2,) * records
    tried = tight = 0
    for fit_epsilon, release_epsilon in itertools.product((1.0, 6.0, 12.0), (0.3, 2.0)):
        some = [o for o in outcomes(fit_epsilon, records) if rng.random() < runs(100, 12) / 100]
        for noisy, windows, (kind, noise) in some:
            bounds = kind.bounds(noisy, noise, windows, 0.3)
            population = MarkovChain(
                transition_lower=bounds.lower.tolist(),
                transition_upper=bounds.upper.tolist(),
                length=records,
            )
            certified = population.leakage(fit_epsilon + release_epsilon).best.epsilon
            ends = [(max(bounds.lower[i, 1 - i], 1e-3), bounds.upper[i, 1 - i]) for i in (0, 1)]
            for up, down in itertools.product(*ends):
                up, down = min(up, 0.999), min(down, 0.999)
                law = chain_law(up, down, bits).reshape(shape)
                steps = np.abs(visits - noisy[0]) + np.abs(exits - noisy[1])
                for shown in (-1, records // 2, records + 1):
                    log_density = -fit_epsilon / 2.0 * steps
                    log_density = log_density - release_epsilon * np.abs(ones - shown)
                    density = np.exp(log_density - log_density.max()).reshape(shape)
                    leaked = exact_leakage(law, density)
                    assert leaked <= certified * (1.0 + 1e-9)
                    tried += 1
                    tight += leaked > fit_epsilon + release_epsilon
    assert tried > 100
    assert tight > 0 or records == 3  # more than without dependence


def chain_law(up: float, down: float, bits: np.ndarray) -> np.ndarray:
    """The probability of each row of `bits` under the stationary chain."""
    moves = np.array([[1.0 - up, up], [down, 1.0 - down]])
    start = np.array([down, up]) / (up + down)
    law: np.ndarray = start[bits[:, 0]]
    for before, after in itertools.pairwise(bits.T):
        law = law * moves[before, after]
    return law
