"""Every reading of a data set that shares people is kept to, whichever was registered first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.accounts.account import Account, differences
from bayesdp.accounting.costs.composition import UnspokenColumnError, level
from bayesdp.errors import LedgerError
from tests.accounting.helpers import ledger, spend
from tests.accounting.test_people import OF_X, OF_Y, pay


@pytest.mark.parametrize("people", [None, "P"])
@pytest.mark.parametrize("wider_first", [False, True])
def test_each_reading_of_a_data_set_is_kept_to(
    tmp_path: Path, people: str | None, wider_first: bool
) -> None:
    book = Ledger(tmp_path / "ledger.db", level=level)
    wider = replace(OF_X, covers=("x", "y"))
    for reading in (wider, OF_X) if wider_first else (OF_X, wider):
        book.register("a", "row", reading, people=people)
    asked = [spend(0.125, dataset="a", people=people, reads=("y",))]
    for refused in (
        lambda: book.preview("a", "row", wider, asked),
        lambda: pay(book, "a", 0.125, people, reads=("y",)),
    ):
        with pytest.raises(UnspokenColumnError, match="reads y"):  # of which one says nothing
            refused()
    pay(book, "a", 0.125, people, reads=("x",))
    assert len(book.show()[0]["readings"]) == 2


def test_a_preview_keeps_to_the_readings_that_are_there_and_to_its_own() -> None:
    wider = replace(OF_X, covers=("x", "y"))
    there = Account("row", (OF_X, OF_Y), (), people="P", declared={"a": (OF_X,), "b": (OF_Y,)})
    assert there.with_reading("a", wider).readings == (OF_X, wider)


def test_keys_that_neither_reading_has_are_no_difference() -> None:
    lines = differences(Reading("dp", 2.0), OF_X)
    assert any(line.startswith("budget.notion") for line in lines)
    assert not [line for line in lines if "nothing here, nothing there" in line]


def test_a_study_is_held_against_the_readings_of_its_own_data_set(tmp_path: Path) -> None:
    book = ledger(tmp_path / "ledger.db")
    for name, total in (("a", 1.0), ("b", 5.0)):
        book.ensure(name, "row", Reading("dp", total))
    book.share_people("P", ["a", "b"])
    with pytest.raises(LedgerError, match=r"differs in budget.epsilon \(5.0 here, 1.0 there\)"):
        book.ensure("a", "row", Reading("dp", 5.0), people="P")
