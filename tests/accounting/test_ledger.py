"""The rules of the ledger: who may register what, what is debited, what is refused."""

from __future__ import annotations

import io
import json
import math
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from bayesdp.accounting import Ledger, Reading, Spend, total_cost
from bayesdp.accounting.accounts.account import NOTHING_SPENT
from bayesdp.accounting.accounts.analysts import login_name
from bayesdp.accounting.costs.blocks import Block
from bayesdp.accounting.costs.rounded import keeps, left_words, up_words
from bayesdp.accounting.log.shown import asked_words
from bayesdp.errors import BudgetExceededError, InputError, LedgerError, UnsupportedError
from bayesdp.numbers import float_above
from bayesdp.report.ledgers import show_ledger
from tests.accounting.helpers import BDP, CHAIN, DP, debit, factor, ledger, spend
from tests.effort import runs


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def book(path: Path) -> Ledger:
    item = ledger(path)
    item.register("d", "row", DP)
    return item


def spent(ledger: Ledger) -> float:
    return ledger.show()[0]["spent"]


# --- readings ---------------------------------------------------------------------------------


def test_registering_again_changes_nothing(book: Ledger) -> None:
    book.register("d", "row", DP)
    book.ensure("d", "row", DP)
    assert len(book.show()[0]["readings"]) == 1


def test_a_total_can_be_neither_raised_nor_lowered(book: Ledger) -> None:
    for total in (2.0, 0.5):
        for add in (book.register, book.ensure):
            with pytest.raises(LedgerError, match="can't raise a total") as caught:
                add("d", "row", Reading("dp", total))
            assert caught.value.value == total
    assert [reading["total"] for reading in book.show()[0]["readings"]] == [1.0]


def test_ensure_registers_the_first_reading_only(path: Path) -> None:
    book = ledger(path)
    book.ensure("d", "row", BDP)
    with pytest.raises(LedgerError, match="bayesdp ledger register") as caught:
        book.ensure("d", "row", DP)
    assert BDP.words() in str(caught.value)
    book.ensure("other", "row", DP)  # another data set is another budget
    assert [len(item["readings"]) for item in book.show()] == [1, 1]


def test_a_second_population_is_added_by_register_and_then_matches(book: Ledger) -> None:
    book.register("d", "row", BDP)
    book.ensure("d", "row", BDP)
    book.ensure("d", "row", DP)
    assert [reading["key"] for reading in book.show()[0]["readings"]] == [DP.key(), BDP.key()]


def test_a_new_reading_must_hold_over_what_is_spent(book: Ledger) -> None:
    debit(book, 0.5)
    book.register("d", "row", BDP)  # twice 0.5 is exactly its total
    debit(ledger(book._store.path, level=lambda *_: 0.0), 0.25)
    tight = Reading("bdp", 1.25, {**CHAIN, "length": 9})
    with pytest.raises(BudgetExceededError, match=r"already at 1\.5 .*Nothing was registered"):
        book.register("d", "row", tight)
    assert len(book.show()[0]["readings"]) == 2


def test_units_do_not_mix(book: Ledger) -> None:
    calls = [
        lambda: book.register("d", "person", BDP),
        lambda: book.ensure("d", "person", DP),
        lambda: book.debit("d", "person", [spend(unit="person")], study="s", request={}),
        lambda: book.preview("d", "person", DP, [spend(unit="person")]),
    ]
    for call in calls:
        with pytest.raises(LedgerError, match="'row', the protected unit"):
            call()
    assert book.spends("d") == []


# --- debits -----------------------------------------------------------------------------------


def test_every_reading_must_hold(book: Ledger) -> None:
    book.register("d", "row", BDP)
    debit(book, 0.5)  # DP at 0.5 of 1, BDP at 1 of 1
    with pytest.raises(BudgetExceededError, match="Bayesian DP") as caught:
        debit(book, 0.25)
    assert "DP, at most 1:" not in str(caught.value).replace(BDP.words(), "")
    assert spent(book) == 0.5


