"""Program files read as Python: functions of rows, of tuples and of numbers."""

from __future__ import annotations

import builtins
import math
from fractions import Fraction
from typing import Any

from tests.programs.as_python_values import Label, Person, Rows, Vec, place_of, text_of


def total(rows: Any) -> Any:
    rows = [Vec(row) if isinstance(row, tuple) else row for row in rows]
    start = Vec((0,) * len(rows[0])) if rows and isinstance(rows[0], Vec) else 0
    return builtins.sum(rows, start)


def count(rows: Rows) -> int:
    if rows and all(isinstance(row, bool) for row in rows) and not rows.bare:
        return builtins.sum(rows)
    return len(rows)


def onehot(value: Any, k: int | None = None) -> Vec:
    size, at = place_of(value)
    size = size if k is None else k
    return Vec(int(i == at) for i in range(size))


def cross(*parts: Any) -> Label:
    sizes = [place_of(part) for part in parts]
    at = 0
    for size, place in sizes:
        at = at * size + place
    n = 1
    for size, _ in sizes:
        n *= size
    return Label(str(at), tuple(str(i) for i in range(n)))


def pairs_of(rows: Rows, by: str) -> list[Any]:
    labels = rows.labels[by]  # type: ignore[attr-defined]
    actual = []
    for label in labels:
        piece = Rows(row for row in rows if text_of(getattr(row, by)) == label)
        piece.read, piece.labels = rows.read | {by}, rows.labels  # type: ignore[attr-defined]
        actual.append((label, piece))
    return actual


def group_by(rows: Rows, by: str, most: int) -> Rows:
    keys = dict.fromkeys(getattr(row, by) for row in rows)
    own = {key: [row for row in rows if getattr(row, by) == key] for key in keys}
    assert all(len(held) <= most for held in own.values())
    persons = []
    for held in own.values():
        person = Person(held)
        person.labels = rows.labels  # type: ignore[attr-defined]
        persons.append(person)
    return rows.like(persons)


def pieces_of(rows: Rows, by: str) -> list[Any]:
    return [piece for _, piece in pairs_of(rows, by)]


def listed(values: list[Any], over: Any, read: tuple[str, ...], bare: bool) -> Any:
    actual = Rows(values)
    if isinstance(over, Rows):
        actual.read, actual.labels = over.read | set(read), over.labels  # type: ignore[attr-defined]
        single = bool(over) and not hasattr(over[0], "__dict__")
        actual.bare = single and bool(actual.read) and bare and (over.bare or not over.read)
        actual.over = over  # type: ignore[attr-defined]
    return actual


def zipped(*lists: Any) -> Any:
    pairs = builtins.zip(*lists, strict=True)
    return lists[0].like(pairs) if isinstance(lists[0], Rows) else list(pairs)


def quotient(a: Any, b: Any) -> Any:
    return a / b if isinstance(a, Vec) else Fraction(a) / b


def fold(rows: Rows, start: Any, step: Any) -> Any:
    for row in rows:
        start = step(start, row)
    return start


def transition_counts(rows: Rows, *, order: str, by: str | None = None) -> Vec:
    records = list(rows.over)  # type: ignore[attr-defined]
    places = [(by and getattr(row, by), getattr(row, order)) for row in records]
    size, counts = place_of(rows[0])[0], {}
    held = {
        place: place_of(row)[1]
        for place, row in zip(places, rows, strict=True)
        if places.count(place) == 1
    }
    for (unit, step), state in held.items():
        if (unit, step + 1) in held:
            pair = state, held[unit, step + 1]
            counts[pair] = counts.get(pair, 0) + 1
    return Vec(counts.get((a, b), 0) for a in range(size) for b in range(size))


FUNCTIONS: dict[str, Any] = {
    **{
        name: lambda x, name=name: Fraction(getattr(math, name)(x))
        for name in ("sqrt", "log", "exp", "lgamma")
    },
    "floor": math.floor,
    "round": lambda x: math.floor(x + Fraction(1, 2)),
}
ROWS: dict[str, Any] = {
    "sum": total,
    "count": count,
    "onehot": onehot,
    "cross": cross,
    "fold": fold,
    "zip": zipped,
    "field": lambda row, name: getattr(row, name),
    "group_by": group_by,
    "clip": lambda value, low, high: min(max(value, low), high),
    "transition_counts": transition_counts,
    "require": lambda _: None,
}
WRITTEN: dict[str, Any] = {
    "pairs_of": pairs_of,
    "pieces_of": pieces_of,
    "listed": listed,
    "quotient": quotient,
    "Fraction": Fraction,
}
"""What the rewritten text calls, which no program does."""
