"""One budget for the same people: a name that only looks the same opens no second one."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from bayesdp.accounting import Ledger, Reading, Spend
from bayesdp.accounting.accounts.lookalikes import lookalike, skeleton
from bayesdp.accounting.costs.composition import level
from bayesdp.errors import LedgerError

READING = Reading("dp", 1.0)

SAME = [
    "Heights",
    "HEIGHTS",
    "heıghts",
    "ｈｅｉｇｈｔｓ",
    "hеights",  # a Cyrillic letter
    "hεights",  # a Greek one
    "heights ",
    "hei-ghts",
    "hèights",
    "he1ghts",
    "ℎeights",
]
CAPITALS = {"NAMES": "ΝAMES", "DAYS": "DAΥS", "HAM": "ΗΑΜ", "BH": "ВН"}


@pytest.mark.parametrize("name", SAME)
def test_a_study_opens_no_second_budget_under_a_name_that_looks_the_same(
    name: str, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "ledger.db", level=level)
    ledger.ensure("heights", "row", READING)
    spend = Spend(name, "row", "q", "any", 0.5)
    with pytest.raises(LedgerError, match="look like 'heights'"):
        ledger.preview(name, "row", READING, [spend])
    with pytest.raises(LedgerError, match="ledger register"):
        ledger.ensure(name, "row", READING)
    assert [known["dataset"] for known in ledger.show()] == ["heights"]
    ledger.register(name, "row", READING)
    ledger.ensure(name, "row", READING)
    assert ledger.preview(name, "row", READING, [spend]).refusal is None


def test_other_names_are_other_data_sets(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db", level=level)
    for name in ("heights", "heights 2", "weights", "высота", "ύψος", "身長", "---", "..."):
        ledger.ensure(name, "row", READING)
        ledger.ensure(name, "row", READING)
    assert len(ledger.show()) == 8


@pytest.mark.parametrize("name", CAPITALS)
def test_capitals_of_other_alphabets_look_like_latin_ones(name: str) -> None:
    assert lookalike(CAPITALS[name], [name]) == name


def test_letters_are_their_own_skeleton_but_for_those_that_look_alike() -> None:
    letters = set(string.ascii_lowercase + string.digits)
    skeletons = {letter: skeleton(letter) for letter in letters}
    assert {letter for letter in letters if skeletons[letter] != letter} == set("01i")
    assert lookalike("a", ["a"]) is None
    assert lookalike("A", ["b", "a"]) == "a"
