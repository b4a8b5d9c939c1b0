"""Names that a ledger could not be read with, and names that are taken for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesdp.accounting import Ledger
from bayesdp.accounting.stores import verified
from bayesdp.errors import BudgetExceededError, InputError, LedgerError
from tests.accounting.helpers import DP, debit, ledger, spend
from tests.accounting.office import Office
from tests.accounting.test_people import pay
from tests.postgres_server import Server


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return ledger(tmp_path / "ledger.db")


def uses(book: Ledger, name: str) -> None:
    """Every place of a name that somebody who calls the library may give."""
    book.ensure("d", "row", DP, private=[name])
    book.ensure(name, "row", DP)
    book.register(f"of {name}", name, DP)
    book.debit("d", "row", [spend(0.01)], study=name, request={})
    book.debit("d", "row", [spend(0.01)], study="s", request={name: [name]})
    book.debit("d", "row", [spend(0.01, query=name)], study="s", request={})
    book.refused(name, "s", "table")
    book.refused("d", name, "table")


@pytest.mark.parametrize("name", ["a\ud800", "\udfffa", "a\0b"])
def test_what_nobody_could_read_again_is_not_written(book: Ledger, name: str) -> None:
    """A column with half a letter made the whole ledger a damaged one, for good."""
    book.ensure("d", "row", DP)
    head = book.head()
    for call in (
        lambda: book.ensure("d", "row", DP, private=[name]),
        lambda: book.register("d", "row", DP, public=[name]),
        lambda: book.ensure(name, "row", DP),
        lambda: book.ensure("e", name, DP),
        lambda: book.debit("d", "row", [spend(0.01)], study=name, request={}),
        lambda: book.debit("d", "row", [spend(0.01)], study="s", request={name: 1}),
        lambda: book.debit("d", "row", [spend(0.01, query=name)], study="s", request={}),
        lambda: book.refused(name, "s", "table"),
        lambda: book.refused("d", name, "table"),
    ):
        with pytest.raises(InputError, match="Nothing was written"):
            call()
    verified.forget()
    assert book.head() == head
    debit(book, 0.25)
    assert book.faults() == []


@pytest.mark.parametrize(
    "name", ["😀", "a\\u0000", "a\\\\u0000", "a\\ud800", "\u202ex", "x" * 9000]
)
def test_what_only_looks_odd_is_read_again(book: Ledger, tmp_path: Path, name: str) -> None:
    book.ensure("d", "row", DP)
    uses(book, name)
    verified.forget()
    assert book.faults() == []
    copy = ledger(tmp_path / "copy.db")
    copy.restore(book.export())
    assert copy.show() == book.show()


def test_a_server_reads_what_is_written(postgres: Server) -> None:
    """A column with NUL kept all analysts from declaring any."""
    office = Office(postgres)
    with pytest.raises(InputError, match="without a NUL character"):
        office.curator.register("d", "row", DP, private=["a\0b"])
    office.curator.register("d", "row", DP, private=["a\\u0000b", "😀"])
    office.analyst("ada").ensure("d", "row", DP, private=["y", "\\u0000"])
    assert office.curator.faults() == []


@pytest.mark.parametrize("name", ["Jose\u0301", "JOSÉ", "José ", "Jose"])
def test_an_analyst_in_other_letters_has_no_second_share(book: Ledger, name: str) -> None:
    book.ensure("d", "row", DP)
    book.share("d", "José", 0.5)
    asked = [spend(0.25)]
    book.debit("d", "row", asked, study="s", request={}, analyst="José")
    with pytest.raises(BudgetExceededError, match="looks like this name and is another"):
        book.debit("d", "row", asked, study="s", request={}, analyst=name)
    with pytest.raises(LedgerError, match="does not look like"):
        book.share("d", name + ".", 0.5)
    with pytest.raises(BudgetExceededError, match=r"'José' has one\. The curator gives"):
        book.debit("d", "row", asked, study="s", request={}, analyst="Bo")


# -- a name of people that is one of a data set ----------------------------------------------------


@pytest.mark.parametrize("people", ["staff", "Staff", "STAFF-"])
def test_people_are_not_taken_for_a_data_set_on_its_own(book: Ledger, people: str) -> None:
    book.ensure("staff", "row", DP)
    pay(book, "staff", 0.75, None)
    asked = [spend(0.5, dataset="jan", people=people)]
    for call in (
        lambda: book.ensure("jan", "row", DP, people=people),
        lambda: book.preview("jan", "row", DP, asked),
    ):
        with pytest.raises(LedgerError, match=r"data\.people") as caught:
            call()
        assert f"`bayesdp ledger people {people} staff`" in str(caught.value)
    book.share_people(people, ["staff"])  # as it says
    book.ensure("jan", "row", DP, people=people)
    with pytest.raises(BudgetExceededError):
        pay(book, "jan", 0.5, people)
    pay(book, "jan", 0.25, people)


@pytest.mark.parametrize("name", ["jan", "Jan"])
def test_people_are_not_taken_for_a_data_set_of_others(book: Ledger, name: str) -> None:
    book.ensure("jan", "row", DP, people="staff")
    with pytest.raises(LedgerError, match=r"data\.people") as caught:
        book.ensure("feb", "row", DP, people=name)
    assert 'people = "staff" below [data]' in str(caught.value)
    book.ensure("feb", "row", DP, people="staff")  # as it says


def test_or_are_on_purpose(book: Ledger) -> None:
    book.ensure("staff", "row", DP)
    book.register("jan", "row", DP, people="staff")
    book.ensure("feb", "row", DP, people="staff")  # these people are known now
    pay(book, "jan", 0.75, "staff")
    pay(book, "staff", 0.75, None)
    assert book.faults() == []


@pytest.mark.parametrize("name", ["staff", "Staff"])
def test_a_data_set_is_not_taken_for_people(book: Ledger, name: str) -> None:
    book.ensure("jan", "row", DP, people="staff")
    with pytest.raises(LedgerError, match=r"data\.dataset") as caught:
        book.ensure(name, "row", DP)
    assert 'people = "staff" below [data]' in str(caught.value)
    book.ensure(name, "row", DP, people="staff")  # as it says
    book.ensure("other", "row", DP)


def test_a_data_set_may_be_named_as_its_own_people(book: Ledger) -> None:
    book.ensure("staff", "row", DP, people="staff")
    book.ensure("jan", "row", DP, people="staff")
    pay(book, "staff", 0.75, "staff")
    with pytest.raises(BudgetExceededError):
        pay(book, "jan", 0.5, "staff")
