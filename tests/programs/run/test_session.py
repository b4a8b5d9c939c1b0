"""The whole way: checked, debited, run once, stored."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from bayesdp import kernel
from bayesdp.accounting import Ledger
from bayesdp.accounting.costs.composition import level
from bayesdp.errors import (
    BudgetExceededError,
    FailedError,
    InputError,
    LedgerError,
    Refusal,
    TableMismatchError,
)
from bayesdp.programs import ProgramSource
from bayesdp.programs.run import run, spends_of
from bayesdp.programs.run.machine.readiness import Rehearsal
from bayesdp.programs.run.tables.loading import load
from tests.programs.run.helpers import IMPORTS, Noted, accepted, run_on

COIN = """
@program
def coin(obs: Database[Bool]) -> Private[Int]:
    return laplace(count(obs), epsilon=0.5)
"""
MEAN = """
@record
class R:
    x: Real[0, 10]
    region: Public[Category["n", "s"]]
@program
def mean(db: Database[R]) -> Private[Real]:
    return laplace(sum(clip(r.x, 2, 6) for r in db) / db.size, epsilon=0.5)
"""
MIXED = """
@program
def f(db: Database[Real[0, 1]]) -> Private[tuple[Real, Real]]:
    first = gaussian(sum(db), epsilon=1, delta=1e-6)
    if first > 2:
        second = gaussian(sum(db), epsilon=0.5, delta=1e-6)
    else:
        second = laplace(sum(db), epsilon=0.25)
    return first, second
"""
TABLE = [True, True, False]


def ledger_at(path: Path) -> Ledger:
    return Ledger(str(path), level=level)


def test_runs_once_after_the_debit(tmp_path: Path) -> None:
    core, verdict = accepted(COIN)
    path = tmp_path / "ledger.db"
    kept = {"ledger": path, "dataset": "coins", "dp_epsilon": 1.0}
    outcome = run(core, verdict, TABLE, **kept)  # type: ignore[arg-type]
    assert isinstance(outcome.value, int)
    (dataset,) = ledger_at(path).show()
    assert dataset["spent"] == 0.5
    assert dataset["releases"][0]["id"] == outcome.release_id
    assert dataset["releases"][0]["result"] == outcome.to_dict()
    run(core, None, TABLE, **kept)  # type: ignore[arg-type]
    noted = Noted()
    with pytest.raises(BudgetExceededError):
        run(core, verdict, TABLE, samplers=noted, **kept)  # type: ignore[arg-type]
    assert noted.seen == []
    assert ledger_at(path).show()[0]["spent"] == 1.0


def test_no_ledger_no_run() -> None:
    core, verdict = accepted(COIN)
    for missing in ({}, {"ledger": "x.db"}, {"ledger": "x.db", "dataset": "d"}):
        with pytest.raises(InputError):
            run(core, verdict, TABLE, **missing)  # type: ignore[arg-type]


def test_a_verdict_of_another_program_is_refused(tmp_path: Path) -> None:
    core, verdict = accepted(COIN)
    other, cheap = accepted(COIN.replace("0.5", "0.001"))
    kept = {"ledger": tmp_path / "l.db", "dataset": "coins", "dp_epsilon": 1.0}
    for wrong in (cheap, replace(verdict, verdict="REJECTED")):
        with pytest.raises(InputError, match="verdict"):
            run(core, wrong, TABLE, **kept)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="REJECTED"):
        run_on(core, replace(verdict, verdict="REJECTED"), load(core, TABLE))
    assert not (tmp_path / "l.db").exists()
    del other


def test_a_rejected_program_never_runs(tmp_path: Path) -> None:
    from bayesdp.programs.source import core_of, read_text

    text = COIN.replace("epsilon=0.5", "epsilon=0.5, sensitivity=0.5")
    core = core_of(read_text(IMPORTS + text, "test"), None, {})
    with pytest.raises(Refusal, match="REJECTED"):
        run(core, None, TABLE, ledger=tmp_path / "l.db", dataset="d", dp_epsilon=1.0)


def test_a_table_that_doesn_t_fit_costs_nothing_and_leaves_a_trace(tmp_path: Path) -> None:
    core, verdict = accepted(COIN)
    kept = {"ledger": tmp_path / "l.db", "dataset": "coins", "dp_epsilon": 1.0}
    with pytest.raises(TableMismatchError):
        run(core, verdict, [True, None], **kept)  # type: ignore[arg-type]
    book = ledger_at(tmp_path / "l.db")
    assert [refusal["study"] for refusal in book.refusals()] == ["coin"]
    assert book.show() == []


def test_preconditions_are_held_before_the_debit(tmp_path: Path) -> None:
    core, verdict = accepted(COIN.replace("    return", "    require(obs.size >= 5)\n    return"))
    kept = {"ledger": tmp_path / "l.db", "dataset": "coins", "dp_epsilon": 1.0}
    with pytest.raises(InputError, match="preconditions"):
        run(core, verdict, TABLE, **kept)  # type: ignore[arg-type]
    assert not (tmp_path / "l.db").exists()


TINY = {
    "laplace": "return laplace(sum(db), epsilon=1e-40)",
    "laplace after another": """first = laplace(sum(db), epsilon=1)
    return laplace(count(x for x in db if x > 0.5), epsilon=1e-40)""",
    "the side of a branch": """first = laplace(sum(db), epsilon=1)
    if first > 1000:
        second = laplace(sum(db), epsilon=1e-40)
    else:
        second = first
    return second""",
    "the other side": """first = laplace(sum(db), epsilon=1)
    if first > 1000:
        second = first
    else:
        second = laplace(sum(db), epsilon=1e-40)
    return second""",
    "gaussian": "return gaussian(sum(db), epsilon=1, delta=1e-6, sigma=10 ** 40)",
    "exponential": """return exponential(
        score=lambda k: -abs(sum(db) - k), candidates=range(3), epsilon=1e-40)""",
    "hellinger": """model = observe((x > 0.5 for x in db), bernoulli, prior=beta(1, 1))
    return exponential(score=hellinger(infer(model)),
        candidates=posteriors_of(beta(1, 1), n=db.size), epsilon=1e-40)""",
    "posterior sample": """model = observe((x > 0.5 for x in db), bernoulli, prior=beta(1, 1))
    return posterior_sample(model, grid=linspace(0.1, 0.9, 9), power=1e-40,
        log_likelihood=(-5, 0))""",
}
BETWEEN = """
@program
def f(db: Database[Real[0, 1]]) -> Private[TYPE]:
    BODY
