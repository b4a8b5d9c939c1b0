"""The catalogue of notions: what it says, what it refuses, and its page in the docs."""

from __future__ import annotations

import math
import re

import pytest

from bayesdp.errors import InputError
from bayesdp.notions import CATALOGUE, NotionClaim, believed, notion_of
from tools.make_notion_docs import PAGE, page

KEYS = [
    "dp",
    "strong-dp",
    "group-dp",
    "bdp",
    "bdp-uninformed",
    "bdp-informed",
    "independent-bdp",
    "sp",
    "bsp",
    "mp",
    "causal-do",
    "pufferfish",
]


def test_the_keys_are_stable():
    assert list(CATALOGUE) == KEYS
    for key, notion in CATALOGUE.items():
        assert notion.key == notion.name == key
        assert notion_of(key) is notion
        assert notion.relative == ("population" in notion.scopes)


def test_words_never_promise_more_than_the_level():
    for notion in CATALOGUE.values():
        size = 3 if "size" in notion.parameters else None
        for level in (0.0, 0.01, 0.33, 0.7, 0.999):
            said = notion.in_words(level, size=size)
            factors = re.findall(r"(?:at most|the factor) (\d[\d.]*)[.:,]?(?: |$)", said)
            if notion.unit == "probability":
                points = float(re.search(r"at most ([\d.]+) percentage points", said).group(1))
                assert level * 100.0 <= points + 1e-9 <= level * 100.0 + 0.11
            else:
                assert factors, said
                assert math.exp(level) <= float(factors[0].rstrip(".")) + 1e-7
            becomes = re.search(r"10 % becomes at most ([\d.]+) %", said)
            if becomes:
                assert 100.0 * believed(0.1, level) <= float(becomes.group(1)) + 1e-7
        assert "nothing is promised" in notion.in_words(notion.largest, size=size)


def test_what_a_belief_becomes():
    assert believed(0.1, 0.0) == pytest.approx(0.1)
    assert believed(0.5, math.log(3.0)) == pytest.approx(0.75)
    assert believed(0.0, 5.0) == 0.0
    assert believed(1.0, 5.0) == 1.0


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("bdp", -0.1, "population"), "level"),
        (("sp", 1.1, "all"), "level"),
        (("bdp", math.nan, "population"), "level"),
        (("dp", 1.0, "population"), "scope"),
        (("pufferfish", 1.0, "all"), "scope"),
        (("mp", 1.0, "population", "", 0.1), "delta"),
        (("dp", 1.0, "all", "", 1.0), "delta"),
        (("group-dp", 1.0, "all"), "size"),
        (("dp", 1.0, "all", "", 0.0, 2), "size"),
        (("bpd", 1.0, "all"), "notion"),
    ],
)
def test_claims_that_mean_nothing_are_refused(arguments: tuple, key: str):
    with pytest.raises(InputError) as error:
        NotionClaim(*arguments)
    assert error.value.key == key


def test_a_claim_says_whom_it_holds_for():
    said = NotionClaim("bdp", 1.0, "family", "chains", 1e-6).in_words()
    assert "every member" in said
    assert "(chains)" in said
    assert "allowance of 1e-06" in said
    assert "2.72" in said
    assert "whatever the population" in NotionClaim("dp", 1.0, "all").in_words()
    assert "Replacing 3 records" in NotionClaim("group-dp", 1.0, "all", size=3).in_words()


def test_the_page_is_made_from_the_catalogue():
    """If this fails: `python tools/make_notion_docs.py`."""
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text
