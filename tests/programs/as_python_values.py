"""Program files read as Python: rows, persons, vectors and labels."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


class Rows(list):
    """A sequence of rows; `read` are the columns that decide which rows are in it."""

    read: frozenset[str] = frozenset()
    bare = False  # kept rows of a filter over single values: they are counted as rows

    @property
    def size(self) -> int:
        return len(self)

    def __getattr__(self, name: str) -> Any:
        """A column, where the rows have it."""
        if name == "labels" or name not in self.labels:
            raise AttributeError(name)
        rows = self.like(getattr(row, name) for row in self)
        rows.over = self  # type: ignore[attr-defined]
        return rows

    def __getitem__(self, at: Any) -> Any:
        return getattr(self, at) if isinstance(at, str) else super().__getitem__(at)

    def like(self, values: Any) -> Rows:
        """Other values of the same rows."""
        rows = Rows(values)
        rows.read, rows.labels = self.read, self.labels  # type: ignore[attr-defined]
        return rows


class Person(Rows):
    """The rows of one person, in their order; public columns are those of each."""

    def first(self, *, by: str) -> Any:
        return min(self, key=lambda row: getattr(row, by))

    def last(self, *, by: str) -> Any:
        return max(self, key=lambda row: getattr(row, by))

    def __getattr__(self, name: str) -> Any:
        if name == "labels" or name not in self.labels:
            raise AttributeError(name)
        return getattr(self[0], name)


class Row(SimpleNamespace):
    """A record: its columns as attributes, or in brackets."""

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


class Vec(tuple):
    """A vector of numbers: arithmetic entry by entry."""

    def _with(self, other: Any, do: Any) -> Vec:
        others = other if isinstance(other, tuple) else (other,) * len(self)
        return Vec(do(a, b) for a, b in zip(self, others, strict=True))

    def __add__(self, other: Any) -> Vec:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Vec:
        return self if other == 0 else self._with(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Vec:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Vec:  # type: ignore[override]
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __truediv__(self, other: Any) -> Vec:
        return self._with(other, lambda a, b: a / b)

    def __neg__(self) -> Vec:
        return Vec(-a for a in self)


@dataclass(frozen=True)
class Label:
    """A value of a Category column: knows its place among the labels."""

    text: str
    labels: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return self.text == (other.text if isinstance(other, Label) else other)

    def __hash__(self) -> int:
        return hash(self.text)


def vector(value: Any) -> Any:
    return Vec(value) if isinstance(value, (tuple, list)) else value


def text_of(value: Any) -> str:
    return value.text if isinstance(value, Label) else str(value)


def place_of(value: Any) -> tuple[int, int]:
    """How many values there are, and which this is."""
    if isinstance(value, Label):
        return len(value.labels), value.labels.index(value.text)
    if isinstance(value, bool):
        return 2, int(value)
    return 0, int(value)
