"""One way for every release: debit, draw, store, show, and no step out of its order."""

from __future__ import annotations

import ast
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import bayesdp
from bayesdp.accounting import Ledger, Reading, Spend
from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.transaction import LedgerEntry, PartialResult, Transaction
from bayesdp.errors import BudgetExceededError, FailedError, LedgerError
from bayesdp.programs.run import run
from bayesdp.release import Study
from tests.programs.run.helpers import accepted

READING = Reading("dp", 1.0)
STEPS = ("debit", "draw", "store", "show")


class Drawing:
    """Looks into the ledger's file while it draws, and fails where it is told to."""

    paid = "DP cost 1"

    def __init__(self, ledger: Ledger, error: BaseException | None = None) -> None:
        self.ledger, self.error = ledger, error
        self.reads_released_only = False
        self.drawn: list[str] = []
        self.document: dict[str, Any] = {"numbers": [4]}
        self.status_while_drawing = ""

    def draw(self, release: str) -> tuple[int, dict[str, Any]]:
        self.status_while_drawing = self.ledger.release(release)["status"]
        self.drawn.append("four")
        if self.error is not None:
            raise self.error
        return 4, self.document

    def so_far(self, release: str) -> PartialResult:
        return PartialResult(self.drawn, {"kept": list(self.drawn)} if self.drawn else None)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "l.db", level=level)
    ledger.register("d", "row", READING)
    return ledger


def entry(dp_epsilon: float = 1.0) -> LedgerEntry:
    spends = [Spend("d", "row", "q", "any", dp_epsilon)]
    return LedgerEntry("d", "row", READING, spends, study="s", request={"queries": ["q"]})


def written(ledger: Ledger) -> list[dict[str, Any]]:
    return [release for dataset in ledger.show() for release in dataset["releases"]]


def test_what_is_drawn_is_debited_and_what_is_shown_is_stored(ledger: Ledger) -> None:
    drawing = Drawing(ledger)
    transaction = Transaction(ledger, entry(), drawing)
    transaction.debit()
    assert [release["status"] for release in written(ledger)] == ["debited"]
    transaction.draw()
    assert drawing.status_while_drawing == "debited"
    transaction.store()
    assert [release["result"] for release in written(ledger)] == [drawing.document]
    assert transaction.show() == 4


@pytest.mark.parametrize("done", range(5))
def test_a_step_out_of_its_order_is_refused_and_does_nothing(ledger: Ledger, done: int) -> None:
    """After each number of steps, every step but the next one: also one that was taken."""
    drawing = Drawing(ledger)
    transaction = Transaction(ledger, entry(), drawing)
    for step in STEPS[:done]:
        getattr(transaction, step)()
    before = ledger.show(), list(drawing.drawn)
    for step in STEPS[:done] + STEPS[done + 1 :]:
        with pytest.raises(RuntimeError, match=f"'{step}' is out of order"):
            getattr(transaction, step)()
        assert (ledger.show(), drawing.drawn) == before
    for step in STEPS[done:]:  # and nothing is broken by it
        getattr(transaction, step)()


def test_a_debit_that_is_refused_draws_nothing(ledger: Ledger) -> None:
    drawing = Drawing(ledger)
    transaction = Transaction(ledger, entry(2.0), drawing)
    with pytest.raises(BudgetExceededError):
        transaction.run()
    assert drawing.drawn == []
    assert written(ledger) == []
    with pytest.raises(RuntimeError, match="'draw' is out of order"):
        transaction.draw()


def test_a_failure_is_answered_with_what_is_kept(ledger: Ledger) -> None:
    drawing = Drawing(ledger, ValueError("the cell says 182.25"))
    with pytest.raises(FailedError, match=r"\(ValueError\)\. Paid: DP cost 1\. .*: four") as caught:
        Transaction(ledger, entry(), drawing).run()
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None
    assert [release["result"] for release in written(ledger)] == [{"kept": ["four"]}]


def test_after_a_failure_there_is_nothing_to_show(ledger: Ledger) -> None:
    transaction = Transaction(ledger, entry(), Drawing(ledger, ValueError()))
    transaction.debit()
    with pytest.raises(FailedError):
        transaction.draw()
    with pytest.raises(RuntimeError, match="'draw' is out of order"):
        transaction.draw()  # a second draw would need a second debit
    transaction.store()
    for step in STEPS:
        with pytest.raises(RuntimeError, match=f"'{step}' is out of order.*it is over"):
            getattr(transaction, step)()


