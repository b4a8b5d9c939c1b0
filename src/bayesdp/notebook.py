"""What a notebook shows of a result: HTML without scripts and styles, in which all text is escaped.

`_repr_html_` of results calls these. They are given what `str` of the same result shows, so nothing
that was not released can be in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Generic, TypeVar, overload

from bayesdp.errors import as_shown

Row = TypeVar("Row")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in HTML: its `title`, the names of `columns`, and `rows`; a cell `None` is empty."""
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{_text(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


class Listing(Generic[Row]):
    """Rows to go through, to count, to take by their place and to print: one line each."""

    __slots__ = ()

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        """The row at this place, or the rows of a slice."""
        return self.rows[place]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))


class Figure(str):
    """An SVG element: text to write to a file, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def paragraph(text: str) -> str:
    """A line of text."""
    return f"<p>{_text(text)}</p>"


def verbatim(text: str) -> str:
    """Lines of text as a terminal shows them."""
    return "<pre>" + "\n".join(_text(line) for line in text.split("\n")) + "</pre>"


def _text(cell: object) -> str:
    return "" if cell is None else escape(as_shown(str(cell)))
