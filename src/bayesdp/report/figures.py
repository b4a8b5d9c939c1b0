"""Released values with their error bars, as one inline SVG; and the two leakages as curves.

Written by hand, so that the base install needs no plotting library and the report no script. Error
bars lie at percentages of the width, and the text has its own size: so it can be read on a phone
and on paper alike. Colours come from the page's style sheet, so that the figure follows light and
dark; every number is also text in the table beside it.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from bayesdp.errors import InputError
from bayesdp.notebook import Figure
from bayesdp.report.numbers import budget_words, error_up, level_words, typeset, with_error
from bayesdp.report.output import FIGURE

if TYPE_CHECKING:
    from bayesdp.causal import Strengths
    from bayesdp.release.checking.stress import Stress, StressRow

WIDTH = 760
_ROW = 52
_LABEL = 20
_BAR = 28
"""A row's height, and how far below its top the label's line and the bar are: labels stand by far
nearer to their own bar than to that of the row before."""

_LINE = 18
_AXIS = 34
_GAP = 18
_SHORTEST_LABEL = 8
_LONGEST_NAME = 26
_LONGEST_LINE = 38
_MOST_LINES = 3


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """A released number: `value` give or take `error`, and its label in the panel.

    Raises `InputError` unless both numbers are finite and the error is at least 0.
    """

    label: str
    value: float
    error: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.error) and self.error >= 0.0):
            raise InputError(
                self.label,
                f"{self.value!r} give or take {self.error!r}",
                expected="a finite value and a finite error >= 0",
            )


@dataclass(frozen=True, slots=True)
class FigurePanel:
    """The numbers of one query, on one axis in `unit`: from end to end of `axis`, if it is set."""

    title: str
    unit: str
    intervals: tuple[IntervalMark, ...]
    axis: tuple[float, float] | None = None


def error_bars(panels: Sequence[FigurePanel], *, title: str, name: str) -> str:
    """The error bars of all panels as an SVG element, as wide as the place it stands in.

    `name` makes its ids unique on the page; `title` is read aloud.
    """
    with_intervals = [panel for panel in panels if panel.intervals]
    parts: list[str] = []
    top = _TOP
    for panel in with_intervals:
        parts.append(_panel(panel, top))
        top += _height(panel) + _GAP
    spoken = "; ".join(
        f"{panel.title}, {interval.label}: {_spoken(interval)} {panel.unit}".strip()
        for panel in with_intervals
        for interval in panel.intervals
    )
    return (
        f'<svg class="figure fluid" width="100%" height="{bars_height(panels):.0f}" role="img" '
        f'aria-labelledby="{escape(name)}-title {escape(name)}-desc">'
        f'<title id="{escape(name)}-title">{escape(title)}</title>'
        f'<desc id="{escape(name)}-desc">{escape(spoken)}</desc>'
        f"{''.join(parts)}</svg>"
    )


SHEET = 760.0
"""The tallest figure that a sheet of paper has room for, A4 or letter, with its caption."""


def on_sheets(panels: Sequence[FigurePanel]) -> list[list[FigurePanel]]:
    """The panels in figures of which each fits on a sheet of paper: none would be cut in printing.

    A panel that is too long for one goes on in the next, on the same axis.
    """
    sheets: list[list[FigurePanel]] = [[]]
    for piece in (piece for panel in panels for piece in _pieces(panel)):
        if sheets[-1] and bars_height([*sheets[-1], piece]) > SHEET:
            sheets.append([])
        sheets[-1].append(piece)
    return sheets


def _pieces(panel: FigurePanel) -> list[FigurePanel]:
    """The panel, or pieces of it that fit on a sheet each, as even as can be."""
    room = int((SHEET - bars_height([replace(panel, intervals=panel.intervals[:1])])) // _ROW) + 1
    count = -(-len(panel.intervals) // room)
    if count < 2:
        return [panel]
    long = -(-len(panel.intervals) // count)
    axis = _range(panel.intervals)
    return [
        FigurePanel(
            f"{part + 1} of {count}: {panel.title}",
            panel.unit,
            panel.intervals[part * long : (part + 1) * long],
            axis,
        )
        for part in range(count)
    ]


def bars_height(panels: Sequence[FigurePanel]) -> float:
    """The height of `error_bars` for these panels."""
    heights = [_height(panel) + _GAP for panel in panels if panel.intervals]
    return max(_TOP + sum(heights) - _GAP + 4.0, 8.0)


_TOP = 4.0
_BARS_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2430}.head{font-weight:600;font-size:14px}"
    ".value{text-anchor:end}.tick{text-anchor:middle}.tick,.note{fill:#5b6574;font-size:12px}"
    ".grid{stroke:#dfdcd3}.axis{stroke:#5b6574}.bar,.cap{stroke:#0f6b62;stroke-width:2.2}"
    ".dot{fill:#0f6b62}.paper{fill:#fbfaf7}@media(prefers-color-scheme:dark){"
    ".paper{fill:#14181f}text{fill:#e8e6e0}.tick,.note{fill:#a3adba}.grid{stroke:#333c49}"
    ".axis{stroke:#a3adba}.bar,.cap{stroke:#5cc8b8}.dot{fill:#5cc8b8}}"
)
WHAT_BARS_ARE = (
    "Dots: what was released. Bars: the noise stays within them with probability {}, each on its "
    "own. This is the noise that was added for privacy, not a sampling error."
)


def released_numbers(panels: Sequence[FigurePanel], *, title: str, confidence: str) -> Figure:
    """The error bars as a whole SVG file with its own colours, light and dark.

    `confidence` says at which the errors are.
    """
    lines = textwrap.wrap(WHAT_BARS_ARE.format(confidence), 100)
    height = bars_height(panels) + 28.0
    sentences = "".join(
        f'<text class="note" x="20" y="{height + 18 * i:.0f}">{escape(line)}</text>'
        for i, line in enumerate(lines, start=1)
    )
    whole = height + 18.0 * len(lines) + 14.0
    return Figure(
        f'{FIGURE} viewBox="0 0 {WIDTH} {whole:.0f}" width="{WIDTH}" height="{whole:.0f}">'
        f'<style>{_BARS_STYLE}</style><rect class="paper" width="{WIDTH}" height="{whole:.0f}"/>'
        f'<svg x="20" y="14" width="{WIDTH - 40}" height="{height:.0f}">'
        f"{error_bars(panels, title=title, name='released')}</svg>{sentences}</svg>\n"
    )


def ticks(low: float, high: float, about: int = 5) -> tuple[float, ...]:
    """Round numbers inside `[low, high]`: `about` many, in steps of 1, 2 or 5 times 10^k."""
    if not high > low:
        return (low,)
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return tuple(i * step for i in range(first, last + 1))


def _height(panel: FigurePanel) -> float:
    return _head(panel) + _ROW * len(panel.intervals) + _AXIS


def _head(panel: FigurePanel) -> float:
    return 10.0 + _LINE * len(_title_lines(panel))


def _title_lines(panel: FigurePanel) -> list[str]:
    """The title in lines that a narrow screen has room for."""
    unit = f" ({panel.unit})" if panel.unit else ""
    return textwrap.wrap(
        panel.title + unit, _LONGEST_LINE, max_lines=_MOST_LINES, placeholder=" …"
    ) or [""]


def _panel(panel: FigurePanel, top: float) -> str:
    low, high = panel.axis or _range(panel.intervals)

    def place(x: float) -> str:
        return f"{(x - low) / (high - low):.2%}"

    start = top + _head(panel)
    bottom = start + _ROW * len(panel.intervals)
    parts = [
        f'<text class="head" x="0" y="{top + 14 + _LINE * i:.1f}">{escape(line)}</text>'
        for i, line in enumerate(_title_lines(panel))
    ]
    parts.append(f'<line class="axis" x1="0" x2="100%" y1="{bottom:.1f}" y2="{bottom:.1f}"/>')
    for mark, words in _marks(low, high):
        x = place(mark)
        parts.append(
            f'<line class="grid" x1="{x}" x2="{x}" y1="{start:.1f}" y2="{bottom:.1f}"/>'
            f'<text class="tick" x="{x}" y="{bottom + 17:.1f}">{words}</text>'
        )
    for row, interval in enumerate(panel.intervals):
        parts.append(_bar(interval, start + _ROW * row, place))
    return f"<g>{''.join(parts)}</g>"


def _marks(low: float, high: float) -> list[tuple[float, str]]:
    """Ticks with their numbers: as many as a narrow screen has room for."""
    marks: list[tuple[float, str]] = []
    for about in (5, 3, 2, 1):
        places = ticks(low, high, about)
        spacing = places[1] - places[0] if len(places) > 1 else high - low
        marks = [(place, _tick(place, spacing)) for place in places]
        if sum(len(words) + 2 for _, words in marks) <= _LONGEST_LINE:
            break
    return marks


def _bar(interval: IntervalMark, top: float, place: Callable[[float], str]) -> str:
    """The label and the number in a line, the bar under it."""
    middle, y = place(interval.value), top + _BAR
    start = place(interval.value - interval.error)
    end = place(interval.value + interval.error)
    number = _plain(interval)
    room = max(_LONGEST_LINE - len(number), _SHORTEST_LABEL)
    label = escape(_short(interval.label, room))
    return (
        f"<g><title>{escape(interval.label)}: {_spoken(interval)}</title>"
        f'<text class="label" x="0" y="{top + _LABEL:.1f}">{label}</text>'
        f'<text class="value" x="100%" y="{top + _LABEL:.1f}">{number}</text>'
        f'<line class="bar" x1="{start}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<line class="cap" x1="{start}" x2="{start}" y1="{y - 4:.1f}" y2="{y + 4:.1f}"/>'
        f'<line class="cap" x1="{end}" x2="{end}" y1="{y - 4:.1f}" y2="{y + 4:.1f}"/>'
        f'<circle class="dot" cx="{middle}" cy="{y:.1f}" r="4"/></g>'
    )


def _range(intervals: Sequence[IntervalMark]) -> tuple[float, float]:
    low = min(i.value - i.error for i in intervals)
    high = max(i.value + i.error for i in intervals)
    span = high - low
    if span <= 0.0:
        span = abs(high) or 1.0
    return low - 0.08 * span, high + 0.08 * span


def _plain(interval: IntervalMark) -> str:
    return f"{with_error(interval.value, interval.error)} ± {error_up(interval.error)}"


def _spoken(interval: IntervalMark) -> str:
    value, error = with_error(interval.value, interval.error), error_up(interval.error)
    return f"{value} give or take {error}"


def _tick(value: float, spacing: float) -> str:
    places = max(-math.floor(math.log10(spacing) + 1e-9), 0) if spacing > 0.0 else 0
    return typeset(value, min(places, 12))


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


# ------------------------------------------------------ two leakages against dependence

_PLOT = (70.0, 560.0, 64.0, 340.0)
"""Left, right, top and bottom of the curves' area."""