@pytest.mark.parametrize(("cost", "total"), [("3/10", 0.3), ("7/10", 0.7), ("6/5", 1.2)])
def test_a_total_is_the_decimal_that_it_is_written_as(path: Path, cost: str, total: float) -> None:
    """A cost of exactly 3/10, as a program has, is the double above 0.3, and that is all."""
    exact = float_above(Fraction(cost))
    assert exact > total
    assert keeps(exact, total)
    assert not keeps(math.nextafter(exact, math.inf), total)
    assert not keeps(exact, total, delta=1e-6)
    assert not keeps(math.nan, total)
    book = ledger(path)
    book.register("d", "row", Reading("dp", total))
    with pytest.raises(BudgetExceededError):
        debit(book, math.nextafter(exact, 2.0))
    debit(book, exact)
    with pytest.raises(BudgetExceededError):
        debit(book, 5e-324)


def test_a_total_can_be_used_up_exactly_and_not_by_an_ulp_more(path: Path) -> None:
    book = ledger(path)
    book.register("d", "row", Reading("dp", 0.75))
    with pytest.raises(BudgetExceededError):
        debit(book, math.nextafter(0.75, 1.0))
    debit(book, 0.25)
    debit(book, 0.5)
    assert spent(book) == 0.75
    with pytest.raises(BudgetExceededError, match="Nothing fits"):
        debit(book, 5e-324)


def test_the_refusal_says_what_is_left_and_what_fits(book: Ledger) -> None:
    debit(book, 0.25)
    with pytest.raises(BudgetExceededError) as caught:
        book.debit("d", "row", [spend(0.5), spend(0.7)], study="s", request={})
    message = str(caught.value)
    for part in (
        "data set 'd'",
        DP.words(),
        "(DP cost 1.2)",
        "It counts all releases of the data set: 1 release since 20",
        "+00:00, DP cost 0.25. ",
        "now at 0.25, it would rise to 1.45",
        "0.75 of 1 is left",
        "At 0.625 times",
        "nothing was spent",
    ):
        assert part in message
    book.debit("d", "row", [spend(0.5 * 0.624999), spend(0.7 * 0.624999)], study="s", request={})


def test_what_fits_is_rounded_down_and_scales_the_slack(path: Path) -> None:
    def slack(_reading: Reading, spends: Sequence[Spend]) -> float:
        return total_cost(spends).slack

    book = ledger(path, level=slack)
    book.register("d", "row", DP)
    costly = spend(8.0, kind="lipschitz", column="x", interval=(0, 1), slack=3.0)
    with pytest.raises(BudgetExceededError, match=r"At 0\.333333 times"):
        book.debit("d", "row", [costly], study="s", request={})
    with pytest.raises(BudgetExceededError, match="Nothing fits"):
        book.debit("d", "row", [spend(8e7, **_lipschitz(3e7))], study="s", request={})


def _lipschitz(slack: float) -> dict[str, object]:
    return {"kind": "lipschitz", "column": "x", "interval": (0, 1), "slack": slack}


@pytest.mark.parametrize("level", [math.nan, math.inf])
def test_a_level_that_is_no_number_never_passes(path: Path, level: float) -> None:
    book = ledger(path, level=lambda _, spends: level if spends else 0.0)
    book.register("d", "row", DP)
    with pytest.raises(BudgetExceededError):
        debit(book)
    assert book.spends("d") == []
    with pytest.raises(BudgetExceededError):
        ledger(path, level=lambda *_: level).register("d", "row", BDP)


def test_the_level_sees_old_and_new_spends_in_order(path: Path) -> None:
    seen: list[list[str]] = []

    def level(_reading: Reading, spends: Sequence[Spend]) -> float:
        seen.append([spend.query for spend in spends])
        return 0.0

    book = ledger(path, level=level)
    book.register("d", "row", DP)
    book.debit("d", "row", [spend(query="a"), spend(query="b")], study="s", request={})
    book.debit("d", "row", [spend(query="c")], study="s", request={})
    assert seen == [[], ["a", "b"], ["a", "b", "c"]]


def test_an_error_of_the_level_leaves_the_ledger_alone(book: Ledger, path: Path) -> None:
    def level(_reading: Reading, _spends: Sequence[Spend]) -> float:
        raise UnsupportedError("population", "odd", expected="another")

    with pytest.raises(UnsupportedError, match="odd"):
        debit(ledger(path, level=level))
    assert book.spends("d") == []


def test_a_data_set_without_a_reading_is_not_debited(book: Ledger) -> None:
    with pytest.raises(LedgerError, match="a registered reading"):
        book.debit("e", "row", [spend(dataset="e")], study="s", request={})
    assert [item["dataset"] for item in book.show()] == ["d"]


