"""Data sets that share people: one sum against every reading, whichever data set is spent on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bayesdp.accounting import Block, Ledger, Reading, Spend, total_cost
from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.log.contents import people_content
from bayesdp.accounting.log.entries import LedgerFault
from bayesdp.errors import BudgetExceededError, InputError, LedgerError, Refusal, UnsupportedError
from tests.accounting.helpers import DP, ledger, spend

PAIRS = {"model": "clusters", "size": 2}
OF_X = Reading("bdp", 1.0, PAIRS, covers=("x",))
OF_Y = Reading("bdp", 1.0, PAIRS, covers=("y",))


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return ledger(tmp_path / "ledger.db")


@pytest.fixture
def true_levels(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db", level=level)


def pay(book: Ledger, dataset: str, cost: float, people: str | None = "P", **other: object) -> str:
    asked = [spend(cost, dataset=dataset, people=people, **other)]
    analyst = "Ada"
    return book.debit(dataset, "row", asked, study="s", request={}, analyst=analyst)


def begin(book: Ledger, *names: str, reading: Reading = DP) -> None:
    for name in names:
        book.ensure(name, "row", reading, people="P", analyst="Ada")


# -- costs -----------------------------------------------------------------------------------------


def test_costs_of_data_sets_of_the_same_people_add_up() -> None:
    north = Block("region", ("north",))
    south = Block("region", ("south",))
    spends = [
        spend(0.5, dataset="a", people="P", block=north),
        spend(0.25, dataset="a", people="P", block=south),
        spend(0.125, dataset="b", people="P", block=south),
    ]
    assert total_cost(spends[:2]).dp_epsilon == 0.5  # a record is in one block
    assert total_cost(spends).dp_epsilon == 0.625  # and may be in another one of another table


def test_perturbed_answers_of_two_data_sets_are_two() -> None:
    answers = {"mechanism": "randomized response at collection", "column": "x", "reads": ("x",)}
    spends = [spend(0.5, dataset=name, people="P", **answers) for name in ("a", "a", "b")]
    assert total_cost(spends).dp_epsilon == 1.0


def test_units_may_differ_between_data_sets_and_not_within() -> None:
    of_rows = spend(0.5, dataset="a", people="P")
    of_persons = spend(0.25, dataset="b", people="P", unit="person")
    assert total_cost([of_rows, of_persons]).dp_epsilon == 0.75
    with pytest.raises(LedgerError, match="protected unit"):
        total_cost([of_rows, spend(0.25, dataset="a", people="P", unit="person")])


@pytest.mark.parametrize(("first", "second"), [(None, None), ("P", None), ("P", "Q")])
def test_costs_of_other_people_do_not(first: str | None, second: str | None) -> None:
    with pytest.raises(LedgerError, match="data sets of the same people"):
        total_cost([spend(dataset="a", people=first), spend(dataset="b", people=second)])


def test_a_spend_names_its_people_only_where_there_are_some() -> None:
    assert "people" not in spend().to_dict()
    named = spend(people="P")
    assert Spend.from_dict(named.to_dict()) == named
    with pytest.raises(InputError, match=r"spend\.people"):
        spend(people=" ")


# -- one budget ------------------------------------------------------------------------------------


def test_all_data_sets_of_the_same_people_debit_one_sum(book: Ledger) -> None:
    begin(book, "a", "b")
    pay(book, "a", 0.5)
    pay(book, "b", 0.375)
    with pytest.raises(BudgetExceededError) as caught:
        pay(book, "a", 0.25)
    words = str(caught.value)
    assert "The budget of the people 'P' doesn't allow" in words
    assert "all releases of their data sets ('a', 'b'): 2 releases since" in words
    pay(book, "b", 0.125)
    with pytest.raises(BudgetExceededError):
        pay(book, "b", 5e-324)
    assert [shown["spent"] for shown in book.show()] == [1.0, 1.0]
    assert [shown["people"] for shown in book.show()] == ["P", "P"]
    assert [reading["left"] for shown in book.show() for reading in shown["readings"]] == [0.0, 0.0]
    assert book.faults() == []


def test_others_are_not_counted(book: Ledger) -> None:
    begin(book, "a")
    book.ensure("c", "row", DP)
    pay(book, "a", 1.0)
    pay(book, "c", 1.0, people=None)
    assert book.show()[1]["people"] is None
    assert [row.dataset for row in book.spends("c")] == ["c"]


def test_spends_are_those_of_all_and_as_they_were_before_a_release(book: Ledger) -> None:
    begin(book, "a", "b")
    pay(book, "a", 0.25)
    second = pay(book, "b", 0.125)
    pay(book, "a", 0.0625)
    assert [row.dp_epsilon for row in book.spends("a")] == [0.25, 0.125, 0.0625]
    assert [row.dp_epsilon for row in book.spends("b", before=second)] == [0.25]
    assert [row.people for row in book.spends("new", people="P")] == ["P"] * 3
    assert book.spends("new") == []


def test_what_was_spent_before_others_came_is_as_it_was(book: Ledger) -> None:
    book.ensure("a", "row", DP)
    book.ensure("b", "row", DP)
    pay(book, "a", 0.25, people=None)
    second = pay(book, "a", 0.25, people=None)
    pay(book, "b", 0.25, people=None)
    book.share_people("P", ["a", "b"])
    assert [row.people for row in book.spends("a", before=second)] == [None]
    assert len(book.spends("a")) == 3


def test_a_preview_is_of_the_sum_for_a_data_set_that_is_not_there_yet(book: Ledger) -> None:
    asked = [spend(0.75, dataset="b", people="P")]
    assert book.preview("b", "row", DP, asked).refusal is None  # no ledger yet
    begin(book, "a")
    pay(book, "a", 0.5)
    answer = book.preview("b", "row", DP, asked)
    assert answer.refusal is not None
    assert answer.fits == pytest.approx(2 / 3, abs=1e-5)
    assert answer.readings[0]["level"] == 0.5
    assert answer.counted.startswith("1 release since")


def test_two_at_once_do_not_both_get_the_rest(book: Ledger) -> None:
    begin(book, "a", "b")
    pay(book, "a", 0.5)
    done: list[str] = []
    start = threading.Barrier(2)

    def take(name: str) -> None:
        start.wait()
        try:
            pay(ledger(book.path), name, 0.375)
            done.append(name)
        except BudgetExceededError:
            pass

    threads = [threading.Thread(target=take, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert book.show()[0]["spent"] == 0.875


# -- names -----------------------------------------------------------------------------------------


def test_a_data_set_keeps_its_people(book: Ledger) -> None:
    begin(book, "a")
    for name in (None, "Q", "p"):
        with pytest.raises(LedgerError, match=r"data\.people") as caught:
            book.ensure("a", "row", DP, people=name)
        assert "'P'" in str(caught.value)
        with pytest.raises(LedgerError, match=r"data\.people"):
            book.preview("a", "row", DP, [spend(dataset="a", people=name)])
        with pytest.raises(LedgerError, match=r"data\.people"):
            pay(book, "a", 0.25, people=name)
    assert book.spends("a") == []


def test_a_data_set_without_people_names_none_by_itself(book: Ledger) -> None:
    book.ensure("a", "row", DP)
    with pytest.raises(LedgerError, match="bayesdp ledger people 'The people' a"):
        book.ensure("a", "row", DP, people="The people")
    with pytest.raises(LedgerError, match=r"data\.people"):
        pay(book, "a", 0.25)


def test_people_that_look_like_others_are_registered_on_purpose(book: Ledger) -> None:
    book.ensure("a", "row", DP, people="cohort-7")
    with pytest.raises(LedgerError, match="look like 'cohort-7'"):
        book.ensure("b", "row", DP, people="Cohort 7")
    with pytest.raises(LedgerError, match="look like 'cohort-7'"):
        book.preview("b", "row", DP, [spend(dataset="b", people="Cohort 7")])
    book.ensure("c", "row", DP)
    with pytest.raises(LedgerError, match="look like 'cohort-7'"):
        book.share_people("cohort_7", ["c"])
    book.register("b", "row", DP, people="Cohort 7")
    assert [shown["people"] for shown in book.show()] == ["cohort-7", "Cohort 7", None]


@pytest.mark.parametrize("name", ["", " ", "P ", "a\nb", "e\u0301"])
def test_names_of_people_are_shown_in_one_way(book: Ledger, name: str) -> None:
    with pytest.raises(InputError, match=r"data\.people"):
        book.ensure("a", "row", DP, people=name)
    book.ensure("a", "row", DP)
    with pytest.raises(InputError, match=r"data\.people"):
        book.share_people(name, ["a"])


# -- readings --------------------------------------------------------------------------------------


def test_all_data_sets_of_the_same_people_have_one_total(book: Ledger) -> None:
    begin(book, "a")
    with pytest.raises(LedgerError, match="1, the total that the people 'P' are kept to"):
        book.ensure("b", "row", Reading("dp", 2.0), people="P")
    with pytest.raises(LedgerError, match="the people 'P'"):
        book.register("b", "row", Reading("dp", 2.0), people="P")
    assert [shown["dataset"] for shown in book.show()] == ["a"]


def test_the_first_reading_of_a_data_set_is_one_of_its_people(book: Ledger) -> None:
    begin(book, "a")
    with pytest.raises(LedgerError, match="registered for the people 'P'"):
        book.ensure("b", "row", OF_Y, people="P")
    book.register("b", "row", OF_Y, people="P")
    book.ensure("b", "row", OF_Y, people="P")
    assert len(book.show()[0]["readings"]) == 2  # both count for both


def test_a_new_reading_holds_over_what_others_have_spent(true_levels: Ledger) -> None:
    book = true_levels
    begin(book, "a", reading=OF_X)
    begin(book, "b", reading=OF_Y)
    pay(book, "a", 0.25, reads=("x",))
    pay(book, "b", 0.125, reads=("y",))
    shown = book.show()
    assert [reading["level"] for reading in shown[0]["readings"]] == [0.75]
    with pytest.raises(BudgetExceededError, match="already at"):
        book.register("a", "row", Reading("dp", 0.375 / 2), people="P")
    with pytest.raises(BudgetExceededError):
        pay(book, "a", 0.25, reads=("x",))
    pay(book, "b", 0.125, reads=("y",))
    assert book.faults() == []


def test_a_population_speaks_of_all_data_sets_on_which_something_is_spent(
    true_levels: Ledger,
) -> None:
    book = true_levels
    begin(book, "a", reading=OF_X)
    book.register("b", "row", Reading("dp", 5.0), people="P")
    with pytest.raises(LedgerError, match="for the data set 'b' too a registered reading"):
        pay(book, "b", 0.125, reads=("y",))
    asked = [spend(0.125, dataset="b", people="P", reads=("y",))]
    with pytest.raises(LedgerError, match="for the data set 'b' too"):
        book.preview("b", "row", Reading("dp", 5.0), asked)
    book.register("b", "row", OF_Y, people="P")
    with pytest.raises(LedgerError, match="speaks of z"):
        pay(book, "b", 0.125, reads=("z",))
    pay(book, "b", 0.125, reads=("y",))
    with pytest.raises(LedgerError, match="for the data set 'b' too"):  # of three, not of two
        book.register(
            "a", "row", Reading("bdp", 1.0, {**PAIRS, "size": 3}, covers=("x",)), people="P"
        )
    with pytest.raises(LedgerError, match="speaks of y"):
        pay(book, "a", 0.125, reads=("y",))
    assert len(book.spends("a")) == 1


def test_the_adversary_and_the_delta_are_those_of_the_people(true_levels: Ledger) -> None:
    begin(true_levels, "a", reading=OF_X)
    for other in (
        Reading("bdp", 1.0, PAIRS, covers=("y",), adversary="informed"),
        Reading("bdp", 1.0, PAIRS, covers=("y",), delta=1e-6),
        Reading("bdp", 1.0, {**PAIRS, "size": 1}, covers=("y",)),
    ):
        with pytest.raises(LedgerError, match="registered for the people 'P'"):
            true_levels.ensure("b", "row", other, people="P")


@pytest.mark.parametrize(
    "population",
    [
        {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 3},
        {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]},
        {"model": "gaussian", "size": 2, "max_correlation": 0.3},
        {"model": "autoregressive", "coefficient": 0.5, "length": 4},
        {"model": "unknown", "records": 5},
        {"model": "graph", "records": 2, "states": 2, "edges": [[0, 1]], "table": [[2, 1], [1, 2]]},
        {"model": "family", "members": [PAIRS, {"model": "independent"}]},
    ],
)
def test_a_law_of_one_table_is_not_read_over_several(
    book: Ledger, population: dict[str, object]
) -> None:
    reading = Reading("bdp", 1.0, population, covers=("x",))
    with pytest.raises(UnsupportedError, match="law of the records of one table"):
        book.ensure("a", "row", reading, people="P")
    with pytest.raises(UnsupportedError, match="law of the records of one table"):
        book.register("a", "row", reading, people="P")
    book.register("a", "row", reading)
    with pytest.raises(UnsupportedError, match="law of the records of one table"):
        book.share_people("P", ["a"])
    assert book.show()[0]["people"] is None


def test_what_one_data_set_protects_no_other_treats_as_public(book: Ledger) -> None:
    book.ensure("a", "row", DP, private=["x"], public=["region"], people="P")
    with pytest.raises(LedgerError, match="a study of the people 'P' declared it before"):
        book.ensure("b", "row", DP, public=["x"], people="P")
    with pytest.raises(LedgerError, match="Another column of this name needs another name"):
        book.ensure("b", "row", DP, private=["region"], people="P")
    book.ensure("c", "row", DP, public=["x"])
    with pytest.raises(LedgerError, match="declared it before"):
        book.share_people("P", ["c"])
    book.ensure("b", "row", DP, private=["x"], people="P")


# -- moving ----------------------------------------------------------------------------------------


def test_data_sets_come_together_with_what_they_have_spent(book: Ledger) -> None:
    for name, total in (("a", 1.0), ("b", 5.0)):
        book.ensure(name, "row", Reading("dp", total))
    pay(book, "a", 0.5, people=None)
    pay(book, "b", 0.25, people=None)
    account = book.share_people("P", ["a", "b"], by="Cu")
    assert (account.people, account.releases) == ("P", 2)
    assert [shown["spent"] for shown in book.show()] == [0.75, 0.75]
    with pytest.raises(BudgetExceededError):  # the smaller total is that of both
        pay(book, "b", 0.5)
    book.ensure("b", "row", Reading("dp", 5.0), people="P")  # it has its reading still
    pay(book, "b", 0.25)
    assert book.faults() == []


def test_a_sum_above_a_budget_brings_nothing_together(book: Ledger) -> None:
    for name in ("a", "b"):
        book.ensure(name, "row", DP)
        pay(book, name, 0.75, people=None)
    before = book.head()
    with pytest.raises(
        BudgetExceededError, match=r"Together the people 'P' would be at 1\.5"
    ) as no:
        book.share_people("P", ["a", "b"])
    assert "Nothing was written." in str(no.value)
    assert book.head() == before
    book.share_people("P", ["a"])
    with pytest.raises(BudgetExceededError, match=r"1\.5"):
        book.share_people("P", ["b"])
    assert [shown["people"] for shown in book.show()] == ["P", None]


def test_a_data_set_does_not_change_its_people(book: Ledger) -> None:
    begin(book, "a")
    book.ensure("b", "row", DP)
    with pytest.raises(LedgerError, match="doesn't leave its people"):
        book.share_people("Q", ["b", "a"])
    assert [shown["people"] for shown in book.show()] == ["P", None]
    book.share_people("P", ["a", "b", "a"])  # what is there already is left as it is
    assert [line["event"] for line in book.trail()].count("people shared") == 2


def test_what_is_moved_is_in_the_ledger(book: Ledger) -> None:
    begin(book, "a")
    with pytest.raises(InputError, match="dataset"):
        book.share_people("P", ["a", "nobody"])
    with pytest.raises(InputError, match="at least one"):
        book.share_people("P", [])


def test_populations_that_speak_of_one_data_set_do_not_come_together(true_levels: Ledger) -> None:
    book = true_levels
    book.ensure("a", "row", OF_X)
    book.ensure("b", "row", Reading("dp", 1.0))
    pay(book, "b", 0.125, people=None, reads=("y",))
    with pytest.raises(LedgerError, match="for the data set 'b' too"):
        book.share_people("P", ["a", "b"])
    book.register("b", "row", OF_Y)
    book.share_people("P", ["a", "b"])


# -- shares, freezing ------------------------------------------------------------------------------


def test_a_share_is_of_the_budget_of_the_people(book: Ledger) -> None:
    begin(book, "a", "b")
    book.share("a", "Ada", 0.5)
    book.share("b", "Bo", 0.25)
    pay(book, "a", 0.25)
    pay(book, "b", 0.25)
    with pytest.raises(BudgetExceededError, match=r"0\.5 of the budget of the people 'P'"):
        pay(book, "b", 0.125)
    asked = [spend(0.125, dataset="b", people="P")]
    with pytest.raises(BudgetExceededError, match="'Cy' has no share; 'Ada', 'Bo' have"):
        book.debit("b", "row", asked, study="s", request={}, analyst="Cy")
    new = [spend(0.125, dataset="c", people="P")]
    assert book.preview("c", "row", DP, new, analyst="Cy").reason == "share"
    book.share("b", "Ada", 0.75)  # the last one counts, wherever it was given
    pay(book, "a", 0.125)
    assert [shown["shares"] for shown in book.show()] == [{"Ada": 0.75, "Bo": 0.25}] * 2


def test_a_data_set_is_frozen_alone(book: Ledger) -> None:
    begin(book, "a", "b")
    book.freeze("a", "over")
    with pytest.raises(Refusal, match="'a' was frozen"):
        pay(book, "a", 0.25)
    pay(book, "b", 0.25)


# -- keeping ---------------------------------------------------------------------------------------


def test_people_are_exported_and_imported(book: Ledger, tmp_path: Path) -> None:
    begin(book, "a", "b")
    pay(book, "a", 0.75)
    restored = ledger(tmp_path / "restored.db")
    restored.restore(book.export())
    assert restored.show() == book.show()
    with pytest.raises(BudgetExceededError):
        pay(restored, "b", 0.5)


def _faults(book: Ledger, change: object) -> list[LedgerFault]:
    """The faults of a ledger to which somebody has added entries and chained them."""
    with book._writing(create=True) as (log, _):
        change(log)  # type: ignore[operator]
    return book.faults()


def test_entries_about_people_that_no_ledger_writes_are_found(book: Ledger) -> None:
    begin(book, "a")

    def change(log: object) -> None:
        log.append("people", book._now(), people_content("Q", "Eve"), dataset="a")  # type: ignore[attr-defined]

    (fault,) = _faults(book, change)
    assert "named before" in fault.problem


def test_people_that_were_put_together_above_their_budget_are_found(book: Ledger) -> None:
    for name in ("a", "b"):
        book.ensure(name, "row", DP)
        pay(book, name, 0.75, people=None)

    def change(log: object) -> None:
        for name in ("a", "b"):
            log.append("people", book._now(), people_content("P", "Eve"), dataset=name)  # type: ignore[attr-defined]

    faults = _faults(book, change)
    assert [fault.place for fault in faults] == ["data set 'a'", "data set 'b'"]
    assert all("at 1.5" in fault.problem for fault in faults)


def test_people_put_together_under_a_law_of_one_table_are_found(book: Ledger) -> None:
    chain = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 3}
    book.ensure("a", "row", Reading("bdp", 1.0, chain))

    def change(log: object) -> None:
        log.append("people", book._now(), people_content("P", "Eve"), dataset="a")  # type: ignore[attr-defined]

    (fault,) = _faults(book, change)
    assert "law of the records of one table" in fault.problem


# -- what a process remembers -----------------------------------------------------------------


def test_what_was_read_before_data_sets_shared_people_counts_with_them(book: Ledger) -> None:
    for name in ("a", "b"):
        book.ensure(name, "row", DP, analyst="Ada")
        pay(book, name, 0.375, people=None)
    assert [entry["spent"] for entry in book.show()] == [0.375, 0.375]
    book.share_people("P", ["a", "b"], by="Ada")
    assert [entry["spent"] for entry in book.show()] == [0.75, 0.75]
    with pytest.raises(BudgetExceededError):
        pay(book, "a", 0.375)


def test_a_refusal_to_share_people_leaves_nothing_behind(book: Ledger) -> None:
    for name in ("a", "b"):
        book.ensure(name, "row", DP, analyst="Ada")
        pay(book, name, 0.625, people=None)
    with pytest.raises(BudgetExceededError):
        book.share_people("P", ["a", "b"], by="Ada")
    pay(book, "a", 0.375, people=None)
    assert [entry["people"] for entry in book.show()] == [None, None]
    assert book.faults() == []
