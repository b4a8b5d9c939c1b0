"""Errors name the argument, the value, what was expected and the remedy; texts hide nothing."""

from __future__ import annotations

import ast
import inspect
import math
from fractions import Fraction
from pathlib import Path

import pytest

import bayesdp
from bayesdp.errors import (
    BayesdpError,
    InputError,
    Refusal,
    UnknownNameError,
    as_shown,
    check_keys,
    did_you_mean,
    finite_number,
    require_shown,
)
from bayesdp.populations import parse


@pytest.mark.parametrize(
    ("value", "double"), [(0.5, 0.5), (2, 2.0), (Fraction(1, 4), 0.25), (5e-324, 5e-324)]
)
def test_finite_numbers_above_zero_are_doubles(value: object, double: float) -> None:
    assert finite_number("level", value, expected="a number") == double


@pytest.mark.parametrize(
    "value", [0, -1.0, math.nan, math.inf, 10**400, "1", None, 1j, Fraction(1, 10**400)]
)
def test_other_values_are_named_with_what_was_expected(value: object) -> None:
    with pytest.raises(InputError, match=r"^level.*expected a level above 0"):
        finite_number("level", value, expected="a level above 0")


def test_zero_is_a_number_where_it_is_asked_for() -> None:
    assert finite_number("level", 0, expected="a number", zero=True) == 0.0
    with pytest.raises(InputError):
        finite_number("level", -1e-300, expected="a number", zero=True)


def test_the_closest_word_is_suggested_or_all_are_listed() -> None:
    assert did_you_mean("makov", ["tree", "markov"]) == "Did you mean 'markov'?"
    assert did_you_mean("weather", ["tree", "markov"]) == "Known: markov, tree."


def test_the_first_unknown_key_is_named_with_its_place_and_the_closest_known_one() -> None:
    check_keys("spend", {"kind": "any"}, ("kind", "query"))
    with pytest.raises(InputError, match=r"^spend\.qery: expected a known key\. .*'query'"):
        check_keys("spend", {"kind": "any", "qery": 1, "x": 2}, ("kind", "query"))
    with pytest.raises(InputError, match=r"^a\.b: expected a known key\. Known: kind, query\.$"):
        check_keys("", ["a.b"], ("query", "kind"))


def test_texts_that_look_like_others_are_refused_and_escaped() -> None:
    require_shown("mean height in cm: 170 ± 3", "source")
    for text in ("a\nb", "a\u202eb", "a\u200db", "a\x00b"):
        with pytest.raises(InputError, match="source"):
            require_shown(text, "source")
        assert as_shown(text).isprintable()
    assert as_shown("a\nb") == r"a\nb"
    assert as_shown("naïve") == "naïve"


def test_long_values_and_numbers_are_shown_in_short() -> None:
    assert len(str(InputError("rows", list(range(1000)), expected="few"))) < 200
    assert "1.000000e+30" in str(InputError("n", 10**30, expected="few"))
    assert "beyond all doubles" in str(InputError("n", 10**400, expected="few"))


def test_callers_may_catch_the_builtin_or_ours() -> None:
    assert issubclass(InputError, BayesdpError | ValueError)
    assert issubclass(InputError, ValueError)
    assert issubclass(UnknownNameError, KeyError)
    assert issubclass(Refusal, RuntimeError)
    assert not issubclass(Refusal, ValueError)


def test_a_refusal_of_a_size_says_what_to_do() -> None:
    package = Path(inspect.getfile(bayesdp)).parent
    missing, sizes = [], 0
    for file in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error")):
                continue
            said = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if "at most" in said.get("expected", ""):
                sizes += 1
                missing += [] if "remedy" in said else [f"{file.name}:{node.lineno}"]
    assert sizes > 10
    assert missing == []


def test_a_long_list_of_known_words_shows_only_a_few() -> None:
    many = [f"node{i:04}" for i in range(3000)]
    assert did_you_mean("nod0017", many) == "Did you mean 'node0017'?"
    few = "Known: node0000, node0001, node0002, node0003, node0004 and 2995 more."
    assert did_you_mean("weather", many) == few
    assert len(did_you_mean("weather", many[:20])) > 200  # a list that can be read is whole


def test_what_was_expected_is_listed_once() -> None:
    for wrong, close in (("weather", ""), ("markof", " Did you mean 'markov'?")):
        with pytest.raises(InputError) as raised:
            parse({"model": wrong})
        message = str(raised.value)
        assert message.endswith(f".{close}")
        assert message.count("independent") == 1
        assert "Known" not in message


def test_a_misspelt_parent_is_named_with_its_node_and_not_with_all_others() -> None:
    coin = {"states": ["a", "b"], "table": [0.5, 0.5]}
    nodes = [{"name": f"n{i}"} | coin for i in range(3000)]
    nodes[7] |= {"parents": ["weather"], "table": [[0.5, 0.5]] * 2}
    with pytest.raises(InputError) as raised:
        parse({"model": "network", "nodes": nodes})
    message = str(raised.value)
    assert message.startswith("population.nodes[7].parents[0] is 'weather'")
    assert "'n7'" in message
    assert "2995 more" in message
    assert len(message) < 300
