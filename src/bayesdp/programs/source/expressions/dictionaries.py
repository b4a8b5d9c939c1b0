"""Dictionaries: tables of values with keys that are known beforehand.

An entry is taken by a literal key, or by a label, truth value or whole number of a row: that is
written out, `1.2 if p.region == "north" else 0.9`, so that no rule needs to know of dictionaries.
"""

from __future__ import annotations

import ast

from bayesdp.programs.source.drafts.arguments import bind
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    BOOL,
    Dictionary,
    Items,
    LoweredValue,
    Scalar,
    described,
    highest,
    operation,
    scalar,
    static,
    static_of,
    unmixed,
    whole_or_real,
)
from bayesdp.programs.source.expressions.conditions import comparison
from bayesdp.programs.source.syntax.diagnostics import refuse, written
from bayesdp.programs.source.syntax.literals import Literal

MOST_ENTRIES = 1024
MOST_CHOSEN = 64
"""The most entries that a row's value may choose among."""
VIEWS = ("keys", "values", "items")


def dictionary(node: ast.Dict, context: Context) -> LoweredValue:
    """`{"north": 1.2, "south": 0.9}`: literal keys, and values that are not private."""
    if not node.keys:
        raise refuse(
            "size",
            node,
            "A dictionary has its keys from the beginning.",
            "Collect values in a tuple: found = found + (value,).",
        )
    keys: list[Literal] = []
    values: list[LoweredValue] = []
    for at, value in zip(node.keys, node.values, strict=True):
        if at is None:
            raise refuse("construct", node, "`**` is not part of the language.", "List the keys.")
        key = static_of(context.value(at))
        if key is None or isinstance(key, tuple):
            raise refuse("static", at, "A key is a text, a number or a truth value.", "A literal.")
        if key in keys:
            raise refuse("construct", at, f"The key {written(at)} stands here twice.", "")
        entry = context.value(value)
        if not _known(entry):
            raise refuse(
                "private-output",
                value,
                f"A dictionary holds numbers and texts, and here stands {described(entry)}.",
                "Release it first; or keep it under a name of its own.",
            )
        keys.append(key)
        values.append(entry)
    if not 1 <= len(keys) <= MOST_ENTRIES:
        raise refuse("size", node, f"A dictionary has 1 to {MOST_ENTRIES} entries.", "")
    return Dictionary(tuple(keys), tuple(values))


def _known(value: LoweredValue) -> bool:
    if isinstance(value, Items):
        return all(map(_known, value.items))
    return isinstance(value, Scalar) and value.level != "private"


def entry_for(owner: Dictionary, key: Scalar, node: ast.Subscript) -> LoweredValue:
    """The entry of a dictionary, by a literal key or by a value that chooses among its entries.

    `owner` is the dictionary, `key` what stands in brackets at `node`.
    """
    known = static_of(key)
    if known is not None:
        return owner.values[_place(owner, known, node)]
    if key.level == "private":
        raise refuse(
            "private-control",
            node,
            "This key is private: which entry is taken would tell about the data.",
            "Take the entry inside the row: sum(WEIGHTS[p.region] for p in people).",
        )
    listed = [(value, _place(owner, value, node)) for value in _values_of(key, node)]
    parts = [scalar(owner.values[at], node) for _, at in listed]
    for part in parts:
        if part.type.kind not in ("bool", "int", "real"):
            raise refuse(
                "type",
                node,
                "A row's value chooses between numbers or truth values.",
                "Compare texts instead, and give tuples dictionaries of their own.",
            )
    level = highest(key.level, *(part.level for part in parts))
    unmixed([level], node)
    kinds = [part.type for part in parts]
    kind = BOOL if all(each.kind == "bool" for each in kinds) else whole_or_real(*kinds)
    released = key.released or any(part.released for part in parts)
    entry = parts[-1]
    for (value, _), part in zip(reversed(listed[:-1]), reversed(parts[:-1]), strict=True):
        held = static(value, node)
        assert isinstance(held, Scalar)
        test = comparison("eq", node, key, held)
        entry = Scalar(level, operation("if", node, test, part, entry), kind, released)
    return entry


def _values_of(key: Scalar, node: ast.AST) -> tuple[Literal, ...]:
    """Every value that a key may have."""
    kind = key.type
    if kind.labels:
        values: tuple[Literal, ...] = kind.labels
    elif kind.kind == "bool":
        values = (False, True)
    elif kind.kind == "int" and kind.low is not None and kind.high is not None:
        many = min(int(kind.high - kind.low) + 1, MOST_CHOSEN + 1)
        values = tuple(kind.low + i for i in range(many))
    else:
        raise refuse(
            "static",
            node,
            "What this key may be is not known beforehand.",
            "A literal; or a Category, Bool or Int column of a row.",
        )
    if len(values) > MOST_CHOSEN:
        raise refuse("size", node, f"A key has more than {MOST_CHOSEN} values.", "Merge some.")
    return values


def _place(owner: Dictionary, key: Literal, node: ast.AST) -> int:
    for place, held in enumerate(owner.keys):
        if type(held) is type(key) and held == key:
            return place
    keys = ", ".join(
        f"{held!r}" if isinstance(held, str | bool) else f"{held}" for held in owner.keys
    )
    raise refuse("type", node, f"The dictionary has no entry for {_shown(key)}.", f"It has {keys}.")


def _shown(key: Literal) -> str:
    return repr(key) if isinstance(key, str | bool) else f"{key}"


def keys_of(owner: Dictionary, node: ast.AST) -> Items:
    """The keys of a dictionary, as a loop goes over them."""
    return Items(tuple(static(key, node) for key in owner.keys))


def viewed(owner: Dictionary, node: ast.Call, name: str) -> LoweredValue:
    """`table.keys()`, `table.values()` and `table.items()`.

    `owner` is the dictionary, `name` the method that `node` calls.
    """
    bind(node, [], needed=0)
    keys = keys_of(owner, node)
    if name == "keys":
        return keys
    if name == "values":
        return Items(owner.values)
    pairs = zip(keys.items, owner.values, strict=True)
    return Items(tuple(Items((key, value)) for key, value in pairs))
