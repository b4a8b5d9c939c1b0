"""A column that is private and public for the same people, as only somebody by hand writes it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bayesdp.accounting import Block, Ledger
from bayesdp.accounting.log.contents import columns_content
from bayesdp.accounting.log.entries import following
from bayesdp.errors import LedgerError
from tests.accounting.helpers import DP, ledger, spend
from tests.accounting.office import ID, Office, insert, release_said
from tests.accounting.test_people import pay
from tests.postgres_server import Server


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return ledger(tmp_path / "ledger.db")


def declare(book: Ledger, dataset: str, columns: Mapping[str, bool]) -> None:
    """As somebody who knows the code writes it, into a chain that holds."""
    with book._writing(create=False) as (log, _):
        log.append("columns", book._now(), columns_content(columns, "Eve"), dataset=dataset)


def refused(book: Ledger, dataset: str, people: str | None, problem: str) -> None:
    """Nothing is released, looked at ahead, or registered of a data set."""
    before = book.head()
    for call in (
        lambda: pay(book, dataset, 0.125, people),
        lambda: book.ensure(dataset, "row", DP, people=people),
        lambda: book.register(dataset, "row", DP, private=["z"], people=people),
        lambda: book.preview(dataset, "row", DP, [spend(dataset=dataset, people=people)]),
    ):
        with pytest.raises(LedgerError, match=r"data\.columns\.x") as caught:
            call()
        assert problem in str(caught.value)
    assert book.head() == before


@pytest.mark.parametrize("names", list(itertools.permutations("abc")))
@pytest.mark.parametrize("private", [False, True])
def test_private_in_one_data_set_and_public_in_another_of_the_same_people(
    book: Ledger, names: tuple[str, ...], private: bool
) -> None:
    """Whichever comes first, and whichever of three is released from."""
    first, second, third = names
    for name in sorted(names):
        book.ensure(name, "row", DP, people="P", private=["k"])
    book.ensure(first, "row", DP, people="P", **{"private" if private else "public": ["x"]})
    book.ensure("lone", "row", DP, public=["x"], private=["y"])
    declare(book, second, {"x": not private})
    order = (first, second) if private else (second, first)
    problem = f"'x' is private in '{order[0]}' and public in '{order[1]}'"
    (fault,) = book.faults()
    assert (fault.place, problem in fault.problem) == ("people 'P'", True)
    for name in names:
        refused(book, name, "P", problem)
    pay(book, "lone", 0.125, None)  # of other people
    with pytest.raises(LedgerError, match=r"data\.columns\.x"):
        book.share_people("P", [third])
    with pytest.raises(LedgerError, match=r"data\.columns\.x"):
        book.share_people("P", ["lone"])


def test_private_and_public_in_one_data_set(book: Ledger) -> None:
    book.ensure("a", "row", DP, private=["x"])
    declare(book, "a", {"x": False, "y": False})
    (fault,) = book.faults()
    assert fault.place == "data set 'a'"
    assert "'x' is private, and public too" in fault.problem
    refused(book, "a", None, "'x' is private, and public too")
    with pytest.raises(LedgerError, match=r"data\.columns\.x"):
        book.share_people("P", ["a"])


def test_what_is_declared_again_alike_is_no_fault(book: Ledger) -> None:
    for name in ("a", "b"):
        book.ensure(name, "row", DP, people="P", private=["x"])
        declare(book, name, {"x": True})
    assert book.faults() == []
    pay(book, "a", 0.125)


@pytest.mark.parametrize("people", ["P", None])
def test_a_debit_for_some_values_of_a_private_column(book: Ledger, people: str | None) -> None:
    """Records move between blocks of a private column, so what is spent on each adds up."""
    for name in ("a", "b") if people else ("a",):
        book.ensure(name, "row", DP, people=people, private=["x"], public=["town"])
    other = "b" if people else "a"
    with pytest.raises(LedgerError, match="as if it were public"):
        pay(book, other, 0.125, people, block=Block("x", (1,)))
    of_x = [spend(dataset=other, people=people, block=Block("x", (1,)))]
    with pytest.raises(LedgerError, match="as if it were public"):
        book.preview(other, "row", DP, of_x)
    pay(book, other, 0.125, people, block=Block("town", ("N",)))
    assert book.faults() == []
    with book._writing(create=False) as (log, _):
        plain = of_x[0].to_dict()
        said = {"analyst": "Eve", "study": "s", "request": {}, "spends": [plain]}
        for key in ("dataset", "unit", "people"):
            plain.pop(key, None)
        content = json.dumps(said, sort_keys=True, separators=(",", ":"))
        log.append("release", book._now(), content, dataset=other, release=ID)
    (fault,) = book.faults()
    assert f"the release 'q' of '{other}' is debited for some of its values" in fault.problem
    refused(book, "a", people, "as if it were public")


def test_an_analyst_does_not_protect_what_is_public_of_the_same_people(postgres: Server) -> None:
    """The server refuses it; where it was told to look away, `verify` names the column."""
    office = Office(postgres)
    me = office.names["ada"]
    for name, public in (("e", ["sex"]), ("f", []), ("g", ["age"])):
        office.curator.register(name, "row", DP, people="P", public=public)
    office.curator.register("h", "row", DP, people="Q", public=["size"])
    with office.connect("ada") as connection:
        for name, column in (("f", "sex"), ("g", "sex"), ("f", "age")):
            said = {"by": me, "columns": {"k": True, column: True}}
            with pytest.raises(Exception, match="not public in another data set of the same"):
                insert(connection, office.entry("columns", said, dataset=name))
        said = {"by": me, "columns": {"size": True, "town": True}}  # public of others
        insert(connection, office.entry("columns", said, dataset="f"))
    assert office.curator.faults() == []
    office.analyst("ada").ensure("f", "row", DP, people="P", private=["size", "more"])
    declared = office.entry("columns", {"by": me, "columns": {"sex": True}}, dataset="f")
    said, time = json.dumps(release_said(me)), declared.time
    debited = following(declared, "release", dataset="f", release=ID, time=time, content=said)
    office.server.run(f"ALTER TABLE {office.schema}.entries DISABLE TRIGGER rule_entry")
    with office.connect("ada") as connection:
        insert(connection, declared, debited)
    office.server.run(f"ALTER TABLE {office.schema}.entries ENABLE ALWAYS TRIGGER rule_entry")
    for book in (office.curator, office.analyst("bo")):
        (fault,) = book.faults()
        assert "'sex' is private in 'f' and public in 'e'" in fault.problem
        with pytest.raises(LedgerError, match=r"data\.columns\.sex"):
            book.ensure("g", "row", DP, people="P")
