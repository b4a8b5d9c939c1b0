"""Chains from tables: counts against counting by hand, what speaks against a chain, real data."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import ChainFit, chains, counting, fit_chain
from bayesdp.fitting.comparing import estimates, information, order_test, same_transitions
from bayesdp.fitting.counting import Chains, Part
from bayesdp.fitting.numbers_of import time_column
from bayesdp.fitting.regions import transition_bounds
from bayesdp.fitting.states import read_states
from bayesdp.populations import MarkovChain, load
from bayesdp.tables.source import Table, open_table
from tests.effort import runs

RATES = {(): 0.5, (0,): 0.2, (1,): 0.7, (0, 0): 0.1, (0, 1): 0.6, (1, 0): 0.4, (1, 1): 0.8}


@pytest.fixture
def counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that ask for counts only: the comparisons take most of the time."""
    monkeypatch.setattr(chains, "_homogeneity", lambda *given: ())


def walk(rng: np.random.Generator, order: int, length: int, other: float = 0.0) -> list[int]:
    states: list[int] = []
    for _ in range(length):
        context = tuple(states[max(len(states) - order, 0) :])
        states.append(int(rng.random() < RATES[context] + other))
    return states


def windows_by_hand(
    rows: list[tuple[Any, ...]], depth: int, *, gaps: str, missing: str, timed: bool
) -> Iterator[list[tuple[Any, ...]]]:
    """The windows of `depth + 1` neighbours among `rows` of series, time and state."""
    for _, group in itertools.groupby(sorted(rows, key=lambda row: row[:2]), lambda row: row[0]):
        series = [row for row in group if missing == "break" or row[2] is not None]
        for start in range(len(series) - depth):
            window = series[start : start + depth + 1]
            steps = {after[1] - before[1] for before, after in itertools.pairwise(window)}
            values = [row[2] for row in window]
            if None not in values and (not timed or gaps == "bridge" or steps <= {1}):
                yield window


def by_hand(
    rows: list[tuple[Any, ...]],
    depth: int,
    *,
    states: int,
    in_part: Callable[[tuple[Any, ...]], bool] = lambda row: True,
    **rules: Any,
) -> np.ndarray:
    """Counts of the windows that end in the rows `in_part`."""
    counts = np.zeros((states,) * (depth + 1), dtype=int)
    for window in windows_by_hand(rows, depth, **rules):
        counts[tuple(row[2] for row in window)] += in_part(window[-1])
    return counts


def random_rows(rng: np.random.Generator) -> list[tuple[str, int, int | None]]:
    rows = []
    for name in "abc"[: rng.integers(1, 4)]:
        times = np.sort(rng.choice(40, size=rng.integers(1, 35), replace=False))
        values = rng.integers(0, 3, size=len(times))
        lost = rng.random(len(times)) < 0.1
        rows += [
            (name, int(t), None if gone else int(v))
            for t, v, gone in zip(times, values, lost, strict=True)
        ]
    return rows