"""


def _between(body: str) -> str:
    kind = "Beta" if "hellinger" in body else "Real"
    return BETWEEN.replace("TYPE", kind).replace("BODY", body)


@pytest.mark.parametrize("name", TINY)
def test_noise_that_no_sampler_takes_costs_nothing(name: str, tmp_path: Path) -> None:
    core, verdict = accepted(_between(TINY[name]))
    noted = Noted()
    with pytest.raises(InputError, match="noise"):
        run(core, verdict, [0.5] * 8, ledger=tmp_path / "l.db", dataset="d", dp_epsilon=9.0,
            dp_delta=1e-5, samplers=noted)  # fmt: skip
    assert noted.seen == []
    assert not (tmp_path / "l.db").exists()


def test_a_side_that_the_size_rules_out_is_not_rehearsed(tmp_path: Path) -> None:
    core, verdict = accepted(
        _between("""if db.size > 100:
        value = laplace(sum(db), epsilon=1e-40)
    else:
        value = laplace(sum(db), epsilon=1)
    return value""")
    )
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    run(core, verdict, [0.5] * 8, **kept)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="noise"):
        run(core, verdict, [0.5] * 101, **kept)  # type: ignore[arg-type]
    assert ledger_at(tmp_path / "l.db").show()[0]["spent"] == 1.0


def test_a_scale_that_a_released_value_decides_is_known_after_the_debit(tmp_path: Path) -> None:
    core, verdict = accepted(
        _between("""first = laplace(sum(db), epsilon=1)
    return laplace(sum(db) * clip(first, 0, 1), epsilon=1e-40)""")
    )
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    with pytest.raises(FailedError, match=r"Paid: epsilon 1.*kept in the ledger.*: laplace_1"):
        run(core, verdict, [0.5] * 8, samplers=Noted(), **kept)  # type: ignore[arg-type]
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert dataset["spent"] == pytest.approx(1.0)
    assert dataset["releases"][0]["result"] == {"releases": {"laplace_1": {"value": 4}}}


SHARES = """
@record
class R:
    x: Bool
    region: Public[Category["n", "s"]]
