"""One grammar of conditions: what a study accepts a certificate may say, and it means the same."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest

from bayesdp.errors import InputError
from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.consistency import check_query
from bayesdp.kernel.costs.blocks import truth
from bayesdp.kernel.reading import stated_columns
from bayesdp.statements import StatementError, conditions
from bayesdp.statements.conditions import Comparison, ConditionError, Joined, columns_of, parse
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from tests.kernel.statements import read_query

PLAIN: dict[str, Any] = {
    "x": {"bounds": [-5.0, 5.0]},
    "role": {"states": ["child", "it's", "Æ"]},
    "grade": {"states": [1, 2, 3]},
    "ok": {"states": [True, False]},
    "high": {"from": "x", "where": "x > 1"},
    "level": {"from": "x", "cuts": [0.0, 1.5]},
    "day": {"role": "order", "step": "1 day"},
    "fam": {"role": "cluster", "states": ["a", "b"]},
    "site": {"public": True},
}
TABLE = parse_columns(PLAIN)
STATED = stated_columns(PLAIN)
VALUES: Mapping[str, list[Any]] = {
    "x": [-5.0, -0.0, 0.1, 1, 2.5],
    "role": ["child", "it's", "Æ"],
    "grade": [1, 2, 3],
    "ok": [True, False],
    "high": [0, 1],
    "level": [0, 1, 2],
    "day": ["2026-02-01", "2026-02-02", "2026-02-01 08:15:00"],
    "fam": ["a", "b"],
    "site": ["n", "s", "1"],
}
ORDERED = ("<", "<=", ">", ">=")
FORGED = [
    "x > 0.5 # and g == 'a', of adults only",
    "x > 0.5 # \u202e and g == 'a'\n# \u2066 level 0.1",
    "(x > 0.5) or (x != '\u202e\u200b')",
    "x",
    "x == 'tall'",
    "x in x",
    "x > 0.5 if x else x",
    "[x] == [1]",
    "x > None",
    "x > 1j",
    "-x > ...",
    "x > 1e999",
    "x > -1e999",
    "x > b'1'",
]
"""Conditions of certificates that were valid once."""
ELSE = [
    "x > 0.5  # \u200b",
    "x > 0.5\n",
    "\tx > 0.5",
    "(x > 0.5\n)",
    "x > \\\n0.5",
    "site == '\u202e'",
    "site == '\\u202e'",
    "site == '\\n'",
    "site == '\ud800'",
    "site == '\\d'",
    "ｘ > 0.5",
    "x > 1and x < 2",
    "x > 9007199254740993",
    "x > -9007199254740993",
    "x > True",
    "x > --1",
    "x < grade",
    "1 < 2 < x",
    "x == x",
    "[1] in x",
    "1 in x",
    "x in 1",
    "x in (1)",
    "x in [1, x]",
    "x in [*site]",
    "x in {1: 2}",
    "x in []",
    "f'{x}' == 1",
    "x is 1",
    "(y := 1) == x",
    "ok == 1",
    "grade == True",
    "grade == 4",
    "grade in [1, 4]",
    "'aunt' == role",
    "role < 'child'",
    "ok < True",
    "site >= '2026-02-01'",
    "site == 'n' or site == 1",
    "day == 'monday'",
    "day < '2026-02-30'",
    "day < '2026-02-01 00:00:00'",
    "day == 3",
    "high == 2",
    "level == 3",
    "unknown == 1",
    "not " * 60 + "x > 1",
    "x > 1 or " * 2000 + "x > 1",
    "(" * 300 + "x > 1" + ")" * 300,
    "1" + " + 1" * 2400 + " == x",
    "x == " + "[" * 150 + "]" * 150,
    "x == " + "1" * 5000,
    "x > 1; x > 2",
    "",
    "  ",
    "`x > 1",
    "``> 1",
    "x`x` > 1",
    "`x`1 > 1",
    "`x` `x` > 1",
    "`x > 1`",
    "`unknown` > 1",
    "'`x`' > 1",
    "`x` == '`x`' 'y'",
    "x > 1 # `x`",
    "`x` > `x`",
    "`x`.real > 1",
    "`x`() > 1",
    "site == '''a\\''' `x` '''",
]
FINE = [
    "  x > 1 ",
    "'#' == site and x > 1",
    "site != '' or x == 1_0",
    "site == 'n' 's'",
    "0 < x <= 2.5 != x",
    "1 >= x",
    "x in {1, 0.1} or x not in (-5, +2.5)",
    "day >= '2026-02-01 08:15:00' and day in ['2026-02-01']",
    "high == True and level >= 7",
    "not (role == 'Æ' or ok != False)",
    "grade < 9 and fam in ('a', 'b')",
    "`x` > 1 and`grade`==1",
    "site == '`' or `site` == \"it's `x`\"",
]


def by_study(text: Any) -> Predicate | None:
    try:
        return Predicate.parse(text, TABLE)
    except InputError:
        return None


def by_certificate(text: Any) -> bool:
    try:
        check_query(read_query({"name": "q", "kind": "count", "where": text}), STATED)
    except (InvalidError, StatementError):
        return False
    return True


@pytest.mark.parametrize("text", [*FORGED, *ELSE], ids=lambda text: ascii(text)[:40])
def test_neither_a_study_nor_a_certificate_may_say_it(text: str) -> None:
    assert by_study(text) is None
    assert not by_certificate(text)
    column = {"from": "x", "where": text}
    with pytest.raises(InvalidError):
        stated_columns(PLAIN | {"other": column})
    with pytest.raises(InputError):
        parse_columns(PLAIN | {"other": column})


@pytest.mark.parametrize("text", FINE)
def test_both_may_say_it(text: str) -> None:
    assert by_study(text) is not None
    assert by_certificate(text)


@pytest.mark.parametrize("text", [None, 1, True, ["x > 1"], {"x": 1}, b"x > 1"])
def test_what_is_not_a_text(text: Any) -> None:
    assert by_study(text) is None
    with pytest.raises(ConditionError):
        parse(text)
    with pytest.raises(InvalidError):
        stated_columns(PLAIN | {"other": {"from": "x", "where": text}})


def test_a_derived_column_is_about_its_source_alone() -> None:
    other = {"from": "x", "where": "x > 1 and grade == 1"}
    with pytest.raises(InvalidError):
        stated_columns(PLAIN | {"other": other})
    with pytest.raises(InputError):
        parse_columns(PLAIN | {"other": other})


def test_a_source_that_is_not_declared_holds_anything() -> None:
    other = {"from": "z", "where": "z == 'a' or z == 'b'"}
    assert "other" in stated_columns(PLAIN | {"other": other})
    mixed = {"from": "z", "where": "z == 'a' or z == 1"}
    with pytest.raises(InvalidError):
        stated_columns(PLAIN | {"other": mixed})


def test_the_tree() -> None:
    tree = parse("not (1 < x <= 2 or role in ['a', 'b'])")
    between = Joined("and", (Comparison("x", ">", (1,)), Comparison("x", "<=", (2,))))
    of_role = Comparison("role", "in", ("a", "b"))
    assert tree == Joined("not", (Joined("or", (between, of_role)),))
    assert columns_of(tree) == {"x", "role"}


def test_a_comment_is_named() -> None:
    with pytest.raises(InputError, match="without a comment"):
        Predicate.parse("x > 1 # of adults", TABLE)


def test_what_columns_are_is_the_same_for_study_and_certificate() -> None:
    from bayesdp.statements.column_sets import operand
    from bayesdp.tables.columns.predicates import _operand

    for name, column in STATED.items():
        assert operand(column) == _operand(TABLE[name]), name
    positions = {"t": {"role": "order", "step": 1, "states": [1, 2]}}
    assert operand(stated_columns(positions)["t"]) == _operand(parse_columns(positions)["t"])


# -- at random ------------------------------------------------------------------------------


def literal(value: Any, rng: random.Random) -> str:
    text = repr(value)
    return rng.choice([text, f"({text})"]) if rng.random() < 0.1 else text


def comparison(rng: random.Random) -> str:
    name = rng.choice(list(VALUES))
    values = VALUES[name]
    kind = rng.random()
    if kind < 0.3:
        several = [literal(value, rng) for value in rng.choices(values, k=rng.randint(1, 3))]
        left, right = rng.choice(["[]", "()", "{}"])
        inside = ", ".join(several) + ("," if len(several) == 1 else "")
        return f"{name} {rng.choice(['in', 'not in'])} {left}{inside}{right}"
    ordered = name in ("x", "grade", "high", "level", "day")
    operators = ("==", "!=", *(ORDERED if ordered else ()))
    first, second = (literal(rng.choice(values), rng) for _ in range(2))
    item, other = rng.choice(operators), rng.choice(operators)
    if kind < 0.5:
        return f"{first} {item} {name} {other} {second}"
    return f"{first} {item} {name}" if kind < 0.7 else f"{name} {item} {first}"


def condition(rng: random.Random, depth: int = 0) -> str:
    if depth > 3 or rng.random() < 0.4:
        return comparison(rng)
    if rng.random() < 0.25:
        return f"not ({condition(rng, depth + 1)})"
    parts = [f"({condition(rng, depth + 1)})" for _ in range(rng.randint(2, 3))]
    return f" {rng.choice(['and', 'or'])} ".join(parts)


LETTERS = [*"x01'\"#()[]<>=!,-+.ebj \\\n\t_*:", "\u202e", "\u200b", "\u3000", "é", "ﬁ", "in", "not"]


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(text) + 1)
        upto = at + rng.choice([0, 0, 1, 2])
        text = text[:at] + rng.choice([*LETTERS, rng.choice(FORGED), ""]) + text[upto:]
    return text


def row(rng: random.Random) -> dict[str, Any]:
    return {name: rng.choice(values) for name, values in VALUES.items()}


def test_what_is_accepted_means_what_python_says() -> None:
    rng = random.Random(6)
    for _ in range(600):
        text = condition(rng)
        predicate = by_study(text)
        assert predicate is not None, text
        assert by_certificate(text), text
        code = compile(text, "condition", "eval")
        for _ in range(8):
            values = row(rng)
            assert predicate.holds(values) == eval(code, {}, values), (text, values)
            for name in VALUES:  # what the value of one column decides, is so
                decided = truth(parse(text), name, values[name])
                assert decided in (None, predicate.holds(values)), (text, values, name)


def test_study_and_certificate_accept_the_same_texts() -> None:
    rng = random.Random(7)
    accepted = 0
    for _ in range(4000):
        text = mutated(comparison(rng), rng)
        predicate = by_study(text)
        assert (predicate is not None) == by_certificate(text), text
        if predicate is None:
            continue
        accepted += 1
        assert "#" not in text or "#" in repr(parse(text)), text
        assert all(letter not in text for letter in "\n\t\u202e\u200b")
        values = row(rng)
        assert predicate.holds(values) == eval(text.strip(), {}, values), text
    assert 100 < accepted < 3900


ODD = {
    "x": "body height",
    "role": "class",
    "grade": "2019",
    "ok": "hh.size",
    "high": "from",
    "level": "it's",
    "day": '"#"',
    "fam": "not",
    "site": "'name0'",
}


def renamed(tree: Any) -> Any:
    if isinstance(tree, Joined):
        return Joined(tree.how, tuple(map(renamed, tree.parts)))
    return Comparison(ODD[tree.column], tree.operator, tree.values)


def test_names_between_backticks_are_names_like_others() -> None:
    """Also in a text with more of them than ten, whose places begin alike."""
    rng = random.Random(8)
    for _ in range(200):
        text = " or ".join(condition(rng) for _ in range(rng.randint(1, 4)))
        odd = re.sub(
            rf"'[^']*'|\"[^\"]*\"|\b({'|'.join(ODD)})\b",
            lambda match: f"`{ODD[match[1]]}`" if match[1] else match[0],
            text,
        )
        assert parse(odd) == renamed(parse(text)), odd


def test_names_of_all_kinds_in_a_study_and_on_a_certificate() -> None:
    plain = {ODD.get(name, name): dict(column) for name, column in PLAIN.items()}
    for column in plain.values():
        if "from" in column:
            column["from"] = ODD[column["from"]]
    plain["from"]["where"] = "`body height` > 1"
    text = "`class` == 'child' and `2019` in [1, 2] and `from` == 1 and 1 < `body height` <= 2"
    assert Predicate.parse(text, parse_columns(plain)).columns == {
        "class", "2019", "from", "body height",
    }  # fmt: skip
    check_query(read_query({"name": "q", "kind": "count", "where": text}), stated_columns(plain))


@pytest.mark.parametrize("text", ["body height > 1", "class == 1", "hh.size == 2", "2019 == 1"])
def test_the_message_says_how_odd_names_are_written(text: str) -> None:
    with pytest.raises(InputError, match="not a plain word stands between backticks"):
        Predicate.parse(text, TABLE)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("body height > 1", "body height"),
        ("'body height' > 1", "body height"),
        ("class == 1", "class"),
        ("hh.size.all == 2", "hh.size.all"),
        ("1 <= hh.size < 3", "hh.size"),
        ("2019 == 1 or `body height` > 1", "2019"),
        ("`class` == 1 and hh.size in [1]", "hh.size"),
    ],
)
def test_the_message_writes_the_declared_name_that_is_meant(text: str, name: str) -> None:
    columns = ("body height", "class", "hh.size", "hh.size.all", "2019", "size", "height", "x")
    declared = parse_columns({column: {"bounds": [0, 9]} for column in columns})
    with pytest.raises(InputError, match=f"Write `{re.escape(name)}`: a name that is not a plain"):
        Predicate.parse(text, declared)
    for other in ("classes of 3 > 1", "x y > 1"):
        with pytest.raises(InputError, match="stands between backticks: `body height`"):
            Predicate.parse(other, declared)


def test_no_word_of_a_condition_stands_for_a_name_by_chance() -> None:
    assert columns_of(parse("`a b` > 1 and name0 > 2")) == {"a b", "name0"}
    tree = parse("`a b` in ['name0', 'name_'] or `name0` == 'name__1'")
    assert columns_of(tree) == {"a b", "name0"}
    assert {value for part in conditions.comparisons(tree) for value in part.values} == {
        "name0", "name_", "name__1",
    }  # fmt: skip


def test_messages_show_the_names_and_not_what_stands_for_them() -> None:
    texts = {"`hh.size`() in [1]": "hh.size", "`hh.size`": "hh.size", "`it's`.x": "it's"}
    for text, shown in {**texts, "`hh.size` > '`hh.size`'": "hh.size"}.items():
        with pytest.raises(InputError) as error:
            Predicate.parse(text, TABLE)
        assert shown in str(error.value)
        assert "name0" not in str(error.value)


def test_the_text_of_a_condition_says_the_same() -> None:
    rng = random.Random(9)
    for _ in range(300):
        tree = renamed(parse(condition(rng)))
        assert parse(conditions.text_of(tree)) == tree
        tree = parse(condition(rng))
        assert parse(conditions.text_of(tree)) == tree


def test_the_limits() -> None:
    deepest = "not " * conditions.MOST_NESTED + "x > 1"
    assert by_study(deepest)
    assert by_certificate(deepest)
    assert not by_certificate("not " + deepest)
    longest = "x > 1".ljust(conditions.MOST_LETTERS)
    assert by_study(longest)
    assert by_certificate(longest)
    assert not by_certificate(longest + " ")
    assert by_certificate("x > 9007199254740992")
    assert by_certificate("x > -9007199254740992")