@pytest.mark.prove
@pytest.mark.usefixtures("counts_alone")
def test_counts_are_those_by_hand() -> None:
    for case in range(runs(120)):
        rng = np.random.default_rng(case)
        rows = random_rows(rng)
        gaps = ["break", "bridge"][case % 2]
        missing = ["break", "drop"][case // 2 % 2]
        order, timed = int(rng.integers(1, 4)), bool(rng.integers(2))
        want = by_hand(rows, order, gaps=gaps, missing=missing, timed=timed, states=3)
        shown = [rows[i] for i in rng.permutation(len(rows))] if timed and case % 3 else rows
        if not timed and case % 3 == 1:  # series between each other, each in its order
            shown = sorted(rows, key=lambda row: row[1])
        frame = pd.DataFrame(shown, columns=["who", "t", "x"]).astype({"x": "Int64"})
        options: dict[str, Any] = {"time": "t", "step": 1, "gaps": gaps} if timed else {}
        options |= {"order": order, "series": "who", "missing": missing, "length": 9}
        if not want.any():
            with pytest.raises(UnsupportedError, match="neighbours"):
                fit_chain(frame, "x", states=[0, 1, 2], **options)
            continue
        fitted = fit_chain(frame, "x", states=[0, 1, 2], **options)
        assert fitted.counts.tolist() == want.tolist(), (case, options)
        assert fitted.records == sum(row[2] is not None for row in rows)
        assert fitted.missing == sum(row[2] is None for row in rows)


def members_of(rows: list[tuple[Any, ...]], part: Part) -> list[Callable[[tuple[Any, ...]], bool]]:
    """Which rows are in the first half of the time and in the second, or in each series."""
    if part == "series":
        return [lambda row, name=name: row[0] == name for name in sorted({row[0] for row in rows})]
    times = {row[1] for row in rows}
    middle = (min(times) + max(times)) / 2
    return [lambda row: row[1] <= middle, lambda row: row[1] > middle][: len(times)]


def some_borders(rng: np.random.Generator, rows: int) -> list[int]:
    """Where ranges of a file begin and end: ranges may be empty, or shorter than a window."""
    inner = rng.integers(0, rows + 1, size=rng.integers(1, 6))
    return [0, *sorted(inner.tolist()), rows]


@pytest.mark.prove
def test_parts_are_counted_with_the_whole_as_they_are_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in range(runs(200)):
        rng = np.random.default_rng(case)
        rows = random_rows(rng)
        depth, timed = int(rng.integers(1, 4)), case % 2 == 0
        gaps = "bridge" if timed and rng.integers(2) else "break"
        missing = "drop" if rng.integers(3) == 0 else "break"
        shown = [rows[i] for i in rng.permutation(len(rows))] if rng.integers(3) == 0 else rows
        if not timed:  # the place in the file is the time
            shown = [(name, place, state) for place, (name, _, state) in enumerate(shown)]
        kept = [row for row in shown if row[2] is not None or missing == "break"]
        if not kept:
            continue
        frame = pd.DataFrame(shown, columns=["who", "t", "x"]).astype({"x": "Int64"})
        file = str(tmp_path / f"{case}.parquet")
        frame.to_parquet(file, row_group_size=9)
        table = open_table(file if rng.integers(2) else frame).with_places()
        monkeypatch.setattr(counting, "_borders", lambda n, threads, rng=rng: some_borders(rng, n))
        table_chains = Chains(
            table,
            read_states(table, "x", {"states": [0, 1, 2]}),
            ("who",),
            time_column("t", 1) if timed else None,
            bridge=gaps == "bridge",
            drop=missing == "drop",
        )
        together = table_chains.windows(depth, ("half", "series"))
        alone = {part: table_chains.windows(depth, (part,)) for part in together.parts}
        assert table_chains.number_of_series == len({row[0] for row in shown})
        rules: dict[str, Any] = {"gaps": gaps, "missing": missing, "timed": timed, "states": 3}
        for j in range(depth + 1):
            assert np.array_equal(together.whole.tables[j], by_hand(shown, j, **rules)), case
            unbridged = by_hand(shown, j, **{**rules, "gaps": "break"})
            assert np.array_equal(together.unbridged.tables[j], unbridged), case
            for part, counted in alone.items():
                want = [
                    by_hand(shown, j, in_part=in_part, **rules)
                    for in_part in members_of(kept, part)
                ]
                for split in (together, counted):
                    got = [windows.tables[j] for windows in split.each(part)]
                    assert np.array_equal(got, want), (case, part, j)
            assert together.whole.missing == sum(row[2] is None for row in shown)


@pytest.mark.parametrize(("depth", "drop"), [(1, False), (2, True), (3, False)])
def test_a_range_of_one_row_sees_the_rows_before_it(
    depth: int, drop: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"x": np.random.default_rng(depth).integers(0, 2, 24)}, dtype="Int64")
    frame.loc[[8, 9], "x"] = None
    frame["s"], frame["t"] = frame.index // 14, frame.index + frame.index // 20
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=5)
    table = open_table(str(tmp_path / "rows.parquet")).with_places()
    states = read_states(table, "x", {"states": [0, 1]})
    time = time_column("t", 1)
    one_pass, in_ranges = (
        Chains(table, states, ("s",), time, bridge=drop, drop=drop) for _ in range(2)
    )
    want = one_pass.windows(depth, ("half", "series"))
    monkeypatch.setattr(counting, "_borders", lambda rows, threads: list(range(rows + 1)))
    got = in_ranges.windows(depth, ("half", "series"))
    assert got.number.sum() == len(frame) - 2 * drop
    for part in want.parts:
        for whole, pieces in zip(want.each(part), got.each(part), strict=True):
            for j in range(depth + 1):
                assert np.array_equal(whole.tables[j], pieces.tables[j])