_CURVE_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2430}.head{font-weight:600;font-size:15px}"
    ".tick,.note{fill:#5b6574;font-size:12px}.grid{stroke:#dfdcd3}.axis{stroke:#5b6574}"
    ".see{stroke:#0f6b62;fill:none;stroke-width:2.6}.do{stroke:#a3470b;fill:none;stroke-width:2.6;"
    "stroke-dasharray:7 4}.seen{fill:#0f6b62;font-weight:600}.done{fill:#a3470b;font-weight:600}"
    ".paper{fill:#fbfaf7}@media(prefers-color-scheme:dark){.paper{fill:#14181f}text{fill:#e8e6e0}"
    ".tick,.note{fill:#a3adba}.grid{stroke:#333c49}.axis{stroke:#a3adba}.see{stroke:#5cc8b8}"
    ".seen{fill:#5cc8b8}.do{stroke:#f0a36b}.done{fill:#f0a36b}}"
)


def seeing_and_doing(numbers: Strengths) -> str:
    """What setting a record changes and what learning it changes, against the dependence.

    A whole SVG file with its own colours, light and dark. Raises `InputError` if a level is
    infinite: there is nothing to draw.
    """
    levels = (*numbers.see, *numbers.do, numbers.dp_epsilon)
    if not all(math.isfinite(level) for level in levels):
        raise InputError(
            "--figure", expected="finite levels; this mechanism's aren't all", shown=False
        )
    left, right, top, bottom = _PLOT
    highest = max(max(levels) * 1.08, 1e-9)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * (right - left), bottom - y / highest * (bottom - top)

    name = escape(_short(numbers.record, _LONGEST_NAME))
    cost = typeset(numbers.dp_epsilon, 3)
    seen, done = (typeset(level, 3) for level in (numbers.see[-1], numbers.do[-1]))
    spoken = (
        f"From independent records to the model as declared, learning {name} changes from "
        f"{typeset(numbers.see[0], 3)} to {seen}, setting it from {typeset(numbers.do[0], 3)} to "
        f"{done}; the DP cost is {cost}."
    )
    see_end, do_end = place(1.0, numbers.see[-1])[1], place(1.0, numbers.do[-1])[1]
    if abs(see_end - do_end) < 34.0:  # the labels of the ends stay legible where the curves meet
        middle = (see_end + do_end) / 2.0
        above = 17.0 if numbers.see[-1] >= numbers.do[-1] else -17.0
        see_end, do_end = middle - above, middle + above
    return (
        f'{FIGURE} viewBox="0 0 {WIDTH} 410" role="img" '
        f'aria-labelledby="sd-title sd-desc"><title id="sd-title">Seeing and doing: {name}</title>'
        f'<desc id="sd-desc">{spoken}</desc><style>{_CURVE_STYLE}</style>'
        f'<rect class="paper" width="{WIDTH}" height="410"/>'
        f'<text class="head" x="20" y="26">What the output says about {name}: one mechanism, DP '
        f"cost {cost}</text>"
        '<text class="note" x="20" y="46">Largest change of an outcome’s probability, as a '
        "logarithm (nats)</text>"
        f"{_curve_axes(highest, place)}"
        f"{_curve('do', numbers.strengths, numbers.do, place)}"
        f"{_curve('see', numbers.strengths, numbers.see, place)}"
        f'<text class="seen" x="{right + 12}" y="{see_end - 2:.1f}">learning it: {seen}</text>'
        f'<text class="note" x="{right + 12}" y="{see_end + 13:.1f}">(conditioning)</text>'
        f'<text class="done" x="{right + 12}" y="{do_end - 2:.1f}">setting it: {done}</text>'
        f'<text class="note" x="{right + 12}" y="{do_end + 13:.1f}">(intervening)</text>'
        f'<text class="tick" x="{(left + right) / 2}" y="386" text-anchor="middle">strength of the '
        "dependence: 0 independent, 1 as in the model</text></svg>\n"
    )