@pytest.mark.parametrize(
    ("spends", "match"),
    [
        ([], "at least one"),
        ([spend(dataset="e")], r"spend\.dataset"),
        ([spend(unit="person")], r"data\.unit"),
        ([spend(), spend(dataset="e")], r"spend\.dataset"),
        ([spend(), spend(unit="person")], r"spend\.unit"),
    ],
)
def test_spends_must_be_of_the_data_set_and_unit(
    path: Path, spends: list[Spend], match: str
) -> None:
    book = ledger(path, level=lambda *_: 0.0)  # a level that doesn't look must not matter
    book.register("d", "row", DP)
    with pytest.raises(InputError, match=match):
        book.debit("d", "row", spends, study="s", request={})
    with pytest.raises(InputError, match=match):
        book.preview("d", "row", DP, spends)
    assert book.spends("d") == []


def test_a_request_that_is_no_json_spends_nothing(book: Ledger) -> None:
    with pytest.raises(InputError):
        book.debit("d", "row", [spend()], study="s", request={"value": math.nan})
    assert book.spends("d") == []


def test_data_sets_have_budgets_of_their_own(book: Ledger) -> None:
    book.register("e", "person", DP)
    debit(book, 1.0)
    for cost in (0.25, 0.5):
        item = spend(cost, dataset="e", unit="person")
        book.debit("e", "person", [item], study="s", request={})
    costs = [
        [[case["dp_epsilon"] for case in release["spends"]] for release in shown["releases"]]
        for shown in book.show()
    ]
    assert costs == [[[1.0]], [[0.25], [0.5]]]
    assert [(case["dataset"], case["unit"], case["spent"]) for case in book.show()] == [
        ("d", "row", 1.0),
        ("e", "person", 0.75),
    ]
    assert [spend.dataset for spend in book.spends("e")] == ["e", "e"]


def test_spends_come_back_to_the_last_bit(book: Ledger) -> None:
    spends = [
        spend(0.1, query="ü 'quoted'", reads=("a", "b")),
        spend(1 / 3, kind="lipschitz", column="x", interval=(-1 / 3, 0.1), slack=5e-324),
        spend(1e-17, mechanism="other"),
    ]
    book.debit("d", "row", spends, study="s", request={})
    assert book.spends("d") == spends
    assert book.spends("unknown") == []


def test_what_was_spent_before_a_release(book: Ledger) -> None:
    releases = [debit(book, cost) for cost in (0.125, 0.25, 0.5)]
    before = [
        [spend.dp_epsilon for spend in book.spends("d", before=release)] for release in releases
    ]
    assert before == [[], [0.125], [0.125, 0.25]]
    with pytest.raises(LedgerError, match="id of a release"):
        book.spends("d", before="0" * 32)


def test_the_dp_sum_is_exact_over_many_debits(path: Path) -> None:
    book = ledger(path)
    book.register("d", "row", Reading("dp", 5.0))
    for _ in range(10):
        debit(book, 0.1)
    assert Fraction(spent(book)) >= 10 * Fraction(0.1)
    assert spent(book) == math.nextafter(1.0, 2.0)


@pytest.mark.prove
def test_digits_shown_err_on_the_safe_side() -> None:
    draw = random.Random(2)
    for _ in range(runs(2000)):
        value = draw.random() * 10.0 ** draw.randint(-9, 9)
        low, high = float(left_words(value, value)), float(up_words(value))
        assert low <= value <= high
        assert high - low <= 1.1e-5 * value
        part = value * draw.random()
        assert 0 <= part - float(left_words(value, part)) <= 1.1e-5 * value
    assert (up_words(0.5), up_words(0.1), up_words(0.0), up_words(1 / 3)) == (
        "0.5",
        "0.1",
        "0",
        "0.333334",
    )
    assert up_words(math.inf) == "inf"
    assert (up_words(sys.float_info.max), up_words(1.7976e308)) == ("1.8e+308", "1.7976e+308")
    assert (left_words(1.0, 2e-9), left_words(1.0, 0.7000001), left_words(1.0, 0.0)) == (
        ("0", "0.7", "0")
    )


# --- results ----------------------------------------------------------------------------------