@program
def shares(db: Database[R]) -> Private[tuple[Real, ...]]:
    found = ()
    for _, piece in partition(db, by="region"):
        n = laplace(count(r for r in piece if r.x), epsilon=0.5)
        found = found + (1 / n, n / piece.size)
    return found
"""


def test_a_released_count_of_0_is_no_divisor_and_stays_released(tmp_path: Path) -> None:
    core, verdict = accepted(SHARES)
    assert ["line 12 may be 0" in note for note in verdict.notes] == [True]
    table = {"x": [True, False, False], "region": ["n", "n", "s"]}
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    with pytest.raises(FailedError, match=r"a divisor is 0.*max\(n, 1\)"):
        run(core, verdict, table, samplers=Noted(), **kept)  # type: ignore[arg-type]
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert dataset["spent"] == 0.5
    released = dataset["releases"][0]["result"]["releases"]
    assert [value["value"] for value in released.values()] == [1, 0]


def test_an_empty_piece_is_no_divisor_and_costs_nothing(tmp_path: Path) -> None:
    core, verdict = accepted(SHARES)
    table = {"x": [True, False], "region": ["n", "n"]}
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    with pytest.raises(InputError, match="a divisor is 0"):
        run(core, verdict, table, samplers=Noted(), **kept)  # type: ignore[arg-type]
    assert not (tmp_path / "l.db").exists() or not ledger_at(tmp_path / "l.db").show()


def test_what_is_not_come_to_divides_by_nothing(tmp_path: Path) -> None:
    """The side that divides by an empty piece's size is taken for others only."""
    core, verdict = accepted(
        SHARES.replace(
            "found = found + (1 / n, n / piece.size)",
            "found = found + ((n / piece.size) if n > 0 else 0,)",
        )
    )
    table = {"x": [True, False], "region": ["n", "n"]}
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    assert run(core, verdict, table, samplers=Noted(), **kept).value == (0.5, 0)  # type: ignore[arg-type]


def test_the_rehearsal_reads_no_private_cell() -> None:
    """The same scales for every table, and private columns are not even handed over."""
    core, verdict = accepted(MEAN)
    rows = load(core, {"x": [1.0, 5.0], "region": ["n", "s"]})
    rehearsal = Rehearsal(core, verdict, rows)
    assert set(rehearsal.values.rows.columns) == {"region"}
    assert rehearsal.private.rows.rows.columns["x"].tolist() == [0.0]
    asked, seen = Noted(), Noted()
    rehearsal.samplers = asked
    rehearsal.run()
    run_on(core, verdict, rows, samplers=seen)
    assert [case[2] for case in asked.seen] == [case[2] for case in seen.seen]


def test_public_columns_stay_public(tmp_path: Path) -> None:
    core, verdict = accepted(MEAN)
    table = {"x": [1.0, 5.0], "region": ["n", "s"]}
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    run(core, verdict, table, **kept)  # type: ignore[arg-type]
    other, second = accepted(MEAN.replace('Public[Category["n", "s"]]', 'Category["n", "s"]'))
    run(other, second, table, **kept)  # type: ignore[arg-type]  # not read, so not protected
    third, third_verdict = accepted(
        MEAN.replace('Public[Category["n", "s"]]', 'Category["n", "s"]').replace(
            "for r in db)", 'for r in db if r.region == "n")'
        )
    )
    with pytest.raises(LedgerError, match="region"):
        run(third, third_verdict, table, **kept)  # type: ignore[arg-type]


