"""What the forward-backward attacker learns of the real activity series: plain DP, and calibrated.

    python benchmarks/attacks.py                   half a minute
    python benchmarks/attacks.py --quick           the last 2,000 records

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

import data
import numpy as np

import bayesdp as bdp
from bayesdp.audit import Responses, SumWithNoise, attack, beliefs
from bayesdp.mechanisms import DiscreteLaplace, RandomizedResponse

TARGETS = (0.5, 1.0, 2.0)
DAY = 288
TOLERANCE = 1e-9


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
    options = parser.parse_args(arguments)
    loaded = data.load("activity")
    if loaded is None:
        print("left out: activity, its data set is absent")
        return 0
    steps = data.numbers(loaded["steps"])
    active = (steps[~np.isnan(steps)] > 0.0).astype(np.int64)
    active = active[-2000:] if options.quick else active
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
