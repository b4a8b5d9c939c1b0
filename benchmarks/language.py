"""How long programs take to draw answers of all records, and posteriors of rates.

    python benchmarks/language.py

Processor times, compared in one run: the answers of all records drawn together beside a call for
each record, and the posterior of a rate among records that a private condition selects, with its
interval and its document, at epsilon .01 beside epsilon .25. Exit status 1 if a claim fails.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from bayesdp.mechanisms.randomized_response import RandomizedResponse
from bayesdp.programs.ir import Expr
from bayesdp.programs.run.draws.noise import OpenDP
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors.from_releases import derived
from bayesdp.programs.run.results import distributions
from bayesdp.programs.run.values.public import PublicValues

TOGETHER_LIMIT = 0.2
NOISE_LIMIT = 3.0
SECONDS_LIMIT = 1.0


class Numbers(PublicValues):
    """The public numbers of a program that has none."""

    def __init__(self) -> None:
        """Nothing is asked for."""
        self.names = {}


def seconds(act: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of some runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        act()
        best = min(best, time.process_time() - start)
    return float(best)


def ratios() -> dict[str, tuple[float, float]]:
    """Each ratio, or time, with what is claimed of it."""
    response = RandomizedResponse.for_cost((0, 1, 2), 1.0)
    alone = seconds(lambda: [response.release([0]) for _ in range(2000)]) / 2000
    together = seconds(lambda: response.release([0, 1, 2] * 20_000)) / 60_000
    samplers, table = OpenDP(), np.asarray([[0, -3, -1, -2]] * 40_000, np.int64)
    each = seconds(lambda: [samplers.choose([0, -3, -1, -2], 2.0) for _ in range(2000)]) / 2000
    chosen = seconds(lambda: samplers.choose_each(table, 2.0)) / 40_000
    prior = distributions.single("beta", 1, 1)

    def rate(scale: float) -> float:
        def act() -> None:
            released = Noisy((Fraction(300), Fraction(700)), AddedNoise("laplace", scale))
            likelihood = Expr("likelihood", (), ("bernoulli",))
            law = derived("noise-aware", released, likelihood, prior, Numbers())
            law.interval(0.95)
            law.to_dict()

        return seconds(act)

    small, large = rate(8.0), rate(200.0)
    return {
        "answers of three labels: together, beside one by one": (together / alone, TOGETHER_LIMIT),
        "choices of four candidates: together, beside one by one": (chosen / each, TOGETHER_LIMIT),
        "posterior of a rate at epsilon .01, beside .25": (large / small, NOISE_LIMIT),
        "posterior of a rate at epsilon .01, seconds": (large, SECONDS_LIMIT),
    }


def main() -> int:
    """Print every comparison with its claim."""
    failed = False
    for name, (measured, limit) in ratios().items():
        holds = measured <= limit
        failed = failed or not holds
        print(f"{name:58s} {measured:8.3f}   at most {limit:g}: {'holds' if holds else 'FAILS'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