COUNT = """
@record
class R:
    x: Real[0, 10]
    region: Public[Category["n", "s"]]
@program(adjacency="add-remove")
def mean(db: Database[R]) -> Private[Int]:
    return laplace(count(r for r in db if r.x > 2), epsilon=0.5)
"""


def test_no_column_is_public_where_records_enter_and_leave(tmp_path: Path) -> None:
    table = {"x": [1.0, 5.0], "region": ["n", "s"]}
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0}
    run(*accepted(COUNT), table, **kept)  # type: ignore[arg-type]
    hidden = COUNT.replace('Public[Category["n", "s"]]', 'Category["n", "s"]')
    run(*accepted(hidden.replace("r.x > 2", 'r.region == "n"')), table, **kept)  # type: ignore[arg-type]
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert dataset["spent"] == 2.0


def test_what_was_released_before_a_failure_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, verdict = accepted("""
@program
def coin(obs: Database[Bool]) -> Private[Beta]:
    noisy = laplace(statistics(observe(obs, bernoulli, prior=beta(1, 1))), epsilon=1)
    return noise_aware(noisy)
""")
    from bayesdp.programs.run.posteriors import from_releases

    def fails(*_: object) -> None:
        raise MemoryError("of a posterior")

    monkeypatch.setattr(from_releases, "derived", fails)
    with pytest.raises(FailedError, match=r"MemoryError: of a posterior\). Paid: epsilon 1\."):
        run(core, verdict, TABLE, ledger=tmp_path / "l.db", dataset="d", dp_epsilon=1.0,
            samplers=Noted())  # fmt: skip
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert dataset["spent"] == 1.0
    assert dataset["releases"][0]["result"] == {"releases": {"laplace_1": {"value": 2}}}


def test_a_failure_before_anything_is_released_quotes_no_cell(tmp_path: Path) -> None:
    class Broken(Noted):
        def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
            raise ValueError(f"can't take {values}")

    core, verdict = accepted(_between("return laplace(sum(db), epsilon=1)"))
    with pytest.raises(FailedError, match="Nothing had been released") as caught:
        run(core, verdict, [0.5] * 8, ledger=tmp_path / "l.db", dataset="d", dp_epsilon=1.0,
            samplers=Broken())  # fmt: skip
    assert "ValueError" in str(caught.value)
    assert "take" not in "".join(traceback.format_exception(caught.value))
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert dataset["spent"] == 1.0


def test_a_result_that_is_not_finite_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, verdict = accepted("""
@program
def coin(obs: Database[Bool]) -> Private[Beta]:
    return plug_in(laplace(statistics(observe(obs, bernoulli, prior=beta(1, 1))), epsilon=1))
""")
    from bayesdp.programs.run.posteriors import from_releases
    from bayesdp.programs.run.results import distributions

    monkeypatch.setattr(
        from_releases, "derived", lambda *_: distributions.single("normal", float("nan"), 1.0)
    )
    with pytest.raises(FailedError, match=r"finite numbers.*laplace_1"):
        run(core, verdict, TABLE, ledger=tmp_path / "l.db", dataset="d", dp_epsilon=1.0)
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert set(dataset["releases"][0]["result"]) == {"releases"}


def test_spends_of_pure_programs() -> None:
    core, verdict = accepted(MEAN)
    (spend,) = spends_of(verdict, core, dataset="d")
    assert (spend.dp_epsilon, spend.rho) == (0.5, 0.0)
    assert spend.reads == ("x",)
    if verdict.kind == "lipschitz":
        assert (spend.column, spend.interval) == ("x", (2.0, 6.0))
        assert 0 < spend.slack < 1e-8
        # What the kernel reckons with too: two steps for a record that moves (theory 8.5).
        assert spend.slack >= float(Fraction(1, 2) * kernel.program_slack(verdict.interval))
    core, verdict = accepted(COIN)
    (spend,) = spends_of(verdict, core, dataset="d", names={"": "toss"})
    assert spend.reads == ("toss",)
    assert spend.kind == "any"