def test_words_about_released_values_are_quoted(ledger: Ledger) -> None:
    drawing = Drawing(ledger, ValueError("no such posterior"))
    drawing.reads_released_only = True
    with pytest.raises(FailedError, match="ValueError: no such posterior") as caught:
        Transaction(ledger, entry(), drawing).run()
    assert caught.value.__cause__ is drawing.error


def test_a_result_that_can_not_be_written_is_a_failure_too(ledger: Ledger) -> None:
    drawing = Drawing(ledger)
    drawing.document = {"numbers": [float("nan")]}
    with pytest.raises(FailedError, match="InputError"):
        Transaction(ledger, entry(), drawing).run()
    assert [release["result"] for release in written(ledger)] == [{"kept": ["four"]}]


def test_an_interrupt_passes_after_what_was_drawn_is_stored(ledger: Ledger) -> None:
    with pytest.raises(KeyboardInterrupt):
        Transaction(ledger, entry(), Drawing(ledger, KeyboardInterrupt())).run()
    assert [release["result"] for release in written(ledger)] == [{"kept": ["four"]}]


def test_what_a_ledger_can_not_store_is_not_shown(ledger: Ledger) -> None:
    drawing = Drawing(ledger)
    transaction = Transaction(ledger, entry(), drawing)
    transaction.debit()
    transaction.draw()
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("DROP TABLE results")
    with pytest.raises(FailedError, match=r"LedgerError.*Paid: DP cost 1.*is lost.*: four") as lost:
        transaction.store()
    assert isinstance(lost.value.__cause__, LedgerError)
    with pytest.raises(RuntimeError, match="'show' is out of order"):
        transaction.show()


# -- its users -------------------------------------------------------------------------------------


def of_a_study(ledger: Ledger) -> object:
    return Study(
        pandas.DataFrame({"x": [0, 1, 1]}),
        dataset="d",
        n=3,
        columns={"x": {"states": [0, 1]}},
        budget={"notion": "dp", "epsilon": 1.0},
        queries=[{"name": "ones", "kind": "count", "where": "x == 1"}],
        ledger=str(ledger.path),
    ).release()


def of_a_program(ledger: Ledger) -> object:
    core, verdict = accepted("""
@program
def coin(obs: Database[Bool]) -> Private[Int]:
    return laplace(count(obs), epsilon=0.5)
""")
    return run(core, verdict, [True, False], ledger=ledger, dataset="d", dp_epsilon=1.0)


@pytest.mark.parametrize("release", [of_a_study, of_a_program])
def test_studies_and_programs_take_the_same_way(
    ledger: Ledger, release: Callable[[Ledger], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def noted(step: str) -> Callable[[Any], object]:
        real = getattr(Transaction, step)

        def called(self: Any) -> object:
            taken.append(step)
            return real(self)

        return called

    for step in STEPS:
        monkeypatch.setattr(Transaction, step, noted(step))
    release(ledger)
    assert taken == list(STEPS)
    assert [release["status"] for release in written(ledger)] == ["released"]


@pytest.mark.parametrize("release", [of_a_study, of_a_program])
def test_what_fails_after_the_debit_says_so(
    ledger: Ledger, release: Callable[[Ledger], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayesdp.programs.run.machine.machine import Machine

    def fails(*_: object, **__: object) -> None:
        raise ValueError("the cell says 182.25")

    monkeypatch.setattr(Machine, "run", fails)
    monkeypatch.setattr("bayesdp.release.drawing.study_drawing.noisy", fails)
    with pytest.raises(FailedError, match=r"\(ValueError\)\. Paid: .*Nothing had been released"):
        release(ledger)
    assert len(written(ledger)) == 1


def test_a_certificate_that_fails_keeps_the_numbers(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("no such step")

    monkeypatch.setattr("bayesdp.release.drawing.study_drawing.certify", fails)
    with pytest.raises(FailedError, match=r"no such step.*Paid: DP cost 1.*is kept.*: ones"):
        of_a_study(ledger)
    (kept,) = written(ledger)
    assert [result["query"] for result in kept["result"]["results"]] == ["ones"]


def test_nobody_else_debits_or_stores() -> None:
    """The calls of a ledger's `debit` and `store` in the package stand in one file."""
    root = Path(bayesdp.__file__).parent
    users = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("debit", "store")
    }
    assert users == {"accounting/transaction.py"}