def test_rows_that_are_left_out_do_not_move_the_middle_of_the_time() -> None:
    frame = pd.DataFrame({"t": [*range(10), 100], "x": [0.0, 1.0] * 5 + [None]})
    table = open_table(frame)
    states = read_states(table, "x", {"states": [0, 1]})
    rows = Chains(table, states, time=time_column("t", 1), drop=True)
    assert [half.records for half in rows.windows(1, ("half",)).each("half")] == [5, 5]


def test_a_cell_that_is_wrong_is_refused_over_a_gap_too() -> None:
    frame = pd.DataFrame({"t": [0, 2, 3], "x": [0, 7, 1]})
    bridged: dict[str, Any] = {"time": "t", "step": 1, "gaps": "bridge", "length": 9}
    with pytest.raises(InputError, match=r"column is 'x'.*: 1 row is not so"):
        fit_chain(frame, "x", states=[0, 1], **bridged)


def test_a_file_that_names_its_own_row_numbers_is_counted_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "ROWS_OF_A_RANGE", 3)
    monkeypatch.setattr(Table, "threads", 4)
    frame = pd.DataFrame({"x": [0, 1, 1, 0, 1, 0, 0, 1] * 5})
    counts = fit_chain(frame, "x", states=[0, 1], length=5).counts
    frame.to_parquet(tmp_path / "plain.parquet")
    frame.assign(File_Row_Number=7).to_parquet(tmp_path / "named.parquet")
    frame[:16].to_parquet(tmp_path / "part0.parquet")
    frame[16:].to_parquet(tmp_path / "part1.parquet")
    for source in ("plain.parquet", "named.parquet", "part*.parquet"):
        table = open_table(str(tmp_path / source)).with_places()
        assert (table.place is None) == (source != "plain.parquet")
        assert "file_row_number" not in table.names
        fitted = fit_chain(str(tmp_path / source), "x", states=[0, 1], length=5)
        assert fitted.counts.tolist() == counts.tolist()
    with pytest.raises(InputError, match="file_row_number"):
        fit_chain(str(tmp_path / "plain.parquet"), "file_row_number", cuts=[1], length=5)