def test_spends_with_a_delta_are_zcdp_and_pure() -> None:
    core, verdict = accepted(MIXED)
    assert verdict.dp_delta == Fraction(2, 10**6)
    pure, gauss = spends_of(verdict, core, dataset="d", n=10)
    assert (pure.dp_epsilon, pure.rho) == (0.25, 0.0)
    assert gauss.dp_epsilon == 0.0
    # The dearer side of the branch, in zCDP: what the scales that are really used say.
    noted = Noted()
    actual = run_on(core, verdict, load(core, [0.9] * 10), samplers=noted)
    assert actual.outputs == pytest.approx((9.0, 9.0))
    unit = max(abs(item) for _, (item,), _ in noted.seen) / 9.0
    scales = [scale / unit for _, _, scale in noted.seen]
    assert sum(1 / (2 * scale**2) for scale in scales) == pytest.approx(gauss.rho, rel=1e-6)
    assert sum(1 / (2 * scale**2) for scale in scales) <= gauss.rho


@pytest.mark.parametrize(
    "factor", ["clip(noisy, 0, 3)", "clip(count(r for r in db if r.out), 1, 3)", "(1 + db.size)"]
)
def test_the_cost_of_gaussian_noise_is_known_before_what_scales_it(factor: str) -> None:
    text = """
@record
class R:
    smokes: Bool
    out: Public[Bool]
@program
def f(db: Database[R]) -> Private[Real]:
    noisy = laplace(count(r for r in db if r.smokes), epsilon=1)
    return gaussian(count(r for r in db if r.smokes) * FACTOR, epsilon=1, delta=1e-6)
"""
    core, verdict = accepted(text.replace("FACTOR", factor))
    pure, gauss = spends_of(verdict, core, dataset="d", n=8)
    assert pure.dp_epsilon == 1.0
    rows = load(core, {"smokes": [True] * 6 + [False] * 2, "out": [True, False] * 4})
    noted = Noted()
    run_on(core, verdict, rows, samplers=noted)
    (_, (value,), scale) = noted.seen[-1]
    moved = abs(value) / 6  # six records, so one of them moves the sum by a sixth of it
    assert moved**2 / (2 * scale**2) <= gauss.rho
    assert moved**2 / (2 * scale**2) == pytest.approx(gauss.rho, rel=1e-6)


def test_add_remove_programs_are_kept_at_what_a_replaced_record_costs() -> None:
    text = """
@program(adjacency="add-remove")
def f(db: Database[Bool]) -> Private[tuple[Int, Int]]:
    first = gaussian(count(x for x in db if x), epsilon=1, delta=1e-6)
    return first, laplace(count(x for x in db if x), epsilon=0.25)
"""
    core, verdict = accepted(text)
    other, replaced = accepted(text.replace('(adjacency="add-remove")', ""))
    twice, once = spends_of(verdict, core, dataset="d"), spends_of(replaced, other, dataset="d")
    assert [item.dp_epsilon for item in twice] == [0.5, 0.0]
    assert [item.dp_epsilon for item in once] == [0.25, 0.0]
    assert twice[1].rho == pytest.approx(4 * once[1].rho)


PIECES = """
@record
class R:
    smokes: Bool
    region: COLUMN
@program(adjacency="ADJACENCY")
def f(db: Database[R]) -> Private[Int]:
    for _, piece in partition(db, by="region"):
        last = gaussian(count(r for r in READ if r.smokes), epsilon=1, delta=1e-6)
    return last
"""


def pieces(region: str, adjacency: str, read: str) -> str:
    """Gaussian noise on a count of each region; `region` is Public or Private."""
    labels = 'Category["n", "s"]'
    column = f"Public[{labels}]" if region == "Public" else labels
    return PIECES.replace("COLUMN", column).replace("ADJACENCY", adjacency).replace("READ", read)


