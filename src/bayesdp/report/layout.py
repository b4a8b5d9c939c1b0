"""What is shown at a terminal, in its width: the one place where that matters.

Words are never broken, so that no number is cut in two. A table that is too wide for
that is shown row by row instead. Without a terminal (in a pipe) the width is 80, or `COLUMNS`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayesdp.report.numbers import THOUSANDS

READABLE = 80
"""Prose in longer lines is hard to read."""

LONGEST = 30
"""A longer word without a digit (a file's name, say) may be broken in a table's cell."""

TableCell = str | Text


def filled(text: str, width: int, first: str = "", rest: str = "") -> str:
    """The text in lines of `width` letters; words stay whole, numbers stay in one line.

    `first` stands before the first line, `rest` before all others.
    """
    unbreakable = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.fill(
        unbreakable,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\N{NO-BREAK SPACE}%", " %").replace(THOUSANDS, " ")


def say(console: Console, text: str, *, first: str = "", rest: str = "", style: str = "") -> None:
    """Print a paragraph. `first` is before its first line, `rest` before all others."""
    for line in text.splitlines() or [""]:
        wrapped = Text(filled(line, console.width, first, rest), style=style)
        console.print(wrapped, soft_wrap=True, highlight=False)


def item(console: Console, text: str, depth: int = 1) -> None:
    """Print a paragraph that is indented as a whole, by two letters for each `depth`."""
    indent = "  " * depth
    say(console, text, first=indent, rest=indent + "  ")


def bullet(console: Console, text: str) -> None:
    """Print an entry of a list."""
    say(console, text, first="  - ", rest="    ")


def noted(cell: str, note: str) -> Text:
    """A cell of a table with a note in small letters below."""
    return Text(cell) if not note else Text.assemble(cell, "\n", (note, "dim"))


def show_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[TableCell]],
    *,
    headed: bool = True,
    ruled: bool = True,
) -> None:
    """Print a table, or its rows below each other where its numbers don't fit side by side.

    Without `headed` the columns have no names: the first says what the second is.
    """
    cells = [
        [Text(cell.replace(THOUSANDS, " ")) if isinstance(cell, str) else cell for cell in row]
        for row in rows
    ]
    whole = [[Text(name) for name in columns], *cells] if headed else cells
    by_column = [list(column) for column in zip(*whole, strict=True)]
    between = 3 * len(columns) + 1 if ruled else 2 * len(columns) - 1
    widths = _widths(by_column, console.width - between)
    if title:  # not the table's own, which is broken to the table's width
        say(console, title, style="bold")
    if widths is None:
        _show_rows(console, columns if headed else (), cells)
        return
    table = Table(
        header_style="",
        show_header=headed,
        box=box.HEAVY_HEAD if ruled else None,
        pad_edge=ruled,
    )
    for name, width in zip(columns, widths, strict=True):
        table.add_column(Text(name), width=width, overflow="fold")
    for row in cells:
        table.add_row(*row)
    console.print(table, highlight=False)


def _widths(columns: Sequence[Sequence[Text]], room: int) -> list[int] | None:
    """The width of each column: the widest give way, but no word is broken; `None` if too wide."""
    least = [max((_longest_word(cell) for cell in column), default=1) for column in columns]
    widths = [
        max((line.cell_len for cell in column for line in cell.split(allow_blank=True)), default=1)
        for column in columns
    ]
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(
            (i for i in range(len(widths)) if widths[i] > least[i]), key=widths.__getitem__
        )
        widths[widest] -= 1
    return widths


def _longest_word(cell: Text) -> int:
    return max(
        (
            len(word) if any(map(str.isdigit, word)) else min(len(word), LONGEST)
            for word in cell.plain.split()
        ),
        default=1,
    )


def _show_rows(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Text]]) -> None:
    for row in rows:
        if not columns:
            say(console, f"{row[0].plain}: {row[1].plain}", rest="  ")
            continue
        for i, (name, cell) in enumerate(zip(columns, row, strict=True)):
            lines = [line for line in cell.plain.splitlines() if line]
            if lines:
                item(console, f"{name}: {'; '.join(lines)}", depth=0 if i == 0 else 1)
