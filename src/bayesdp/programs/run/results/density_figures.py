"""Densities of released distributions as one SVG element, in the style of the report.

Written by hand; colours are the report's, as variables with their own fallback, so that the figure
also stands alone. Curves are as wide as there is room, and the text has its own size, so that it
can be read on a phone and on paper alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.accounting.costs.rounded import value_words

if TYPE_CHECKING:
    from bayesdp.arrays import Floats
    from bayesdp.programs.run.results.univariate_law import Law

ROW, HEAD, TEXT, CURVE = 132, 26, 38, 66
MOST = 12
_STYLE = (
    ".bd-head{font:600 14px system-ui,sans-serif;fill:var(--ink,#1d2430)}"
    ".bd-text{font:13px system-ui,sans-serif;fill:var(--ink,#1d2430)}"
    ".bd-tick{font:12px system-ui,sans-serif;fill:var(--soft,#5b6574)}"
    ".bd-axis{stroke:var(--soft,#5b6574)}.bd-curve{fill:none;stroke:var(--mark,#0f6b62);"
    "stroke-width:2;vector-effect:non-scaling-stroke}.bd-band{fill:var(--tint,#e3f0ed)}.bd-dot{fill:var(--mark,#0f6b62)}"
)


@dataclass(frozen=True, eq=False)
class DensityPanel:
    """A density to be drawn: a curve through `x` and `y`, the mean and the 95 % interval."""

    name: str
    x: Floats
    y: Floats
    mean: float
    interval: tuple[float, float]


def curve(name: str, law: Law) -> DensityPanel:
    """The panel of a law's density, where it has nearly all of its mass."""
    low, high = law.quantile(0.0005), law.quantile(0.9995)
    span = (high - low) or abs(high) or 1.0
    start, end = low - 0.02 * span, high + 0.02 * span
    # Where the distribution has no values, the axis has none.
    if float(law.cdf(0.0)) == 0.0:
        start = max(start, 0.0)
        if float(law.cdf(1.0)) > 1.0 - 1e-12 and low < 1.0:
            end = min(end, 1.0)
    x = np.linspace(start, end, 201)
    y = np.nan_to_num(np.asarray(law.density(x)), posinf=0.0)
    return DensityPanel(name, x, y, float(law.mean), law.interval(0.95))


def histogram(name: str, draws: Floats) -> DensityPanel:
    """The panel of a histogram of draws of one number."""
    bins = max(8, min(60, int(np.sqrt(len(draws)))))
    heights, edges = np.histogram(draws, bins=bins)
    low, high = np.quantile(draws, (0.025, 0.975))
    x, y = np.repeat(edges, 2)[1:-1], np.repeat(heights, 2).astype(float)
    return DensityPanel(name, x, y, float(draws.mean()), (float(low), float(high)))


def svg(panels: Sequence[DensityPanel], head: str) -> str:
    """The first panels below each other under a head, each with its mean and 95 % interval."""
    panels = panels[:MOST]
    height = HEAD + ROW * len(panels) + 8
    drawn = "".join(_drawn(panel, HEAD + ROW * i) for i, panel in enumerate(panels))
    spoken = "; ".join(
        f"{panel.name}: mean {mean}, 95 % interval {ends}"
        for panel in panels
        for mean, ends in [_numbers(panel)]
    )
    return (
        f'<svg class="figure fluid" xmlns="http://www.w3.org/2000/svg" width="100%" '
        f'height="{height}" role="img"><title>{escape(head)}</title><desc>{escape(spoken)}</desc>'
        f"<style>{_STYLE}</style>"
        f'<text class="bd-head" x="0" y="16">{escape(head)}</text>{drawn}</svg>'
    )


def _drawn(panel: DensityPanel, top: int) -> str:
    """A panel: its name and numbers in two lines, the curve under them, then the axis."""
    x, y, mean, (low, high) = panel.x, panel.y, panel.mean, panel.interval
    bottom = top + TEXT + CURVE
    start, end = float(x[0]), float(x[-1])
    tall = float(y.max()) or 1.0

    def across(value: Any) -> Any:
        """In percent of the width."""
        return (value - start) / ((end - start) or 1.0) * 100.0

    points = _points(across(x), CURVE - y / tall * (CURVE - 6))
    ends = [float(np.clip(across(end), 0.0, 100.0)) for end in (low, high)]
    anchors = {"start": start, "middle": (start + end) / 2, "end": end}
    ticks = "".join(
        f'<text class="bd-tick" text-anchor="{anchor}" x="{across(tick):.1f}%" '
        f'y="{bottom + 16}">{value_words(tick, (end - start) / 2.0)}</text>'
        for anchor, tick in anchors.items()
    )
    numbers_line, ends_shown = _numbers(panel)
    return (
        f'<g><svg x="0" y="{top + TEXT}" width="100%" height="{CURVE}" '
        f'viewBox="0 0 100 {CURVE}" preserveAspectRatio="none">'
        f'<rect class="bd-band" x="{ends[0]:.2f}" y="0" '
        f'width="{max(ends[1] - ends[0], 0):.2f}" height="{CURVE}"/>'
        f'<polyline class="bd-curve" points="{points}"/></svg>'
        f'<line class="bd-axis" x1="0" x2="100%" y1="{bottom}" y2="{bottom}"/>'
        f'<circle class="bd-dot" cx="{across(mean):.2f}%" cy="{bottom}" r="4"/>{ticks}'
        f'<text class="bd-text" x="0" y="{top + 14}">{escape(panel.name[:26])}</text>'
        f'<text class="bd-text" text-anchor="end" x="100%" y="{top + 14}">'
        f"{numbers_line}</text>"
        f'<text class="bd-text" text-anchor="end" x="100%" y="{top + 31}">'
        f"{ends_shown}</text></g>"
    )


def _numbers(panel: DensityPanel) -> tuple[str, str]:
    """The mean and the 95 % interval in words, with the digits that half its width leaves them."""
    low, high = panel.interval
    half = (high - low) / 2.0
    return value_words(panel.mean, half), f"{value_words(low, half)} to {value_words(high, half)}"


def _points(x: Floats, y: Floats) -> str:
    return " ".join(f"{a:.2f},{b:.1f}" for a, b in zip(x, y, strict=True))
