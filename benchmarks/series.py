"""Errors of a series by each strategy, beside noise on each period.

    python benchmarks/series.py                    12, 100, 1,000 and 10,000 periods
    python benchmarks/series.py 52 365             these numbers of periods

Each strategy at the same cost, records of one row that stay in their public period: the largest
stated error of one answer at 95 %, over that of noise on each period. Nothing is drawn. Exit status
1 if `auto` chooses a strategy with a larger error than another one.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.series import names_for, series_strategy
from bayesdp.release.queries.series import AskedSeries, largest_error
from bayesdp.statements.queries import SeriesAnswers, Strategy

PERIODS = (12, 100, 1_000, 10_000)
ANSWERS: tuple[SeriesAnswers, ...] = ("cumulative", "ranges", "periods")
SCALE = 1_000_000.0
"""Of the noise for a sensitivity of 1: so large that steps can't be told apart."""


def error(name: Strategy, periods: int, answers: SeriesAnswers, *, gaussian: bool) -> float:
    """The largest error of an answer, in multiples of the noise's scale for a sensitivity of 1."""
    made = series_strategy(name, periods, answers)
    move = made.moves((0, 1), stays=True, squared=gaussian)
    law = DiscreteGaussian if gaussian else DiscreteLaplace
    size = math.sqrt(move) if gaussian else float(move)
    return largest_error(made, law(SCALE), 0.95) * size / made.fineness / SCALE


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each noise, question and number of periods. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("periods", nargs="*", type=int, default=PERIODS)
    wrong = 0
    print(f"{'noise':9} {'answers':11} {'periods':>7} {'tree':>8} {'square-root':>12}  auto")
    counts = parser.parse_args(arguments).periods
    for gaussian in (False, True):
        for answers in ANSWERS:
            for periods in counts:
                names = names_for(answers, gaussian=gaussian)
                errors = {name: error(name, periods, answers, gaussian=gaussian) for name in names}
                asked = AskedSeries(periods, answers, "auto", stays=True)
                used = asked.with_noise("query", 1, 1, gaussian=gaussian).used.name
                wrong += errors[used] > min(errors.values()) * (1.0 + 1e-5)
                shown = [
                    f"{errors[name] / errors['identity']:.3g}" if name in errors else "-"
                    for name in ("tree", "square-root")
                ]
                noise = "gaussian" if gaussian else "laplace"
                print(f"{noise:9} {answers:11} {periods:7} {shown[0]:>8} {shown[1]:>12}  {used}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
