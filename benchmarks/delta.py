"""How much Gaussian noise each population asks for at a delta, and what the sharp theorems save.

    python benchmarks/delta.py                     some minutes of processor time
    python benchmarks/delta.py --quick             a few populations
    python benchmarks/delta.py activity            only these sources

For a target `(epsilon, delta)` every theorem's level of pure mechanisms is one with a delta (theory
3.10), and the least discrete Gaussian noise over the points of its curve is searched. Numbers are
multiples of the noise for independent records, at sensitivity 1: by the theorems that had a form
with a delta of their own before (group privacy and contraction), and by all of them. Exit status 1
if all of them ask for more than these, or if `bdp.calibrate_gaussian` asks for more.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from _cases import SOURCES, Case

import bayesdp as bdp
from bayesdp.calibration import LEAST_DELTA, largest_within
from bayesdp.leakage.correlated_deltas import growth
from bayesdp.mechanisms.gaussian import smallest_sigma
from bayesdp.notions import Adversary, Cost
from bayesdp.theorems import Bound, Question, best_bound, pure_level, quickest_first

DELTA = 1e-5
TARGETS = (0.5, 1.0, 5.0)
CLASSES: tuple[Adversary, ...] = ("any", "uninformed")
CHOSEN = ("activity", "electricity", "glucose", "wheeze", "measles")
BEFORE = ("cluster-size", "markov-contraction", "graph-contraction")
"""The theorems that spoke of a delta when each needed a form of its own."""
SECONDS = 1.5
TOLERANCE = 0.01
"""Two searches over the points of one curve may end that far apart."""


Level = Callable[[float], Bound | None]


def level_of(question: Question, names: Sequence[str] = ()) -> Level:
    """The lowest level of all mechanisms of a DP cost, by these theorems, or by all."""

    @cache
    def level(dp_epsilon: float) -> Bound | None:
        if not names:
            return best_bound(question, Cost(any=dp_epsilon))
        asked = [theorem for theorem in quickest_first(question) if theorem.name in names]
        answers = [pure_level(theorem, question, dp_epsilon) for theorem in asked]
        bounds = [answer for answer in answers if isinstance(answer, Bound)]
        return min(bounds, key=lambda bound: bound.epsilon, default=None)

    return level


@cache
def sigma_at(dp_epsilon: float, level: float) -> float:
    """The least noise with this point on its curve, if the conversion leaves a delta for it."""
    dp_delta = DELTA / growth(level, dp_epsilon)
    if dp_delta <= LEAST_DELTA:
        return math.inf
    return smallest_sigma(1, dp_epsilon, dp_delta, precision=1e-4)


def least_noise(level: Level, target: float) -> tuple[float, str]:
    """The least noise for which the level keeps to the target, and the theorem that proves it."""

    def epsilon(dp_epsilon: float) -> float:
        bound = level(dp_epsilon)
        return math.inf if bound is None else bound.epsilon

    high, best, name = largest_within(epsilon, target), math.inf, ""
    for step in range(12 if high > 0.0 else 0):
        bound = level(high * 0.97**step)
        assert bound is not None
        sigma = sigma_at(high * 0.97**step, bound.epsilon)
        if sigma > best:
            break
        best, name = sigma, bound.theorem
    return best, name


def measure(case: Case, adversary: Adversary) -> list[str]:
    """Print the rows of one population and class; what fails."""
    question = Question(case.population, adversary, seconds=SECONDS)
    old, new = level_of(question, BEFORE), level_of(question)
    faults = []
    for target in TARGETS:
        alone = sigma_at(target, target)
        before, _ = least_noise(old, target)
        now, name = least_noise(new, target)
        row = f"{before / alone:>10.2f}{now / alone:>10.2f}{now / before:>8.2f}   {name}"
        print(f"{case.name:<44}{adversary:<12}{target:>6g}{row}", flush=True)
        if now > before * (1.0 + TOLERANCE):
            faults.append(f"{case.name}, {adversary}, {target:g}: {now} is above {before}")
        if target == 1.0 and math.isfinite(now):
            answer = bdp.calibrate_gaussian(
                case.population, target, DELTA, adversary=adversary, seconds=SECONDS
            )
            if answer.sigma > now * (1.0 + TOLERANCE):
                faults.append(f"{case.name}, {adversary}: calibrate says {answer.sigma}, not {now}")
    return faults


def cases(sources: Sequence[str], quick: bool) -> Iterable[Case]:
    """The populations about which mechanisms of any kind are asked."""
    for source in sources:
        listed = list(SOURCES[source]())
        if not listed:
            print(f"left out: {source}, its data set is absent (see benchmarks/data.py)")
        yield from (c for c in listed if c.kind == "any" and (c.quick or not quick))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a comparison fails."""
    parser = argparse.ArgumentParser(description="Gaussian noise at a delta, by every theorem.")
    parser.add_argument("sources", nargs="*", metavar=" | ".join(SOURCES))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(arguments)
    if unknown := set(given.sources) - SOURCES.keys():
        parser.error(f"no such source: {', '.join(sorted(unknown))}")
    print(f"Times the noise of independent records at delta {DELTA:g}")
    head = f"{'before':>10}{'now':>10}{'ratio':>8}   by"
    print(f"{'population':<44}{'adversary':<12}{'target':>6}{head}")
    faults = [
        fault
        for case in cases(given.sources or CHOSEN, given.quick)
        for adversary in CLASSES
        for fault in measure(case, adversary)
    ]
    for fault in faults:
        print(f"FAILS: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
