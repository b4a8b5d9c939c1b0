"""The figure shows the numbers that it is given, where they belong."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesdp.report.figures import (
    SHEET,
    FigurePanel,
    IntervalMark,
    bars_height,
    error_bars,
    on_sheets,
    ticks,
)

FINITE = st.floats(-1e9, 1e9)


def percent(text: str) -> float:
    assert text.endswith("%"), "places follow the width of the screen"
    return float(text[:-1])


def draw(*intervals: IntervalMark) -> ET.Element:
    return ET.fromstring(error_bars([FigurePanel("q", "cm", intervals)], title="t", name="f"))


@given(st.lists(st.tuples(FINITE, st.floats(0.0, 1e6)), min_size=1, max_size=5))
def test_any_finite_numbers_draw_inside_the_figure(pairs: list[tuple[float, float]]) -> None:
    svg = draw(*(IntervalMark(f"g{i}", v, e) for i, (v, e) in enumerate(pairs)))
    dots = [percent(c.attrib["cx"]) for c in svg.iter("circle")]
    assert len(dots) == len(pairs)
    assert all(0.0 <= x <= 100.0 for x in dots)
    ordered = [x for _, x in sorted(zip([v for v, _ in pairs], dots, strict=True))]
    assert ordered == sorted(ordered)


def test_bars_are_centred_and_in_proportion() -> None:
    svg = draw(IntervalMark("a", 10.0, 1.0), IntervalMark("b", 20.0, 3.0))
    (a, b) = [x for x in svg.iter("line") if x.attrib["class"] == "bar"]
    length = [percent(x.attrib["x2"]) - percent(x.attrib["x1"]) for x in (a, b)]
    assert length[1] == pytest.approx(3 * length[0], rel=0.01)
    for line, dot in zip((a, b), svg.iter("circle"), strict=True):
        middle = (percent(line.attrib["x1"]) + percent(line.attrib["x2"])) / 2
        assert percent(dot.attrib["cx"]) == pytest.approx(middle, abs=0.011)


@given(st.lists(st.tuples(FINITE, st.floats(0.0, 1e6)), min_size=1, max_size=5))
def test_a_phone_has_room_for_every_line(pairs: list[tuple[float, float]]) -> None:
    """At 420 px the figure is 330 px wide: some 45 letters, of which the widest need more."""
    svg = draw(*(IntervalMark("g" * 50, v, e) for v, e in pairs))
    assert "viewBox" not in svg.attrib, "text would shrink with the figure"
    lines: dict[str, int] = {}
    for text in svg.iter("text"):
        lines[text.attrib["y"]] = lines.get(text.attrib["y"], 0) + len(text.text or "") + 2
    assert max(lines.values()) <= 60
    titles = error_bars(
        [FigurePanel("word " * 30, "cm", (IntervalMark("a", 1.0, 1.0),))], title="t", name="f"
    )
    heads = [e.text or "" for e in ET.fromstring(titles).iter("text") if e.get("class") == "head"]
    assert len(heads) == 3
    assert max(map(len, heads)) <= 38
    assert heads[-1].endswith("…")


def test_it_is_read_aloud_and_escaped() -> None:
    text = error_bars(
        [FigurePanel("<script>", "a&b", (IntervalMark('"x"', 1.0, 0.5),))], title="<b>", name="f"
    )
    assert "<script>" not in text
    svg = ET.fromstring(text)
    assert svg.attrib["role"] == "img"
    ids = svg.attrib["aria-labelledby"].split()
    actual = {e.attrib["id"]: e.text for e in svg if e.tag in ("title", "desc")}
    assert actual[ids[0]] == "<b>"
    assert "give or take 0.50" in (actual[ids[1]] or "")


@pytest.mark.parametrize(("value", "error"), [(math.nan, 1.0), (1.0, math.inf), (1.0, -1.0)])
def test_numbers_that_cannot_be_drawn_are_refused(value: float, error: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        IntervalMark("x", value, error)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_inside_and_even(low: float, span: float) -> None:
    marks = ticks(low, low + span)
    assert len(marks) <= 12
    assert all(low - 1e-6 * span <= m <= low + span * (1 + 1e-6) for m in marks)


def test_ticks_are_round() -> None:
    assert ticks(0.0, 10.0) == (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    assert ticks(0.05, 0.21) == pytest.approx((0.05, 0.1, 0.15, 0.2))
    assert ticks(3.0, 3.0) == (3.0,)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6))
def test_each_figure_fits_on_a_sheet_and_none_of_the_numbers_is_left_out(rows: list[int]) -> None:
    panels = [
        FigurePanel(
            f"query {q}",
            "cm",
            tuple(IntervalMark(f"{q}.{i}", 10.0 * i, 1.0) for i in range(count)),
        )
        for q, count in enumerate(rows)
    ]
    sheets = on_sheets(panels)
    assert all(sheets)
    assert all(bars_height(sheet) <= SHEET for sheet in sheets)
    shown = [mark for sheet in sheets for piece in sheet for mark in piece.intervals]
    assert shown == [mark for panel in panels for mark in panel.intervals]
    if sum(rows) <= 10 and len(rows) == 1:
        assert sheets == [panels]


def test_pieces_of_a_long_panel_have_one_axis() -> None:
    marks = tuple(IntervalMark(str(i), float(i), 1.0) for i in range(40))
    sheets = on_sheets([FigurePanel("many " * 30, "", marks)])
    assert [piece.title[:8] for sheet in sheets for piece in sheet] == [
        f"{part} of 4: " for part in (1, 2, 3, 4)
    ]
    places = []
    for number, sheet in enumerate(sheets):
        svg = ET.fromstring(error_bars(sheet, title="t", name=f"f{number}"))
        heads = "".join(e.text or "" for e in svg.iter("text") if e.get("class") == "head")
        assert heads.startswith(f"{number + 1} of 4: many")
        places += [percent(c.attrib["cx"]) for c in svg.iter("circle")]
    assert places == sorted(places)
    steps = [right - left for left, right in pairwise(places)]
    assert max(steps) - min(steps) < 0.03


def test_labels_are_nearer_to_their_own_bar_than_to_any_other() -> None:
    marks = tuple(IntervalMark(str(i), float(i), 1.0) for i in range(30))
    for sheet in on_sheets([FigurePanel("q", "cm", marks)]):
        svg = ET.fromstring(error_bars(sheet, title="t", name="f"))
        bars = [float(c.attrib["cy"]) for c in svg.iter("circle")]
        for kind in ("label", "value"):
            # The top of the text is its farthest point below a bar, and the nearest above one.
            tops = [float(e.attrib["y"]) - 9.0 for e in svg.iter("text") if e.get("class") == kind]
            assert len(tops) == len(bars) > 1
            own = [bar - text for bar, text in zip(bars, tops, strict=True)]
            following = [text - bar for bar, text in zip(bars, tops[1:], strict=False)]
            assert 0.0 < max(own) <= min(following) / 2.0
        lowest = max(float(x.attrib["y2"]) for x in svg.iter("line") if x.get("class") == "cap")
        (axis,) = [float(x.attrib["y1"]) for x in svg.iter("line") if x.get("class") == "axis"]
        assert lowest < axis
