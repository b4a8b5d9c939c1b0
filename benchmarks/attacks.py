"""What the forward-backward attacker learns of the real activity series: plain DP, and calibrated.

    python benchmarks/attacks.py                   half a minute
    python benchmarks/attacks.py --quick           the last 2,000 records
    python benchmarks/attacks.py --figure FILE     draws the day's count of order 1 as SVG, no more

Steps of one person in intervals of five minutes, moving or not: a chain of order 1, or 2, fitted to
the series. The attacker believes in the chain and knows no record. `plain` is differential privacy
at the target itself, `calibrated` at the cost that `calibrate` gives for the target.

* *every answer*: each record answers by randomized response. The release is made from the real
  series, and the attacker computes the likelihoods of both states of every record. Shown are the
  largest log ratio, the share of records whose ratio is above the target, and how often the best
  guess is right, beside that of always guessing the commoner state.
* *a day's count*: the number of moving intervals of 288, with Laplace noise. Shown is the largest
  log ratio that any release can give, which is exact and reads no data.

Exit status 1 if plain DP keeps to its target, or the calibrated release doesn't. The answers are
drawn by OpenDP, so the first numbers differ a little from run to run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import data
import numpy as np

import bayesdp as bdp
from bayesdp.audit import Responses, SumWithNoise, attack, beliefs
from bayesdp.mechanisms import DiscreteLaplace, RandomizedResponse

TARGETS = (0.5, 1.0, 2.0)
DAY = 288
TOLERANCE = 1e-9
DRAWN = [0.25 * i for i in range(1, 9)]
"""The claimed levels of the figure."""


@dataclass(frozen=True)
class Line:
    """What one release tells: by answers of all records, and by the count of a day."""

    order: int
    target: float
    name: str
    cost: float
    largest: float
    above: float
    right: float
    count: float

    @property
    def level(self) -> float:
        return max(self.largest, self.count)


def measure(active: np.ndarray, order: int, target: float) -> list[Line]:
    """Plain and calibrated releases at one target, for a chain of this order."""
    table = data.fit_chain([active], 2, order)
    series = bdp.MarkovChain(table, order=order, length=len(active))
    day = bdp.MarkovChain(table, order=order, length=DAY)
    calibrated = bdp.calibrate(series, target, adversary="uninformed", seconds=10).dp_epsilon
    lines = []
    for name, cost in (("plain", target), ("calibrated", calibrated)):
        response = RandomizedResponse.for_cost((0, 1), cost)
        answers = [int(str(answer)) for answer in response.release(active.tolist())]
        gains = beliefs(series, Responses.by(response), answers)
        ratios = gains[:, 1] - gains[:, 0]
        share = active.mean()
        guesses = ratios + np.log(share / (1.0 - share)) > 0.0
        count = SumWithNoise([0, 1], DiscreteLaplace.for_cost(1, cost))
        largest = max(attack(day, count, record).level for record in (0, DAY // 2))
        lines.append(
            Line(
                order,
                target,
                name,
                cost,
                float(np.abs(ratios).max()),
                float((np.abs(ratios) > target).mean()),
                float((guesses == (active == 1)).mean()),
                largest,
            )
        )
    return lines


def day_levels(active: np.ndarray, claims: Sequence[float]) -> dict[str, list[float]]:
    """What the best attack on a day's count reaches at each claim: plain DP, and calibrated."""
    day = bdp.MarkovChain(data.fit_chain([active], 2, 1), order=1, length=DAY)
    reached: dict[str, list[float]] = {"plain": [], "calibrated": []}
    for claim in claims:
        cost = bdp.calibrate(day, claim, adversary="uninformed", seconds=10).dp_epsilon
        for name, spent in (("plain", claim), ("calibrated", cost)):
            count = SumWithNoise([0, 1], DiscreteLaplace.for_cost(1, spent))
            reached[name].append(max(attack(day, count, record).level for record in (0, DAY // 2)))
    return reached


def draw(claims: Sequence[float], reached: dict[str, list[float]]) -> str:
    """The levels reached at each claim as a figure in SVG, in light and dark colours."""
    left, right, top, bottom = 60.0, 560.0, 60.0, 340.0
    highest = 1.05 * max(reached["plain"])

    def place(x: float, y: float) -> str:
        width, height = right - left, bottom - top
        return f"{left + x / claims[-1] * width:.1f},{bottom - y / highest * height:.1f}"

    def curve(name: str, levels: Sequence[float]) -> str:
        points = " ".join(place(x, y) for x, y in zip([0.0, *claims], [0.0, *levels], strict=True))
        x, y = place(claims[-1], levels[-1]).split(",")
        label = f'<text class="{name}" x="{float(x) + 10}" y="{float(y) + 4}">'
        words = {"plain": "plain DP", "calibrated": "calibrated"}[name]
        return (
            f'<polyline class="{name}" points="{points}"/>{label}{words}: {levels[-1]:.2f}</text>'
        )

    marks = []
    for level in range(int(highest) + 1):
        x, y = place(0.0, level).split(",")
        marks.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        marks.append(f'<text class="tick" x="{float(x) - 14}" y="{float(y) + 4}">{level}</text>')
    for claim in claims[1::2]:
        x, y = place(claim, 0.0).split(",")
        marks.append(f'<text class="tick" x="{float(x) - 8}" y="{float(y) + 18}">{claim:g}</text>')
    words = (
        f"At a claim of {claims[-1]:g} the best attack reaches {reached['plain'][-1]:.2f} on plain "
        f"DP, and {reached['calibrated'][-1]:.2f} on the calibrated release."
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" role="img">'
        f"<title>What an attacker learns of one interval from a day's count</title>"
        f"<desc>{words}</desc><style>text{{font:13px system-ui,sans-serif;fill:#1d2430}}"
        "line{stroke:#dfdcd3}polyline{fill:none;stroke-width:2.6}text.tick{fill:#5b6574}"
        "polyline.plain{stroke:#a3470b;stroke-dasharray:7 4}text.plain{fill:#a3470b}"
        "polyline.calibrated{stroke:#0f6b62}text.calibrated{fill:#0f6b62}rect{fill:#fbfaf7}"
        "@media(prefers-color-scheme:dark){rect{fill:#14181f}text{fill:#e8e6e0}line{stroke:#333c49}"
        "text.tick{fill:#a3adba}polyline.plain{stroke:#f0a36b}text.plain{fill:#f0a36b}"
        "polyline.calibrated{stroke:#5cc8b8}text.calibrated{fill:#5cc8b8}}</style>"
        '<rect width="760" height="400"/><text x="20" y="26">What the best attacker learns of one '
        "interval from a noisy count of a day</text>"
        '<text class="tick" x="20" y="46">Largest log ratio of the likelihoods of its two states'
        f"</text>{''.join(marks)}{curve('plain', reached['plain'])}"
        f"{curve('calibrated', reached['calibrated'])}"
        '<text class="tick" x="240" y="386">the level that is claimed</text></svg>\n'
    )


def faults(lines: Sequence[Line]) -> list[str]:
    """What the documentation claims and does not hold."""
    wrong = []
    for line in lines:
        where = f"order {line.order}, target {line.target:g}, {line.name}"
        if line.name == "plain" and not min(line.largest, line.count) > line.target:
            wrong.append(f"{where}: no more than the target is learnt")
        if line.name == "calibrated" and line.level > line.target * (1.0 + TOLERANCE):
            wrong.append(f"{where}: {line.level} is above the target")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each order, target and release. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the last 2,000 records, target 1")
    parser.add_argument("--figure", type=Path, help="the file of SVG to draw")
    options = parser.parse_args(arguments)
    loaded = data.load("activity")
    if loaded is None:
        print("left out: activity, its data set is absent")
        return 0
    steps = data.numbers(loaded["steps"])
    active = (steps[~np.isnan(steps)] > 0.0).astype(np.int64)
    active = active[-2000:] if options.quick else active
    if options.figure:
        options.figure.write_text(draw(DRAWN, day_levels(active, DRAWN)), encoding="utf-8")
        return 0
    commoner = max(active.mean(), 1.0 - active.mean())
    print(f"{len(active)} records; the commoner state is guessed right {commoner:.3f} of the time")
    print(
        "order target release     cost    every answer: largest  above target  right    day count"
    )
    lines = []
    for order in (1, 2):
        for target in (1.0,) if options.quick else TARGETS:
            for line in measure(active, order, target):
                lines.append(line)
                print(
                    f"{order:5} {target:6g} {line.name:10} {line.cost:7.4f} {line.largest:22.3f} "
                    f"{line.above:13.3f} {line.right:6.3f} {line.count:12.3f}"
                )
    wrong = faults(lines)
    for fault in wrong:
        print(f"FAILS: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
