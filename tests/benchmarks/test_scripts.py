"""The benchmarks run on the data that are always there, and can fail."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.effort import in_full

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def script(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    source = str(FOLDER.parent / "src")
    environment = {**os.environ, "PYTHONPATH": source, "BAYESDP_SHARED": str(data)}
    command = [sys.executable, str(FOLDER / arguments[0]), *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_verify_beside_a_checkout(tmp_path: Path) -> None:
    root = str(FOLDER.parent)
    done = script("verify.py", "cluster-size", "a delta, clus", "--against", root, data=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["cluster-size", "at"]
    assert all(line[-1] == "x" and line[-3] == line[-5] == "ms" for line in lines)


def test_verify_names_what_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    verify = importlib.import_module("verify")
    assert verify.is_slower(0.016, 0.010)
    assert not verify.is_slower(0.014, 0.010)
    assert verify.is_slower(0.004, 0.002)
    assert not verify.is_slower(0.0008, 0.0004)  # nobody notices


def test_side_channels_are_measured_and_can_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    channels = importlib.import_module("side_channels")
    assert channels.shape({"a": 1.5, "b": "x 7e-3", "c": "0123456789abcdef" * 2}) == channels.shape(
        {"a": -12, "b": "x 8", "c": "fedcba9876543210"}
    )
    assert channels.shape({"a": 1}) != channels.shape({"a": 1, "b": 2})
    monkeypatch.setattr(channels, "CLAIMED", 100.0)
    monkeypatch.setattr(channels, "TABLES", dict([*channels.TABLES.items()][:3]))
    assert channels.main(["--rows", "100", "--turns", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.count(" ms  x ") == len(channels.TABLES) + 3
    monkeypatch.setattr(channels, "CLAIMED", 1.5)
    alike = [(1.0, "#", 10)] * 3
    assert not channels.report("in memory", {"a": alike, "b": [(1.4, "#", 12)] * 3})
    assert channels.report("in memory", {"a": alike, "b": [(1.6, "#", 10)] * 3})
    assert channels.report("in memory", {"a": alike, "b": [(0.5, "#", 10)] * 3})
    assert channels.report("text", {"a": alike, "b": [(1.0, "# #", 10)] * 3})


def test_networks_name_what_takes_longer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    networks = importlib.import_module("networks")
    taken = {"leakage": 1.0, "check": 3.0, "release": 5.1, "verify": 2.5, "explain": 0.5}
    monkeypatch.setattr(networks, "seconds", lambda folder, command, *rest: taken[command])
    assert networks.main(["40", "--turns", "1"]) == 1
    failing = [line for line in capsys.readouterr().out.splitlines() if "FAILS" in line]
    assert [line.split()[1:3] for line in failing] == [
        ["release", "5.10"],
        ["release", "--report"],
    ]
    taken["release"] = 3.7
    assert networks.main(["40", "--turns", "1"]) == 0


def test_the_pedigree_of_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesdp.populations import Network

    monkeypatch.syspath_prepend(str(FOLDER))
    pedigree = importlib.import_module("networks").pedigree
    network = Network(nodes=pedigree(2983))
    assert network.records == 2983
    assert {len(node.parents) for node in network.nodes} == {0, 2}
    assert pedigree(2983) == pedigree(2983)


def test_fits_name_what_takes_longer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    fits = importlib.import_module("fits")
    # Processor seconds of counting, and of the fit, beside 1 for plain and 2 for by hand.
    slow_counting, slow_fit, shuffled = (3.1, 5.0), (3.0, 5.1), (9.0, 99.0)
    measured = iter([(3.0, 5.0), slow_counting, slow_fit, shuffled] * 2)

    def once(turns: int, *actions: Callable[[], object]) -> list[Any]:
        for action in actions:
            action()
        counted, fit = next(measured)
        return [
            fits.Seconds(wall, seconds)
            for wall, seconds in zip((1, 9, 9, 99), (1, 2, counted, fit), strict=True)
        ]

    monkeypatch.setattr(fits, "best", once)
    assert fits.main(["--rows", "5000"]) == 0  # nothing is claimed for so few rows
    monkeypatch.setattr(fits, "LEAST_ROWS", 5000)
    capsys.readouterr()
    assert fits.main(["--rows", "5000"]) == 1
    failing = [line for line in capsys.readouterr().out.splitlines() if "FAILS" in line]
    assert [line.split(",")[0] for line in failing] == ["series", "series and times"]


@pytest.mark.parametrize("shuffled", [False, True])
def test_windows_by_hand_are_those_that_are_counted(
    shuffled: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    fits = importlib.import_module("fits")
    path = tmp_path / "readings.parquet"
    fits.write(path, 5000, shuffled)
    for name, layout in fits.LAYOUTS.items():
        if shuffled and name != "shuffled":
            continue
        counts = fits.chains_of(path, layout).count(2).tables[2]
        by_hand = {row[2::-1]: row[3] for row in fits.by_hand(path, layout, shuffled)()}
        for window, number in np.ndenumerate(counts):
            assert by_hand[tuple(map(bool, window))] == number > 0


def test_fits_are_measured_by_the_clock_and_on_all_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    fits = importlib.import_module("fits")
    clocks = {
        "perf_counter": iter([0, 5, 10, 11, 20, 22, 30, 37]),
        "process_time": iter([0, 3, 4, 8, 9, 10, 11, 19]),
    }
    for clock, ticks in clocks.items():
        monkeypatch.setattr(fits.time, clock, lambda ticks=ticks: next(ticks))
    turns: list[str] = []
    first, second = fits.best(2, lambda: turns.append("a"), lambda: turns.append("b"))
    assert turns == ["a", "b", "a", "b"]
    assert (first, second) == (fits.Seconds(2, 1), fits.Seconds(1, 4))


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("noise")


def test_noise_without_the_real_data(tmp_path: Path) -> None:
    done = script(
        "noise.py", "wheeze", "glucose", "--figure", str(tmp_path / "n.svg"), data=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "left out: glucose, its data set is absent" in done.stdout
    assert "wheeze, four years: adversaries who know no record" in done.stdout
    assert "published: MQMExact" in done.stdout
    assert done.stdout.count("derived: influence curve, least") == 1  # not beside `any`
    (order_2,) = [line for line in done.stdout.splitlines() if "order 2, uninformed" in line]
    assert order_2.split()[3:5] == ["0.5614", "3.5913"]


def test_delta_without_the_real_data(tmp_path: Path) -> None:
    done = script("delta.py", "wheeze", "glucose", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: glucose, its data set is absent" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if "four years" in line]
    assert {row[-1] for row in rows} == {"markov-recursion"}
    assert all(float(row[-2]) < 0.9 for row in rows)


def test_lange_without_the_real_data(tmp_path: Path) -> None:
    done = script("lange.py", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: Activity" in done.stdout
    assert "SyntheticIQ, sum, 40..160: n = 20000" in done.stdout


def test_attacks_without_the_real_data(tmp_path: Path) -> None:
    done = script("attacks.py", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: activity" in done.stdout


def test_the_figure_of_attacks_is_the_one_in_the_documentation(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    drawn = tmp_path / "figure.svg"
    folder = shared_data("activity")
    done = script("attacks.py", "--figure", str(drawn), data=folder.parents[1])
    assert done.returncode == 0, done.stderr
    kept = FOLDER.parent / "docs" / "attack-on-activity.svg"
    assert drawn.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_attacks_name_what_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    attacks = importlib.import_module("attacks")
    line = attacks.Line(1, 1.0, "plain", 1.0, 3.4, 0.6, 0.8, 3.5)
    safe = attacks.Line(1, 1.0, "calibrated", 0.25, 0.9, 0.0, 0.7, 1.0)
    assert attacks.faults([line, safe]) == []
    from dataclasses import replace

    assert len(attacks.faults([replace(line, largest=0.9)])) == 1
    assert len(attacks.faults([replace(safe, largest=1.1)])) == 1
    assert len(attacks.faults([replace(safe, count=1.1)])) == 1


def test_attacks_on_a_made_up_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that stays where it is: plain DP leaks more than its level, the other doesn't."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import numpy as np

    attacks = importlib.import_module("attacks")
    rng = np.random.default_rng(2)
    steps = rng.random(1500) < 0.1
    active = np.cumsum(steps) % 2
    plain, calibrated = attacks.measure(active, 1, 1.0)
    assert attacks.faults([plain, calibrated]) == []
    assert plain.right > calibrated.right
    assert calibrated.above == 0.0


def test_series_of_a_few_periods() -> None:
    done = script("series.py", "12", "100", data=FOLDER)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["gaussian", "cumulative", "100", "0.332", "0.253", "square-root"] in rows
    assert ["laplace", "ranges", "12", "1.85", "-", "identity"] in rows


def test_a_bound_below_ours_is_a_failure(noise: ModuleType) -> None:
    actual = noise.Found("case", "any", "any", 3, ours={"a": (2.0, None), "b": (1.5, None)})
    actual.published = {"theirs": (1.5, 9.0)}
    noise._compare(actual, (1.0, 2.0))
    assert actual.best == (1.5, None)
    assert [fault.split(", ")[2] for fault in actual.faults] == ["target 2: ours None"]
    actual.published = {"theirs": (1.4999, None)}
    noise._compare(actual, (1.0, 2.0))
    assert len(actual.faults) == 2
    actual.unsound = {"theirs": "why not"}
    noise._compare(actual, (1.0, 2.0))
    assert len(actual.faults) == 2
    actual.derived = {noise.CURVE: (1.4, None)}
    noise._compare(actual, (1.0, 2.0))
    assert noise.CURVE in actual.faults[2]


def test_who_needs_the_least_noise_is_named(noise: ModuleType) -> None:
    actual = noise.Found("case", "any", "any", 3, ours={"a": (2.0, 2.0, 2.0, None, None)})
    actual.published = {"theirs": (2.1, 1.9, 2.00001, 3.0, None), "wrong": (1.0,) * 5}
    actual.derived = {noise.CURVE: (2.2, 1.8, 2.1, None, None)}
    actual.unsound = {"wrong": "why"}
    assert list(actual.least()) == ["bayesdp", noise.CURVE, "tie", "theirs", "-"]


def test_published_formulas(noise: ModuleType) -> None:
    """The values that the papers and the theory print."""
    import numpy as np

    table = np.array([[0.88241, 0.11759], [0.30471, 0.69529]])
    chain = noise.given_chain("", table, 17568)
    lines = noise.published(chain, "uninformed", (1.0, 10.0))
    assert lines["group privacy"] == (17568.0, 17568.0)
    assert lines["Lange et al."][0] is None
    assert lines["Lange et al."][1] == pytest.approx(5.159, abs=5e-4)
    assert set(noise.published(chain, "any", (1.0,))) == {"group privacy", "Lange et al."}


@pytest.mark.prove
@pytest.mark.parametrize(
    ("case", "multipliers"),
    [
        ("house, above 25 kWh, order 2", {"any": 4.4538, "uninformed": 4.4023}),
        ("uci, above 25 kWh, order 2", {"any": 6.1043, "uninformed": 6.0247}),
    ],
)
def test_electricity_of_order_two_at_level_1(
    case: str,
    multipliers: dict[str, float],
    noise: ModuleType,
    request: pytest.FixtureRequest,
) -> None:
    if not in_full():
        # The best against uninformed adversaries has no contexts; that they are no better, few say.
        request.getfixturevalue("few_contexts")
    chains = {source.name: source for source in noise.SOURCES["electricity"]()}
    if case not in chains:
        pytest.skip("the data set is absent")
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for adversary, due in multipliers.items():
        assert f" {due:.2f} |" in page
        if not in_full() and (adversary == "any" or case.startswith("uci")):
            continue  # half a minute
        actual = noise.measure(chains[case], adversary, (1.0,))
        # Against any adversary a busy machine has time for fewer contexts.
        within = {"rel": 0.08} if adversary == "any" else {"abs": 1e-4}
        assert actual.best == (pytest.approx(due, **within),)
        assert not actual.faults


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("programs")


def test_programs_quickly(tmp_path: Path) -> None:
    done = script("programs.py", "--quick", "--runs", "6", data=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for method in (
        "exponential mechanism", "randomized response", "noisy count", "noisy sum", "clusters",
        "logistic regression", "Poisson regression", "hierarchy", "noisy transitions",
    ):  # fmt: skip
        assert method in done.stdout
    # Methods that answer for their intervals or not, and what they would say without noise.
    assert "88 coverages held against their bands, 0 failures" in done.stdout


def test_a_posterior_that_forgets_the_noise_fails(programs: ModuleType) -> None:
    """The band can be left: `plug_in` in the place of `noise_aware`."""
    from dataclasses import replace
    from fractions import Fraction

    honest = programs.METHODS["count"]
    level = Fraction(1, 10)
    try:
        programs.METHODS["count"] = replace(honest, program="coin_plain")
        (cell,) = programs.measure(("count", 100, level, "", 100))
    finally:
        programs.METHODS["count"] = honest
    faults = programs.failures(list(programs.tests_of(cell)))
    assert any("90% hold the truth" in fault and "private" in fault for fault in faults)
    assert not any("without privacy" in fault for fault in faults)
    assert cell.private.error(0) > 1.5 * cell.plain.error(0)


def test_bands_are_as_wide_as_the_false_alarms_allow(programs: ModuleType) -> None:
    from scipy import stats

    share = programs.FALSE_ALARM / 100
    inside = [k for k in range(1001) if not programs.Test("", k, 1000, 0.9).fails(share)]
    assert inside == list(range(inside[0], inside[-1] + 1))
    law = stats.binom(1000, 0.9)
    assert law.cdf(inside[0] - 1) + law.sf(inside[-1]) <= share
    assert law.cdf(inside[0]) > share / 2
    assert law.sf(inside[-1] - 1) > share / 2


def test_a_posterior_that_forgets_dependence_fails(programs: ModuleType) -> None:
    """Clusters of four, whose records are taken for independent."""
    from dataclasses import replace
    from fractions import Fraction

    honest = programs.METHODS["clusters"]
    try:
        programs.METHODS["clusters"] = replace(honest, program="mean_aware")
        (cell,) = programs.measure(("clusters", 1000, Fraction(10), "", 200))
    finally:
        programs.METHODS["clusters"] = honest
    faults = programs.failures(list(programs.tests_of(cell)))
    assert any("90% hold the truth" in fault and "private" in fault for fault in faults)
    assert not any("without privacy" in fault for fault in faults)


def test_answers_drawn_at_once_follow_the_channel(programs: ModuleType) -> None:
    """Within six standard deviations of the mechanism's own probabilities, for each true answer."""
    import numpy as np

    many, level = 200_000, 1.0
    codes = [0] * many + [1] * many
    actual = programs.Quick(np.random.default_rng(0)).respond(codes, 2, level)
    channel = programs.response(2, level).channel()
    for code in (0, 1):
        said = float((actual[code * many : (code + 1) * many] == 1).mean())
        due = channel[code][1]
        assert abs(said - due) < 6 * (due * (1 - due) / many) ** 0.5