@pytest.mark.parametrize(
    ("region", "adjacency", "read", "times"),
    [
        ("Public", "replace-one", "piece", 1),  # no record moves from one piece to the other
        ("Public", "replace-one", "db", 2),
        ("Private", "replace-one", "piece", 2),  # a record that moves changes both counts
        ("Private", "replace-one", "db", 2),
        ("Public", "add-remove", "piece", 4),  # two changes, each of one piece
        ("Private", "add-remove", "piece", 4),
        ("Private", "add-remove", "db", 8),
    ],
)
def test_gaussian_noise_on_pieces_adds_up_where_a_record_is_in_several(
    region: str, adjacency: str, read: str, times: int
) -> None:
    """In units of what one of the counts costs: half a squared shift over the variance."""
    core, verdict = accepted(pieces(region, adjacency, read))
    (spend,) = spends_of(verdict, core, dataset="d", n=8)
    noted = Noted()
    rows = load(core, {"smokes": [True] * 8, "region": ["n", "s"] * 4})
    run_on(core, verdict, rows, samplers=noted)
    (scale,) = {scale for _, _, scale in noted.seen}
    assert spend.rho >= times / (2 * scale**2)
    assert spend.rho == pytest.approx(times / (2 * scale**2), rel=1e-6)


def test_a_column_is_protected_where_records_enter_and_leave(tmp_path: Path) -> None:
    """Whatever the program says: the ledger then lets no other treat it as public."""
    table = {"smokes": [True] * 8, "region": ["n", "s"] * 4}
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 9.0, "dp_delta": 1e-3}
    run(*accepted(pieces("Public", "add-remove", "piece")), table, **kept)  # type: ignore[arg-type]
    (before,) = ledger_at(tmp_path / "l.db").show()
    with pytest.raises(InputError, match="region"):
        run(*accepted(pieces("Public", "replace-one", "piece")), table, **kept)  # type: ignore[arg-type]
    run(*accepted(pieces("Private", "replace-one", "piece")), table, **kept)  # type: ignore[arg-type]
    (after,) = ledger_at(tmp_path / "l.db").show()
    assert len(after["releases"]) == len(before["releases"]) + 1


def test_a_program_with_a_delta_is_debited(tmp_path: Path) -> None:
    core, verdict = accepted(MIXED)
    kept = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 3.0, "dp_delta": 1e-5}
    run(core, verdict, [0.5] * 8, **kept)  # type: ignore[arg-type]
    (dataset,) = ledger_at(tmp_path / "l.db").show()
    assert dataset["spent"] == 0.25
    assert dataset["spent_rho"] > 0
    assert dataset["readings"][0]["level"] <= 3.0


def test_from_a_file_in_python(tmp_path: Path) -> None:
    path = tmp_path / "coin.py"
    path.write_text(IMPORTS + COIN)
    scope: dict[str, object] = {"__name__": "coin", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    coin = scope["coin"]
    outcome = coin.run(  # type: ignore[attr-defined]
        TABLE, ledger=f"sqlite:///{tmp_path / 'l.db'}", dataset="coins", dp_epsilon=1.0
    )
    assert outcome.dp_epsilon == Fraction(1, 2)


def test_what_runs_is_what_was_checked(tmp_path: Path) -> None:
    """A file that has changed since is refused, whatever it would cost now."""
    path = tmp_path / "coin.py"
    path.write_text(IMPORTS + COIN)
    coin = ProgramSource(path, "coin")
    kept = {"ledger": f"sqlite:///{tmp_path / 'l.db'}", "dataset": "coins", "dp_epsilon": 9.0}
    assert coin.check().dp_epsilon == Fraction(1, 2)
    for text in (COIN.replace("0.5", "5"), COIN + "# looked at", COIN.replace("count", "")):
        path.write_text(IMPORTS + text)
        with pytest.raises(InputError, match="changed since"):
            coin.run(TABLE, **kept)
    assert not (tmp_path / "l.db").exists()
    path.write_text(IMPORTS + COIN.replace("0.5", "5"))
    assert coin.check(n=3).dp_epsilon == 5
    assert coin.run(TABLE, **kept).dp_epsilon == 5
    path.write_text(IMPORTS + COIN.replace("0.5", "2"))
    # What was never looked at is checked as it is.
    assert ProgramSource(path, "coin").run(TABLE, **kept).dp_epsilon == 2