def _curve_axes(highest: float, place: Callable[[float, float], tuple[float, float]]) -> str:
    left, right, _, bottom = _PLOT
    parts = []
    marks = ticks(0.0, highest)
    spacing = marks[1] - marks[0] if len(marks) > 1 else highest
    for mark in marks:
        y = place(0.0, mark)[1]
        parts.append(
            f'<line class="{"grid" if mark else "axis"}" x1="{left}" x2="{right}" y1="{y:.1f}" '
            f'y2="{y:.1f}"/><text class="tick" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_tick(mark, spacing)}</text>"
        )
    for mark in ticks(0.0, 1.0):
        x = place(mark, 0.0)[0]
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
            f"{_tick(mark, 0.2)}</text>"
        )
    return "".join(parts)


def _curve(
    name: str,
    strengths: Sequence[float],
    levels: Sequence[float],
    place: Callable[[float, float], tuple[float, float]],
) -> str:
    points = (place(x, y) for x, y in zip(strengths, levels, strict=True))
    return f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


# ------------------------------------------------------ levels under other populations

_BARS = (230.0, 640.0, 66.0)
"""Left, right and top of the bars' area."""

_BAR_ROW = 34.0


def stress_levels(stress: Stress) -> Figure:
    """The levels of a stress test as bars, with the target as a line: a whole SVG file.

    A level that is not known, or infinite, has words in place of a bar.
    """
    left, right, top = _BARS
    levels = [row.level for row in stress if row.level is not None and math.isfinite(row.level)]
    highest = max([*levels, stress.target]) * 1.05
    bottom = top + _BAR_ROW * len(stress)

    def place(level: float) -> float:
        return left + level / highest * (right - left)

    alternatives = "; ".join(f"{row.name}: {_level_or_words(row)}" for row in stress)
    target = budget_words(stress.target)
    marks = ticks(0.0, highest)
    axis = "".join(
        f'<line class="{"grid" if mark else "axis"}" x1="{place(mark):.1f}" '
        f'x2="{place(mark):.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/><text class="tick" '
        f'x="{place(mark):.1f}" y="{bottom + 18:.1f}" text-anchor="middle">'
        f"{_tick(mark, marks[1] - marks[0] if len(marks) > 1 else highest)}</text>"
        for mark in marks
    )
    bars = "".join(_level_bar(row, top + _BAR_ROW * i, place) for i, row in enumerate(stress))
    return Figure(
        f'{FIGURE} viewBox="0 0 {WIDTH} {bottom + 34:.0f}" role="img" '
        'aria-labelledby="st-title st-desc"><title id="st-title">The same noise under other '
        f'populations</title><desc id="st-desc">Target {target}. {escape(alternatives)}</desc>'
        f"<style>{_CURVE_STYLE}.within{{fill:#0f6b62}}.above{{fill:#a3470b}}.target{{"
        "stroke:#1d2430;stroke-dasharray:3 3}@media(prefers-color-scheme:dark){.within{"
        "fill:#5cc8b8}.above{fill:#f0a36b}.target{stroke:#e8e6e0}}</style>"
        f'<rect class="paper" width="{WIDTH}" height="{bottom + 34:.0f}"/>'
        '<text class="head" x="20" y="26">The same noise under other populations</text>'
        f'<text class="note" x="20" y="46">BDP level in nats; the dashed line is the target, '
        f"{target}</text>{axis}{bars}"
        f'<line class="target" x1="{place(stress.target):.1f}" x2="{place(stress.target):.1f}" '
        f'y1="{top:.1f}" y2="{bottom:.1f}"/></svg>\n'
    )


def _level_bar(row: StressRow, top: float, place: Callable[[float], float]) -> str:
    left = _BARS[0]
    name = (
        f"<g><title>{escape(row.name)}: {escape(row.change)}</title>"
        f'<text x="{left - 12}" y="{top + 21:.1f}" text-anchor="end">'
        f"{escape(_short(row.name, _LONGEST_NAME))}</text>"
    )
    words = f'y="{top + 21:.1f}">{escape(_level_or_words(row))}</text></g>'
    if row.level is None or not math.isfinite(row.level):
        return f'{name}<text class="note" x="{left + 8}" {words}'
    end = place(row.level)
    kind = "within" if row.within else "above"
    return (
        f'{name}<rect class="{kind}" x="{left}" y="{top + 7:.1f}" '
        f'width="{max(end - left, 1.0):.1f}" height="{_BAR_ROW - 14}"/>'
        f'<text x="{end + 8:.1f}" {words}'
    )


def _level_or_words(row: StressRow) -> str:
    """A level, rounded up, or that it is not known."""
    return "not known" if row.level is None else level_words(row.level)
