"""Whose share it is, and what is frozen, where data sets share people: in words and as data."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.accounting import Ledger
from bayesdp.cli import app
from tests.accounting.helpers import DP, ledger
from tests.accounting.test_people import begin, pay


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    made = ledger("ledger.db")
    begin(made, "a", "b")
    made.ensure("c", "row", DP, analyst="Ada")
    return made


def ask(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["ledger", *arguments])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_a_share_is_said_to_be_of_the_people(book: Ledger) -> None:
    said = ask("share", "b", "Ada", "0.5")
    assert said == (
        "The analyst 'Ada' may spend 0.5 of the budget of the people 'P', of whom are the data "
        "sets 'b', 'a'."
    )
    assert (
        ask("share", "c", "Bo", "0.25") == "The analyst 'Bo' may spend 0.25 of the budget of 'c'."
    )
    for name in ("a", "b"):
        assert (
            "Shares of the budget of the people 'P': Ada 0.5; nobody else may release from any of "
            "their data sets." in ask("show", "--data-set", name)
        )
    shown = ask("show", "--data-set", "c")
    assert "Shares of the budget: Bo 0.25; nobody else may release." in shown
    trail = ask("trail")
    assert "Ada may spend 0.5 of the budget of the people 'P'" in trail
    assert "Bo may spend 0.25 of its budget" in trail
    assert book.share("a", "Ada", 0.75).people == "P"
    assert book.share("c", "Ada", 0.75).people is None


def test_shares_that_come_along_are_named(book: Ledger) -> None:
    book.share("c", "Bo", 0.25)
    assert "Shares" not in ask("people", "P", "a")
    said = ask("people", "P", "c")
    assert "Shares of it: Bo 0.25; nobody else may release from any of their data sets." in said


def test_what_is_not_frozen_is_named(book: Ledger) -> None:
    begin(book, "d")
    assert ask("freeze", "c") == "The data set 'c' is frozen."
    assert ask("freeze", "a").endswith(
        "Not frozen are other data sets of the same people: 'b', 'd'."
    )
    assert ask("freeze", "b").endswith("Not frozen are other data sets of the same people: 'd'.")
    assert ask("freeze", "d") == "The data set 'd' is frozen."
    assert ask("thaw", "b") == "The data set 'b' is no longer frozen."
    pay(book, "b", 0.25)
    shown = ask("show", "--data-set", "a")
    assert "Other data sets of these people are frozen by themselves only." in shown
    assert "by themselves" not in ask("show", "--data-set", "b")
    assert "by themselves" not in ask("show", "--data-set", "c")
