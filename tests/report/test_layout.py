"""Tables and paragraphs in every width: no number is cut, nothing is left out."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from bayesdp.report.layout import bullet, filled, item, noted, say, show_table
from bayesdp.report.numbers import grouped

WIDTHS = st.integers(8, 120)
WORDS = st.text("ab1.-[]/", min_size=1, max_size=12)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


def shown(width: int) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=width), file


@given(WIDTHS, st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.booleans())
def test_no_word_is_broken_or_lost(
    width: int, rows: list[tuple[str, str, str]], ruled: bool
) -> None:
    console, file = shown(width)
    show_table(console, "A title", ("name", "level", "words of it"), rows, ruled=ruled)
    text = file.getvalue()
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    # A table's cells are interleaved, so each word is looked for on its own.
    left = [word for row in rows for cell in row for word in cell.split()]
    words = text.replace("│", " ").split()
    for word in left:
        assert any(word in sentence for sentence in words), word
    for line in text.splitlines():
        assert len(line) <= width or len(line.split()) <= 2 + line.count("- ")


def test_a_table_that_does_not_fit_is_told_row_by_row() -> None:
    rows = [("cluster-size", "3.14159265", noted("upper bound", "uses the size"))]
    for width, ruled in ((120, True), (20, False)):
        console, file = shown(width)
        show_table(console, "What it means", ("theorem", "level", "notes"), rows)
        assert ("│" in file.getvalue()) == ruled
    assert file.getvalue() == (
        "What it means\n"
        "theorem:\n"
        "  cluster-size\n"
        "  level: 3.14159265\n"
        "  notes: upper\n"
        "    bound; uses the\n"
        "    size\n"
    )


def test_the_widest_column_gives_way() -> None:
    console, file = shown(40)
    show_table(console, "", ("a", "b"), [("1234 12345", "word " * 20)])
    lines = file.getvalue().splitlines()
    assert all(len(line) == 40 for line in lines)
    assert "│ 1234 12345 │" in file.getvalue()


def test_markup_of_others_is_shown_as_it_is() -> None:
    console, file = shown(80)
    show_table(console, "[bold]", ("[red]x", "y"), [("[link=a]b", Text("[/]"))])
    say(console, "[blink]c", first="- ")
    for said in ("[bold]", "[red]x", "[link=a]b", "[/]", "- [blink]c"):
        assert said in file.getvalue()


@given(WIDTHS, CELLS)
def test_paragraphs_keep_their_words(width: int, text: str) -> None:
    for show in (say, item, bullet):
        console, file = shown(width)
        show(console, f"so {text}")
        printed = file.getvalue().removeprefix("  - ")
        assert printed.split() == ["so", *text.split()]
        for line in printed.splitlines():
            assert len(line) <= width or len(line.split()) == 1


@pytest.mark.parametrize("width", [10, 14, 20])
def test_a_number_keeps_its_percent_sign(width: int) -> None:
    for line in filled("becomes 12.5 % and then 13 % at most", width).splitlines():
        assert not line.startswith("%")


@pytest.mark.parametrize("width", range(10, 30))
def test_no_line_ends_inside_a_number(width: int) -> None:
    """A terminal shows the space between thousands as a plain one, where it knows no other."""
    lines = filled(f"There are {grouped(2251)} records of them.", width).splitlines()
    assert sum("2 251" in line for line in lines) == 1
    console, file = shown(80)
    show_table(console, "", ("records",), [(grouped(12_345_678),)])
    assert "12 345 678" in file.getvalue()
