"""Analysts with shares, data sets that are frozen, and the trail of everything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.log.trail import EVENTS
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError, InputError, LedgerError, Refusal
from bayesdp.release import Study
from tests.accounting.helpers import BDP, DP, ledger, spend
from tests.golden.cases import PEOPLE, PEOPLE_CSV


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    item = ledger(tmp_path / "ledger.db")
    item.register("d", "row", DP, analyst="Ada")
    return item


def take(book: Ledger, analyst: str, cost: float) -> str:
    return book.debit("d", "row", [spend(cost)], study="s", request={}, analyst=analyst)


def refused_for(book: Ledger) -> list[tuple[str, str]]:
    return [(attempt["analyst"], attempt["reason"]) for attempt in book.refusals()]


# -- shares ----------------------------------------------------------------------------------------


def test_an_analyst_keeps_to_a_share(book: Ledger) -> None:
    book.share("d", "Ada", 0.5)
    book.share("d", "Bo", 0.75)
    take(book, "Ada", 0.25)
    take(book, "Ada", 0.25)  # the whole share
    with pytest.raises(BudgetExceededError) as caught:
        take(book, "Ada", 5e-324)
    words = str(caught.value)
    assert "'Ada' may spend 0.5 of the budget of the data set 'd'" in words
    assert "own releases are at 0.5, and would rise to" in words
    assert "Nothing was released and nothing was spent." in words
    take(book, "Bo", 0.25)
    with pytest.raises(BudgetExceededError, match="doesn't allow this release"):
        take(book, "Bo", 0.375)  # within the share, and beyond what is left
    assert refused_for(book) == [("Ada", "share"), ("Bo", "budget")]
    assert book.show()[0]["spent"] == 0.75
    assert book.show()[0]["shares"] == {"Ada": 0.5, "Bo": 0.75}
    assert book.faults() == []


def test_a_share_is_of_every_reading(book: Ledger) -> None:
    book.register("d", "row", BDP)  # twice the DP cost, of 1
    book.share("d", "Ada", 0.5)
    with pytest.raises(BudgetExceededError, match="Bayesian DP"):
        take(book, "Ada", 0.375)
    take(book, "Ada", 0.25)


def test_who_has_no_share_releases_nothing_once_there_are_any(book: Ledger) -> None:
    take(book, "Cy", 0.125)
    book.share("d", "Ada", 0.5)
    with pytest.raises(BudgetExceededError, match="'Cy' has no share; 'Ada' has one"):
        take(book, "Cy", 0.125)
    book.register("e", "row", DP)  # another data set has none
    book.debit("e", "row", [spend(0.5, dataset="e")], study="s", request={}, analyst="Cy")


@pytest.mark.parametrize(
    "name", ["ada", "Ada ", "Аda", "A\N{NO-BREAK SPACE}da", "Ａｄａ", "A-da", "Adà"]
)
def test_nobody_has_two_shares_under_names_that_look_alike(book: Ledger, name: str) -> None:
    book.share("d", "Ada", 0.5)
    with pytest.raises(LedgerError, match="does not look like 'Ada'"):
        book.share("d", name, 0.5)
    with pytest.raises(BudgetExceededError):  # another person, who really has that name
        take(book, name, 0.125)
    book.share("d", name, 0.25)
    book.share("d", "Ada", 0.25)
    assert book.show()[0]["shares"] == {"Ada": 0.25, name: 0.25}


def test_who_has_released_has_no_twin_with_a_share(book: Ledger) -> None:
    take(book, "Cy", 0.125)
    with pytest.raises(LedgerError, match="does not look like 'Cy'"):
        book.share("d", "cy", 0.5)
    book.share("d", "Cy", 0.5)


def test_the_last_share_counts(book: Ledger) -> None:
    book.share("d", "Ada", 0.5)
    book.share("d", "Ada", 0.125)
    with pytest.raises(BudgetExceededError):
        take(book, "Ada", 0.25)
    book.share("d", "Ada", 1.0)
    take(book, "Ada", 1.0)
    book.share("d", "Bo", 0.0)
    with pytest.raises(BudgetExceededError):
        take(book, "Bo", 5e-324)


def test_a_whole_share_is_the_total_as_it_is_written(tmp_path: Path) -> None:
    from fractions import Fraction

    from bayesdp.numbers import float_above

    book = ledger(tmp_path / "l.db")
    book.register("d", "row", Reading("dp", 0.3))
    book.share("d", "Ada", 1.0)
    take(book, "Ada", float_above(Fraction("3/10")))


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "x", None])
def test_a_share_is_a_part(book: Ledger, share: object) -> None:
    with pytest.raises(InputError, match="share"):
        book.share("d", "Ada", share)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"budget\.analyst"):
        book.share("d", " ", 0.5)
    with pytest.raises(KeyError, match="dataset"):
        book.share("x", "Ada", 0.5)
    assert book.show()[0]["shares"] == {}


def test_a_preview_says_what_a_debit_would(book: Ledger) -> None:
    book.share("d", "Ada", 0.5)
    asked = [spend(0.75)]
    seen = book.preview("d", "row", DP, asked, analyst="Ada")
    with pytest.raises(BudgetExceededError) as caught:
        take(book, "Ada", 0.75)
    assert str(caught.value).startswith(f"{seen.refusal} ")
    assert (seen.reason, seen.fits) == ("share", 0.0)
    assert book.preview("d", "row", DP, [spend(0.5)], analyst="Ada").refusal is None
    assert book.preview("d", "row", DP, [spend(0.5)], analyst="Bo").reason == "share"


# -- frozen data sets ------------------------------------------------------------------------------


def test_nothing_is_released_from_a_frozen_data_set(book: Ledger) -> None:
    take(book, "Ada", 0.25)
    book.freeze("d", "withdrawn consent", by="Cu")
    with pytest.raises(Refusal, match=r"was frozen by Cu at 20.*\(withdrawn consent\)") as caught:
        take(book, "Ada", 0.25)
    assert not isinstance(caught.value, BudgetExceededError)
    assert book.preview("d", "row", DP, [spend(0.25)]).reason == "frozen"
    book.ensure("d", "row", DP)  # which is there
    for add in (
        lambda: book.register("d", "row", BDP),
        lambda: book.ensure("d", "row", DP, private=["x"]),
    ):
        with pytest.raises(Refusal, match="Nothing was registered"):
            add()
    assert refused_for(book) == [("Ada", "frozen")]
    assert book.show()[0]["frozen"]["reason"] == "withdrawn consent"
    book.register("e", "row", DP)  # others go on
    book.freeze("d", frozen=False)
    assert book.show()[0]["frozen"] is None
    take(book, "Ada", 0.25)
    assert book.faults() == []


def test_a_result_of_what_was_paid_for_is_stored_all_the_same(book: Ledger) -> None:
    release = take(book, "Ada", 0.25)
    book.freeze("d")
    book.store(release, {"value": 7})
    assert book.release(release)["status"] == "released"


def test_only_known_data_sets_are_frozen(book: Ledger) -> None:
    with pytest.raises(KeyError, match="dataset"):
        book.freeze("x")
    with pytest.raises(InputError, match="reason"):
        book.freeze("d", "turned \u202e")
    assert book.show()[0]["frozen"] is None


def test_shares_and_freezes_are_exported(book: Ledger, tmp_path: Path) -> None:
    book.share("d", "Ada", 0.5)
    book.freeze("d", "over")
    copy = ledger(tmp_path / "copy.db")
    copy.restore(book.export())
    assert copy.show() == book.show()
    with pytest.raises(Refusal, match="frozen"):
        take(copy, "Ada", 0.25)


# -- the trail -------------------------------------------------------------------------------------


def test_the_trail_has_every_entry_with_who_when_and_what(book: Ledger) -> None:
    book.ensure("d", "row", DP, private=["x"], public=["y"], analyst="Ada")
    book.share("d", "Ada", 0.5, by="Cu")
    book.store(take(book, "Ada", 0.25), {"value": 7})
    with pytest.raises(BudgetExceededError):
        take(book, "Ada", 0.5)
    book.freeze("d", "over", by="Cu")
    book.freeze("d", frozen=False, by="Cu")
    book.share_people("cohort", ["d"], by="Cu")
    trail = book.trail()
    assert [line["sequence"] for line in trail] == list(range(1, len(trail) + 1))
    events = [(line["event"], line["analyst"], line["dp_epsilon"]) for line in trail]
    assert events == [
        ("ledger begun", None, None),
        ("data set added", "Ada", None),
        ("reading registered", "Ada", None),
        ("columns declared", "Ada", None),
        ("share given", "Cu", None),
        ("debited", "Ada", 0.25),
        ("result stored", "Ada", None),
        ("refused", "Ada", 0.5),
        ("frozen", "Cu", None),
        ("thawed", "Cu", None),
        ("people shared", "Cu", None),
    ]
    assert {line["event"] for line in trail} == {*EVENTS.values(), "thawed"}
    details = [line["detail"] for line in trail]
    assert details[1:6] == [
        "one record: row", DP.words(), "x private, y public",
        "Ada may spend 0.5 of the budget of the people 'cohort'", "q",
    ]  # fmt: skip
    assert details[7] == "because of: share"
    assert [line["sequence"] for line in book.trail(analyst="Cu")] == [5, 9, 10, 11]
    assert book.trail(dataset="d") == trail[1:]
    assert book.trail(until="2020-01-01") == []
    assert len(book.trail(since="2020-01-01")) == 11
    with pytest.raises(KeyError):
        book.trail(analyst="Nobody")
    assert json.loads(json.dumps(trail)) == trail


# -- the commands ----------------------------------------------------------------------------------


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("LOGNAME", "cu")
    (tmp_path / "people.csv").write_text(PEOPLE_CSV)
    Path("s.toml").write_text(PEOPLE.replace("[budget]", '[budget]\nanalyst = "Ada"'))

    def ask(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, " ".join(result.output.split())

    assert ask("release", "s.toml")[0] == 0
    assert ask("ledger", "share", "people", "Ada", "0.5")[0] == 0
    assert ask("check", "s.toml")[0] == 1
    status, words = ask("release", "s.toml")
    assert (status, "'Ada' may spend 0.5 of the budget" in words) == (1, True)
    assert "Shares of the budget: Ada 0.5; nobody else may release." in ask("ledger", "show")[1]
    assert ask("ledger", "share", "people", "Ada", "1")[0] == 0
    assert ask("ledger", "freeze", "people", "--reason", "review")[0] == 0
    status, words = ask("release", "s.toml")
    assert (status, "was frozen by cu at" in words) == (1, True)
    assert "Frozen by cu at" in ask("ledger", "show")[1]
    assert "because of the data set, which was frozen" in ask("ledger", "show")[1]
    assert ask("ledger", "thaw", "people")[0] == 0
    assert ask("release", "s.toml")[0] == 0
    status, words = ask("ledger", "trail", "--analyst", "cu")
    assert status == 0
    for part in ("share given people cu Ada may spend 0.5", "frozen people cu review", "thawed"):
        assert part in words
    assert "debited people Ada s.toml DP cost" in ask("ledger", "trail")[1]
    entries = json.loads(ask("ledger", "trail", "--json")[1])["entries"]
    assert [line["event"] for line in entries].count("refused") == 2
    assert ask("ledger", "trail", "--data-set", "x")[0] == 2
    assert ask("ledger", "share", "people", "Ada", "2")[0] == 2
    assert ask("ledger", "freeze", "x")[0] == 2
    assert ask("ledger", "verify")[0] == 0
    assert Study.load("s.toml").ledger().faults() == []