def test_a_result_is_stored_once(book: Ledger) -> None:
    release = debit(book)
    assert book.release(release)["status"] == "debited"
    assert "result" not in book.release(release)
    book.store(release, {"z": 1.0, "a": [0.1, None, "ü"]})
    with pytest.raises(LedgerError, match="without a result"):
        book.store(release, {"z": 2.0})
    kept = book.release(release)
    assert kept["status"] == "released"
    assert json.dumps(kept["result"]) == json.dumps({"z": 1.0, "a": [0.1, None, "ü"]})


def test_only_known_releases_have_results(book: Ledger) -> None:
    for call in (lambda: book.store("0" * 32, {}), lambda: book.release("0" * 32)):
        with pytest.raises(LedgerError, match="id of a release"):
            call()


def test_a_result_must_be_json(book: Ledger) -> None:
    release = debit(book)
    with pytest.raises(InputError):
        book.store(release, {"value": math.inf})
    assert book.release(release)["status"] == "debited"


def test_a_release_is_shown_with_everything(path: Path) -> None:
    noon = datetime(2026, 1, 2, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    book = ledger(path, clock=lambda: noon)
    book.register("d", "row", DP)
    release = book.debit(
        "d", "row", [spend()], study="heights", request={"queries": [1]}, analyst="ada"
    )
    book.store(release, {"value": 1})
    expected = {
        "id": release,
        "sequence": 4,
        "head": book.show()[0]["releases"][0]["head"],
        "time": "2026-01-02T12:00:00.000000+00:00",
        "analyst": "ada",
        "study": "heights",
        "status": "released",
        "spends": [spend().to_dict()],
        "result": {"value": 1},
    }
    assert book.show()[0]["releases"] == [expected]
    extra = {"dataset": "d", "unit": "row", "request": {"queries": [1]}, "stored": 5}
    assert book.release(release) == {**expected, **extra}


def test_show_tells_each_reading(book: Ledger) -> None:
    book.register("d", "row", BDP)
    debit(book, 0.1)
    (shown,) = book.show()
    assert json.loads(json.dumps(shown)) == shown
    plain, bayesian = shown["readings"]
    assert (plain["level"], plain["total"]) == (0.1, 1.0)
    assert (bayesian["level"], bayesian["total"]) == (0.2, 1.0)
    assert bayesian["words"] == BDP.words()
    assert bayesian["population"] == CHAIN
    # Rounded down: 1 - 0.1 lies between two floats.
    assert Fraction(plain["left"]) <= 1 - Fraction(0.1) < Fraction(math.nextafter(plain["left"], 2))


# --- preview ----------------------------------------------------------------------------------


def test_a_preview_writes_nothing_and_needs_no_file(path: Path) -> None:
    seen = ledger(path).preview("d", "row", BDP, [spend(0.25)])
    assert seen.refusal is None
    (reading,) = seen.readings
    assert (reading["level"], reading["level_after"], reading["left_after"]) == (0.0, 0.5, 0.5)
    assert reading["holds"]
    assert list(path.parent.iterdir()) == []


def test_a_preview_says_what_a_debit_would(book: Ledger, path: Path) -> None:
    book.register("d", "row", BDP)
    debit(book, 0.25)
    before = path.read_bytes()
    assert book.preview("d", "row", DP, [spend(0.25)]).refusal is None
    seen = book.preview("d", "row", DP, [spend(0.5)])
    assert [reading["holds"] for reading in seen.readings] == [True, False]
    assert [reading["level_after"] for reading in seen.readings] == [0.75, 1.5]
    assert path.read_bytes() == before
    with pytest.raises(BudgetExceededError) as caught:
        debit(book, 0.5)
    assert f"{seen.refusal} {NOTHING_SPENT}" == str(caught.value)


def test_a_preview_refuses_what_ensure_refuses(book: Ledger) -> None:
    with pytest.raises(LedgerError, match="bayesdp ledger register"):
        book.preview("d", "row", BDP, [spend()])
    with pytest.raises(LedgerError, match="can't raise a total"):
        book.preview("d", "row", Reading("dp", 2.0), [spend()])
    assert book.preview("e", "row", BDP, [spend(dataset="e")]).refusal is None
    assert [item["dataset"] for item in book.show()] == ["d"]


def test_the_package_is_lean_until_a_ledger_is_asked_for() -> None:
    code = (
        "import sys; from bayesdp.accounting import Spend; assert 'sqlalchemy' not in sys.modules;"
        "from bayesdp.accounting import Ledger; assert 'sqlalchemy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_times_default_to_now(book: Ledger) -> None:
    time = datetime.fromisoformat(book.release(debit(book))["time"])
    assert abs(datetime.now(UTC) - time) < timedelta(minutes=5)
    assert factor(DP, book.spends("d")) == 0.25


# --- columns that are protected, and refusals -----------------------------------------------------


def test_what_was_private_stays_private_and_what_was_public_public(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l.db")
    book.ensure("d", "row", DP, private=["x", "y"], public=["town"])
    book.ensure("d", "row", DP, private=["y", "z"])  # a study needn't name all of them
    for flipped in ({"public": ["x"]}, {"public": ["z", "town"]}, {"private": ["town"]}):
        for ask in (
            lambda flipped=flipped: book.ensure("d", "row", DP, **flipped),
            lambda flipped=flipped: book.register("d", "row", BDP, **flipped),
            lambda flipped=flipped: book.preview("d", "row", DP, [spend()], **flipped),
        ):
            with pytest.raises(LedgerError, match=r"data\.columns\..*as a study of the data set"):
                ask()
    assert len(book.show()[0]["readings"]) == 1
    book.ensure("e", "row", DP, public=["x"])  # another data set has other columns
    with pytest.raises(InputError, match="one of them"):
        book.ensure("d", "row", DP, private=["x"], public=["x"])


def test_a_refused_registration_declares_nothing(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l.db")
    book.ensure("d", "row", DP)
    with pytest.raises(LedgerError):
        book.ensure("d", "row", Reading("dp", 2.0), public=["x"])
    book.ensure("d", "row", DP, private=["x"])


def test_refusals_are_kept(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l.db")
    book.refused("d", "a.toml", "table")
    assert book.show() == []
    book.ensure("d", "row", DP)
    book.refused("d", "b.toml", "table")
    book.refused("e", "b.toml", "table")
    assert [(refusal["dataset"], refusal["study"]) for refusal in book.refusals()] == [
        ("d", "a.toml"),
        ("d", "b.toml"),
        ("e", "b.toml"),
    ]
    assert book.show()[0]["refusals"] == 2


# --- whose release it is --------------------------------------------------------------------------


def test_each_release_and_each_refused_attempt_has_its_analyst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    book = ledger(tmp_path / "l.db")
    book.ensure("d", "row", DP)
    ask = {"study": "s.toml", "request": {}}
    first = book.debit("d", "row", [spend(0.75)], analyst="Ada L.", **ask)
    second = book.debit("d", "row", [spend(0.25)], **ask)
    with pytest.raises(BudgetExceededError):
        book.debit("d", "row", [spend(0.5)], analyst="Ada L.", **ask)
    book.refused("d", "t.toml", "table")
    assert [(item["id"], item["analyst"]) for item in book.show()[0]["releases"]] == [
        (first, "Ada L."),
        (second, "grace"),
    ]
    assert book.release(first)["analyst"] == "Ada L."
    kept = [
        tuple(refusal[key] for key in ("analyst", "study", "reason")) for refusal in book.refusals()
    ]
    assert kept == [("Ada L.", "s.toml", "budget"), ("grace", "t.toml", "table")]
    assert book.show()[0]["spent"] == 1.0  # a refused attempt costs nothing
    asked = [(refusal["dp_epsilon"], refusal["dp_rho"]) for refusal in book.refusals()]
    assert asked == [(0.5, 0.0), (None, None)]
    named = {row["analyst"]: row for row in book.show()[0]["analysts"]}
    assert list(named) == ["Ada L.", "grace"]
    assert named["Ada L."] == {
        "analyst": "Ada L.",
        "releases": 1,
        "dp_epsilon": 0.75,
        "dp_rho": 0.0,
        "dp_delta": 0.0,
        "refused": 1,
        "refused_dp_epsilon": 0.5,
        "refused_dp_rho": 0.0,
    }
    assert (named["grace"]["dp_epsilon"], named["grace"]["refused_dp_epsilon"]) == (0.25, None)
    shown = io.StringIO()
    show_ledger(Console(file=shown, width=100), book.show(), book.refusals())
    lines = " ".join(shown.getvalue().split())
    assert "because of the budget (it asked for DP cost 0.5)" in lines
    assert (
        "Ada L.: 1 release, DP cost 0.75; 1 attempt refused, which asked for DP cost 0.5." in lines
    )
    assert "grace: 1 release, DP cost 0.25; 1 attempt refused." in lines


def test_analysts_of_disjoint_blocks_have_spent_less_together(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l.db")
    book.ensure("d", "row", DP)
    north, south = (Block("region", (name,)) for name in ("north", "south"))
    for analyst, block in (("Ada", north), ("Ada", south), ("Bo", south), ("Bo", None)):
        asked = replace(spend(0.25), block=block)
        book.debit("d", "row", [asked], study="s.toml", request={}, analyst=analyst)
    (dataset,) = book.show()
    assert [row["dp_epsilon"] for row in dataset["analysts"]] == [0.25, 0.5]
    assert dataset["spent"] == 0.75

    def lines(**only: str) -> str:
        shown = io.StringIO()
        show_ledger(Console(file=shown, width=100), *book.entries(**only))
        return " ".join(shown.getvalue().split())

    assert "Together: DP cost 0.75." in lines()
    asked = [replace(spend(0.01), query=name) for name in ("a", "b", "a", "<c>", "d", "e")]
    assert asked_words({"spends": [item.to_dict() for item in asked]}) == "a, b, <c> and 2 more"
    book.debit("d", "row", [replace(spend(0.25), block=north)], study="", request={}, analyst="Cy")
    assert "Together: DP cost 0.75, which is less than the sum of the analysts' costs" in lines()
    assert "Together" not in lines(analyst="Bo")
    assert "<td>Cy</td><td>1</td><td>0.25</td><td>0</td>" in book._repr_html_()


def test_entries_are_chosen_by_their_time(tmp_path: Path) -> None:
    noon = [datetime(2026, 11, 1, 12, tzinfo=UTC)]
    book = ledger(tmp_path / "l.db", clock=lambda: noon[-1])
    book.ensure("d", "row", DP)
    for day in (1, 30):
        noon.append(datetime(2026, 11, day, 12, tzinfo=UTC))
        book.debit("d", "row", [spend(0.25)], study="s.toml", request={}, analyst="Ada")
    noon.append(datetime(2026, 12, 1, 12, tzinfo=UTC))
    book.refused("d", "s.toml", "table", analyst="Bo")

    def counted(**only: object) -> tuple[int, int]:
        return len(book.show(**only)[0]["releases"]), len(book.refusals(**only))

    assert counted() == (2, 1)
    assert counted(since="2026-11-02", until="2026-11-30") == (1, 0)
    assert counted(since=date(2026, 11, 1), until=date(2026, 12, 1)) == (2, 1)
    assert counted(until="2026-11-30T13:00:00+02:00") == (1, 0)
    assert counted(until=datetime(2026, 11, 30, 12)) == (2, 0)
    assert counted(analyst="Bo") == (0, 1)
    assert counted(dataset="d", since="20261201") == (0, 1)
    assert book.show(until="2026-11-01")[0]["spent"] == 0.5  # of all releases
    for only, key in (
        ({"since": "soon"}, "since"),
        ({"until": 20261130}, "until"),
        ({"until": pd.NaT}, "until"),
        ({"since": "2026-11-02", "until": "2026-11-01"}, "until"),
        ({"analyst": "Cy"}, "analyst"),
        ({"dataset": "e"}, "dataset"),
    ):
        with pytest.raises(InputError, match=f"^{key} is"):
            book.show(**only)


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "turned \u202e", "bell\a"])
def test_a_name_that_is_not_shown_as_it_stands_is_refused(name: str, book: Ledger) -> None:
    with pytest.raises(InputError, match=r"budget\.analyst"):
        book.debit("d", "row", [spend()], study="s.toml", request={}, analyst=name)
    with pytest.raises(InputError, match=r"budget\.analyst"):
        book.refused("d", "s.toml", "table", analyst=name)
    assert (spent(book), book.refusals()) == (0.0, [])


def test_a_process_without_a_login_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "a\x1b[2Jb")
    assert login_name() == "a\\x1b[2Jb"

    def none() -> str:
        raise OSError("no username set")

    monkeypatch.setattr("getpass.getuser", none)
    assert login_name() == "unknown"