def test_shapes_that_moments_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    shapes = importlib.import_module("shapes")
    for family in shapes.FAMILIES:
        for shape in ("even", "the bounds alone"):
            off, records = shapes.measure(family, shape, (-1.0, 2.0))
            assert abs(off).max() < 1e-3
            assert records > 1e6
        off, records = shapes.measure(family, "0 and 1", (-1.0, 2.0))
        assert off[1] > 0.5
        assert records < 100
        off, records = shapes.measure(family, "two, apart", (-1.0, 2.0))
        assert abs(off).max() < 1e-3
        assert records > 1e6
        off, records = shapes.measure(family, "x and its square", (0.0, 1.0))
        assert off[1] > 0.03
        assert records < 2000


def test_intervals_of_coverages_are_those_of_clopper_and_pearson(programs: ModuleType) -> None:
    """The ends are the shares under which so few, and so many, have a chance of 2.5 %."""
    from scipy import stats

    low, high = programs.within(258, 300)
    assert stats.binom(300, low).sf(257) == pytest.approx(0.025)
    assert stats.binom(300, high).cdf(258) == pytest.approx(0.025)
    assert programs.within(0, 20)[0] == 0.0
    assert programs.within(20, 20) == (pytest.approx(0.8316, abs=1e-4), 1.0)


def test_walkers_keep_as_many_steps_as_before(programs: ModuleType) -> None:
    before = programs.ensemble.KEPT

    @programs.fewer_steps()
    def fails() -> None:
        assert programs.KEPT == programs.ensemble.KEPT < before
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert before == programs.ensemble.KEPT