@pytest.mark.usefixtures("counts_alone")
def test_the_order_of_a_large_file_is_kept_and_other_orders_are_sorted(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = 120_000
    frame = pd.DataFrame(
        {"s": np.repeat(np.arange(100), rows // 100), "t": np.tile(np.arange(rows // 100), 100)}
    )
    frame["x"] = rng.integers(0, 2, rows) | (np.arange(rows) % 3 == 0)
    frame.to_parquet(tmp_path / "in_order.parquet", row_group_size=10_000)
    frame.sample(frac=1.0, random_state=4).to_parquet(tmp_path / "shuffled.parquet")
    states, inside = frame["x"].to_numpy(), (frame["t"] > 0).to_numpy()
    pairs = np.zeros((2, 2), dtype=int)
    np.add.at(pairs, (states[:-1], states[1:]), inside[1:])
    options: dict[str, Any] = {"where": "x == 1", "series": "s", "length": 9}
    in_order, shuffled = (str(tmp_path / f"{n}.parquet") for n in ("in_order", "shuffled"))
    assert fit_chain(in_order, "x", **options).counts.tolist() == pairs.tolist()
    timed = options | {"time": "t", "step": 1}
    for path in (in_order, shuffled):
        assert fit_chain(path, "x", **timed).counts.tolist() == pairs.tolist()
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(f"CREATE TABLE readings AS FROM '{shuffled}'")
    database = f"{tmp_path}/t.duckdb::readings"
    assert fit_chain(database, "x", **timed).counts.tolist() == pairs.tolist()
    with pytest.raises(InputError, match="rows of a database table have no order"):
        fit_chain(database, "x", **options)


@pytest.mark.usefixtures("counts_alone")
def test_several_columns_tell_series_apart_and_dates_have_steps() -> None:
    days = pd.date_range("2024-01-01", periods=6, freq="D")
    frame = pd.DataFrame(
        {"a": [1] * 6 + [1] * 6, "b": ["x"] * 6 + ["y"] * 6, "day": [*days, *days]}
    )
    frame["v"] = [0, 0, 1, 1, 0, 1] * 2
    kinds = {"cuts": [0.5], "length": 9}
    one_day = fit_chain(frame, "v", series=["a", "b"], time="day", step="1 day", **kinds)
    assert one_day.counts.tolist() == [[2, 4], [2, 2]]
    written = frame.assign(day=frame.day.dt.strftime("%d.%m.%Y"))
    kept = {"series": ["a", "b"], "time": "day", "time_format": "%d.%m.%Y", **kinds}
    assert fit_chain(written, "v", step="1 day", **kept).counts.tolist() == [[2, 4], [2, 2]]
    with pytest.raises(InputError, match="time_format is '%Y': expected to stand with the column"):
        fit_chain(written, "v", time_format="%Y", **kinds)
    with pytest.raises(
        InputError, match=r"time is 'day'.*one row of a series at each time: 6 rows"
    ):
        fit_chain(frame, "v", series="a", time="day", step="1 day", **kinds)
    two_days = fit_chain(
        frame.iloc[::2], "v", series=["a", "b"], time="day", step="2 days", **kinds
    )
    assert two_days.counts.tolist() == [[0, 2], [2, 0]]
    with pytest.raises(InputError, match=r"step is '2 days': .*multiples: 10 rows are not so"):
        fit_chain(frame, "v", series=["a", "b"], time="day", step="2 days", **kinds)
    with pytest.raises(UnsupportedError, match="step between two times"):
        fit_chain(frame.iloc[::2], "v", series=["a", "b"], time="day", step="1 day", **kinds)
    with pytest.raises(InputError, match="time in every cell: 12 rows"):
        fit_chain(frame.assign(day="soon"), "v", time="day", step="1 day", **kinds)
    texts = frame.assign(day=[f"2024-01-0{i % 6 + 1}T10:00{'Z' if i else ''}" for i in range(12)])
    with pytest.raises(InputError, match=r"time is 'day'.*offset from UTC"):
        fit_chain(texts, "v", series=["a", "b"], time="day", step="1 day", **kinds)


@pytest.mark.usefixtures("counts_alone")
def test_a_step_of_numbers_is_kept_to_a_millionth() -> None:
    times = [0.0, 0.1, 0.2, 0.30000000000000004, 0.5, 0.7]
    frame = pd.DataFrame({"t": times, "v": [0, 1, 0, 1, 1, 1]})
    fitted = fit_chain(frame, "v", states=[0, 1], time="t", step=0.1, length=9)
    assert fitted.counts.tolist() == [[0, 2], [1, 0]]


def test_the_population_has_the_bounds_and_says_how_sure_they_are() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": walk(rng, 1, 3000)})
    fitted = fit_chain(frame, "x", states=[0, 1], length=365, confidence=0.9999999)
    assert fitted.bounds is not None
    assert fitted.population == MarkovChain(
        transition_lower=fitted.bounds.lower.tolist(),
        transition_upper=fitted.bounds.upper.tolist(),
        length=365,
        source=fitted.population.source,
    )
    assert fitted.bounds.lower.tolist() == transition_bounds(fitted.counts, 1 - 1e-7).lower.tolist()
    assert "confidence 0.9999999," in fitted.population.source
    assert fitted.population.source.startswith(
        "fitted to 2999 transitions of 3000 records in 1 run"
    )
    assert (fitted.bounds.lower < fitted.transition).all()
    assert (fitted.transition < fitted.bounds.upper).all()
    assert load(json.dumps(fitted.population.spec())) == fitted.population
    assert any("confidence 0.9999999" in text for text in fitted.population.assumptions())
    region = fitted.population.leakage(0.5).best
    point = fit_chain(frame, "x", states=[0, 1], length=365, confidence=None)
    assert region.theorem == "markov-intervals"
    assert region.epsilon > point.population.leakage(0.5).best.epsilon
    assert point.bounds is None
    assert "without an allowance" in point.population.source


def test_what_never_occurred_is_said() -> None:
    frame = pd.DataFrame({"x": [0, 1] * 30})
    fitted = fit_chain(frame, "x", states=[0, 1, 2], length=5)
    assert fitted.bounds is not None
    assert fitted.bounds.lower[2].tolist() == [0.0] * 3
    assert fitted.bounds.upper[2].tolist() == [1.0] * 3
    said = {check.name: check for check in fitted.diagnostics}
    assert said["contexts"].sentence.startswith("1 context of 3 never occurred")
    assert said["unseen transitions"].sentence.startswith("4 transitions were never seen")
    assert not said["contexts"].fits
    assert fitted.population.leakage(0.1).best.theorem == "cluster-size"
    assert fitted.estimated()["transition"][2] == [None] * 3
    with pytest.raises(UnsupportedError, match="not a population"):
        fit_chain(frame, "x", states=[0, 1, 2], length=5, confidence=None)
    with pytest.raises(UnsupportedError, match="not a population"):
        fit_chain(pd.DataFrame({"x": [0, 0, 1, 1]}), "x", states=[0, 1], length=5, confidence=None)


def named(fitted: ChainFit, name: str) -> Any:
    return {check.name: check for check in fitted.diagnostics}[name]


def test_the_order_is_found_and_a_lower_one_is_spoken_against() -> None:
    rng = np.random.default_rng(6)
    for order in (1, 2):
        frame = pd.DataFrame({"x": walk(rng, order, 4000)})
        fitted = fit_chain(frame, "x", states=[0, 1], order="auto", length=9)
        assert fitted.order == order
        assert "chosen by BIC" in fitted.population.source
        assert named(fitted, f"order {order + 1} against {order}").fits
    lower = fit_chain(frame, "x", states=[0, 1], order=1, length=9)
    check = named(lower, "order 2 against 1")
    assert not check.fits
    assert check.p_value < 0.01
    assert "fit --order 2" in check.sentence


def test_chains_that_change_or_differ_are_spoken_against() -> None:
    rng = np.random.default_rng(7)
    steady, other = walk(rng, 1, 2000), walk(rng, 1, 2000, other=0.15)
    halves = "first half of the rows against the second"
    for second, fits in ((walk(rng, 1, 2000), True), (other, False)):
        frame = pd.DataFrame({"x": steady + second, "s": [1] * 2000 + [2] * 2000})
        frame["t"] = frame.index
        kinds: dict[str, Any] = {"states": [0, 1], "length": 9}
        assert named(fit_chain(frame, "x", **kinds), halves).fits is fits
        panel = fit_chain(frame, "x", series="s", **kinds)
        assert named(panel, "series against each other").fits is fits
        assert halves not in {check.name for check in panel.diagnostics}
        timed = fit_chain(frame.sample(frac=1, random_state=1), "x", time="t", step=1, **kinds)
        assert named(timed, "first half of the time against the second").fits is fits
    short = fit_chain(frame.assign(s=frame.index // 4), "x", series="s", **kinds)
    assert "not tested (they have 3.0 on average)" in short.diagnostics[1].sentence


def test_the_tests_are_those_of_contingency_tables() -> None:
    rng = np.random.default_rng(8)
    windows = rng.integers(1, 30, size=(3, 3, 3))
    tables = [windows[:, middle, :] for middle in range(3)]
    known = [chi2_contingency(table, lambda_="log-likelihood") for table in tables]
    test = order_test(windows)
    assert test.statistic == pytest.approx(sum(result.statistic for result in known))
    assert test.degrees == sum(result.dof for result in known) == 12
    parts = [windows[0], windows[1]]
    stacked = [np.array([part[row] for part in parts]) for row in range(3)]
    known = [chi2_contingency(table, lambda_="log-likelihood") for table in stacked]
    test = same_transitions(parts)
    assert test.statistic == pytest.approx(sum(result.statistic for result in known))
    assert test.degrees == 6
    windows[0, :, 2] = 0  # a column of zeros has no degree of freedom
    windows[1, :, 2] = windows[2, :, 2] = 0
    assert order_test(windows).degrees == 6
    likely = estimates(windows.sum(axis=0))
    by_window = sum(
        number * np.log(likely[place[1:]]) for place, number in np.ndenumerate(windows) if number
    )
    free = 3 * 2 * np.log(windows.sum())
    assert information(windows, 1) == pytest.approx(-2 * by_window + free)


FRAME = pd.DataFrame({"x": [0.0, 1.0, 5.0, None], "t": [0, 1, 2, 3], "name": list("abab")})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": [0, 1], "cuts": [1]}, "states is .*one way"),
        ({}, "states is .*one way"),
        ({"states": [0, 1]}, "column is 'x'.*1 row is not so"),
        ({"states": [0]}, "states is '1 states'.*Name two"),
        ({"cuts": list(range(300))}, "cuts is '301 states'.*fewer points"),
        ({"cuts": [2, 1]}, "cuts is .*increasing"),
        ({"where": "y > 1"}, "where is 'y'.*Known: x"),
        ({"cuts": [1], "order": 4}, "order is 4"),
        ({"cuts": [1], "order": True}, "order is True"),
        ({"cuts": [1], "length": 0}, "length is 0"),
        ({"cuts": [1], "confidence": 1.5}, "confidence is 1.5"),
        ({"cuts": [1], "step": 1}, "step is 1: expected to stand with"),
        ({"cuts": [1], "gaps": "bridge"}, "gaps is 'bridge': expected to stand with"),
        ({"cuts": [1], "gaps": "fill"}, "gaps is 'fill'"),
        ({"cuts": [1], "missing": "zero"}, "missing is 'zero'"),
        ({"cuts": [1], "time": "t"}, "step is None"),
        ({"cuts": [1], "time": "tt", "step": 1}, "time is 'tt'.*Did you mean 't'"),
        ({"cuts": [1], "series": "nam"}, "series is 'nam'.*Did you mean 'name'"),
        ({"cuts": list(range(150)), "order": 3}, "order is 3.*cells"),
    ],
)
def test_arguments_that_are_wrong_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_chain(FRAME, "x", **{"length": 5, **options})


TWO_DAYS = pd.DataFrame({"t": [0, 2, 4, 8, 10, 16, 18], "x": [0, 1, 1, 0, 1, 1, 0]})


@pytest.mark.usefixtures("counts_alone")
def test_a_bridged_gap_is_a_whole_number_of_steps() -> None:
    options: dict[str, Any] = {"states": [0, 1], "time": "t", "gaps": "bridge", "length": 9}
    by_two = fit_chain(TWO_DAYS, "x", step=2, **options)
    assert by_two.counts.tolist() == [[0, 2], [2, 2]]
    assert str(by_two.population.source).endswith("; a gap that was bridged counts as one step")
    dates = TWO_DAYS.assign(t=pd.Timestamp("2026-01-01") + pd.to_timedelta(TWO_DAYS["t"], "D"))
    assert fit_chain(dates, "x", step="2 days", **options).counts.tolist() == [[0, 2], [2, 2]]
    # 8 is 4 after 4, and not a multiple of 3; nor are two rows closer than a step.
    for step in (3, 4):
        for gaps in ("bridge", "break"):
            with pytest.raises(
                InputError, match=rf"step is {step}.0: .*multiples: \d rows are not"
            ):
                fit_chain(TWO_DAYS, "x", step=step, **{**options, "gaps": gaps})
    with pytest.raises(InputError, match=r"step is '4 days': .*rows are not so\. State the step"):
        fit_chain(dates, "x", step="4 days", **options)
    with pytest.raises(InputError, match=r"step is 2.0: .*multiples: 1 row is not so"):
        fit_chain(TWO_DAYS.assign(t=[0, 2, 4, 7, 9, 11, 13]), "x", step=2, **options)
    with pytest.raises(InputError, match=r"step is 2.0: .*multiples: 1 row is not so"):
        fit_chain(TWO_DAYS.assign(t=[0, 2, 2 + 1e-9, 4, 8, 10, 12]), "x", step=2, **options)


def test_transitions_over_gaps_are_held_against_the_others() -> None:
    rng = np.random.default_rng(8)
    states = [0]
    for _ in range(4000):
        states.append(int(rng.random() < (0.9 if states[-1] else 0.1)))
    days = pd.DataFrame({"t": range(len(states)), "x": states})
    seen = days[rng.random(len(days)) < 0.5]
    options: dict[str, Any] = {"states": [0, 1], "length": 9}
    bridged = fit_chain(seen, "x", time="t", step=1, gaps="bridge", **options)
    check = named(bridged, "over gaps against one step")
    over = int(np.diff(seen["t"]).__gt__(1).sum())
    assert not check.fits
    assert check.sentence.startswith(f"{over} transitions go over gaps, each counted as one step")
    # Rows that are left out without a time are gaps of the same kind.
    hidden = days.assign(x=days["x"].where(days["t"].isin(seen["t"]))).astype({"x": "Int64"})
    dropped = fit_chain(hidden, "x", missing="drop", **options)
    assert dropped.counts.tolist() == bridged.counts.tolist()
    assert named(dropped, check.name).statistic == pytest.approx(check.statistic)
    assert str(dropped.population.source).endswith("counts as one step")
    broken = fit_chain(seen, "x", time="t", step=1, **options)
    assert check.name not in [other.name for other in broken.diagnostics]
    assert "bridged" not in str(broken.population.source)
    whole = fit_chain(days, "x", time="t", step=1, gaps="bridge", **options)
    assert named(whole, check.name).sentence == "No gap was bridged."


def test_cells_that_are_wrong_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"column is 'y'.*Known: name, t, x"):
        fit_chain(FRAME, "y", cuts=[1], length=5)
    with pytest.raises(InputError, match=r"table is 'none\.csv'"):
        fit_chain("none.csv", "y", cuts=[1], length=5)
    with pytest.raises(InputError, match="The table has no rows"):
        fit_chain(FRAME.head(0), "x", cuts=[1], length=5)
    (tmp_path / "texts.csv").write_text("x,s\n1,a\n2,\nmany,b\n")
    with pytest.raises(InputError, match=r"column is 'x'.*1 row is not so"):
        fit_chain(str(tmp_path / "texts.csv"), "x", cuts=[1], length=5)
    with pytest.raises(InputError, match=r"series is \['s'\].*1 row is not so"):
        fit_chain(str(tmp_path / "texts.csv"), "x", states=["1", "2", "many"], series="s", length=5)


@pytest.mark.parametrize("missing", ["break", "drop"])
def test_a_table_without_any_state(missing: Any) -> None:
    empty = FRAME.assign(x=[None] * 4).astype({"x": float})
    with pytest.raises(UnsupportedError, match="0 records in 0 runs"):
        fit_chain(empty, "x", cuts=[1], missing=missing, length=5)
    wrong = FRAME.assign(x=[np.inf, None, None, None])
    with pytest.raises(InputError, match=r"column is 'x'.*1 row is not so"):
        fit_chain(wrong, "x", cuts=[1], missing=missing, length=5)


def test_published_chains(shared_data: Any) -> None:
    def gamma(fitted: ChainFit) -> float:
        return float(fitted.transition.max() / fitted.transition.min())

    steps = str(shared_data("activity") / "activity.csv")
    active: dict[str, Any] = {"where": "steps > 0", "length": 17568}
    joined = fit_chain(steps, "steps", missing="drop", **active)
    assert (joined.records, joined.runs, joined.missing) == (15264, 1, 2304)
    assert gamma(joined) == pytest.approx(7.5042, abs=5e-5)
    check = named(joined, "order 2 against 1")
    assert (round(check.statistic, 1), check.degrees) == (496.7, 2)
    within = fit_chain(steps, "steps", series="date", **active)
    assert gamma(within) == pytest.approx(7.4795, abs=5e-5)
    wheeze = str(shared_data("wheeze_panel") / "wheeze.csv")
    yearly = fit_chain(wheeze, "wheeze", states=[0, 1], series="child", length=4)
    assert yearly.transition.round(4).tolist() == [[0.9132, 0.0868], [0.5361, 0.4639]]
    assert round(named(yearly, "order 2 against 1").statistic, 1) == 24.2
    readings = pd.read_csv(shared_data("glucose") / "glucose.csv")
    sizes = readings.groupby(["subject", "segment"])["minute"].transform("size")
    high: dict[str, Any] = {"where": "glucose_mg_dl > 180", "series": ["subject", "segment"]}
    kept = fit_chain(readings[sizes >= 3], "glucose_mg_dl", length=288, **high)
    assert (kept.records, kept.runs) == (13741, 165)  # as there: segments of three and more
    assert kept.transition.round(4).tolist() == [[0.9884, 0.0116], [0.03, 0.97]]
    assert round(named(kept, "order 2 against 1").statistic, 1) == 30.6


@pytest.mark.parametrize("left_out", ["series", "time", "step"])
def test_a_row_that_is_left_out_refuses_nothing(left_out: str) -> None:
    rows = pd.DataFrame(
        {"s": ["a"] * 6 + ["b"] * 6, "t": [0.0, 1, 2, 3, 4, 5] * 2, "x": [0.0, 1, 1, 0, 1, 0] * 2}
    )
    rows.loc[3, "x"] = None
    if left_out == "series":
        rows.loc[3, "s"] = None
    else:
        rows.loc[3, "t"] = 2.5 if left_out == "step" else None
    options: dict[str, Any] = {"states": [0, 1], "missing": "drop", "length": 9}
    if left_out != "series":
        options |= {"time": "t", "step": 1, "gaps": "bridge"}
    fitted = fit_chain(rows, "x", series="s", **options)
    assert fitted.counts.sum() == 9
    check = named(fitted, "over gaps against one step")
    assert "can't be held against the others" in check.sentence
