"""Errors of the sums and counts of Lange et al. (PVLDB 2025), by their bound and by ours.

    python benchmarks/lange.py

For each BDP target: the error at 95 % of one sum or count, with the DP budget that our theorems
leave, with the budget that theirs leave, and with group privacy. The mechanism is bayesdp's own in
all three (exact integers on a grid, discrete Laplace noise of certified cost), and the error is the
discrete law's own quantile; in ours the grid's slack is paid for. Errors of counts are whole
numbers, so the ratios are of the noise scales. Exit status 1 if ours is larger than a sound one
that knows the same.

Their bound for Gaussian groups needs equal variances, which they don't ask for. Where the data's
variances differ we show what a covariance costs, and their number is not comparable.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import data
import numpy as np

import bayesdp as bdp
from bayesdp.calibration import largest_within
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.notions import Cost
from bayesdp.populations import Population
from bayesdp.tables.queries.grid import Grid
from bayesdp.theorems import Question, report

TARGETS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
CONFIDENCE = 0.95
SEED = 20250501


@dataclass(frozen=True)
class Task:
    """One sum or count. `bounds` are the clip of a sum; a count has none."""

    name: str
    population: Population
    n: int
    total: float
    bounds: tuple[float, float] | None = None
    ratio: float | None = None
    correlation: float | None = None
    sound: bool = True


def budget(task: Task, target: float) -> float:
    """The DP budget that our theorems leave, the grid's slack counted in."""
    if task.bounds is None:
        return bdp.calibrate(task.population, target).dp_epsilon
    slack = grid(task, target).slack
    question = Question(task.population)

    def level(dp_epsilon: float) -> float:
        extra = math.nextafter(dp_epsilon * slack, math.inf)
        return report(question, Cost(lipschitz=dp_epsilon, slack=extra)).best.epsilon

    return largest_within(level, target)


def theirs(task: Task, target: float) -> float | None:
    """The budget that Lange et al. leave; `None` where they promise nothing."""
    if task.ratio is not None:
        left = target - 4.0 * math.log(task.ratio)
        return left if left > 0.0 else None
    size, rho = task.population.group_size, task.correlation
    if rho is None or rho * (size - 2) >= 1.0:
        return None
    return target / (1.0 + size**2 / (4.0 * (1.0 / rho - size + 2)))


def grid(task: Task, dp_epsilon: float) -> Grid:
    """The grid of a sum, as a release plans it."""
    assert task.bounds is not None
    low, high = task.bounds
    return Grid.plan(
        low, high, task.n, dp_epsilon=dp_epsilon, dependents=task.population.group_size
    )


def error(task: Task, dp_epsilon: float | None) -> float | None:
    """The error at 95 % in the column's unit."""
    if dp_epsilon is None:
        return None
    if task.bounds is None:
        return float(DiscreteLaplace.for_cost(1, dp_epsilon).quantile(CONFIDENCE))
    steps = grid(task, dp_epsilon)
    noise = DiscreteLaplace.for_cost(steps.sensitivity, dp_epsilon)
    return float(noise.quantile(CONFIDENCE) * steps.step)


# -- what is asked -----------------------------------------------------------------------------


def galton() -> Iterator[Task]:
    people = data.demo("galton")
    heights = data.numbers(people["height"])
    known = bdp.Gaussian(size=3, max_correlation=0.275)
    for low, high in ((0.0, 254.0), (120.0, 220.0)):
        task = Task(
            f"Galton, sum of heights, {low:g}..{high:g} cm",
            known,
            len(heights),
            float(heights.clip(low, high).sum()),
            (low, high),
            correlation=0.275,
        )
        yield task
        three = [[1.0, 0.2754, 0.2017], [0.2754, 1.0, 0.0737], [0.2017, 0.0737, 1.0]]
        yield replace(
            task,
            name=task.name + ", all three correlations known",
            population=bdp.Gaussian(covariance=three),
            correlation=0.2754,
        )


def family_iq() -> Iterator[Task]:
    loaded = data.load("family_iq")
    if loaded is None:
        print("left out: FamilyIQ, its data set is absent (see benchmarks/data.py)")
        return
    scores = np.stack([data.numbers(loaded["kid_score"]), data.numbers(loaded["mom_iq"])])
    rho = float(np.corrcoef(scores)[0, 1])
    for low, high in ((20.0, 140.0), (40.0, 160.0), (0.0, 200.0)):
        task = Task(
            f"FamilyIQ, sum, {low:g}..{high:g}, equal variances assumed",
            bdp.Gaussian(size=2, max_correlation=rho),
            scores.size,
            float(scores.clip(low, high).sum()),
            (low, high),
            correlation=rho,
        )
        yield task
    yield replace(
        task,
        name="FamilyIQ, sum, 0..200, covariance (sd 20.4 and 15)",
        population=bdp.Gaussian(covariance=np.cov(scores).tolist()),
        sound=False,
    )


def synthetic_iq() -> Iterator[Task]:
    draw = np.random.default_rng(SEED)
    law = 15.0**2 * np.array([[1.0, 0.45], [0.45, 1.0]])
    scores = draw.multivariate_normal([100.0, 100.0], law, size=10_000).clip(40.0, 160.0)
    yield Task(
        "SyntheticIQ, sum, 40..160",
        bdp.Gaussian(size=2, max_correlation=0.45),
        scores.size,
        float(scores.sum()),
        (40.0, 160.0),
        correlation=0.45,
    )


def activity() -> Iterator[Task]:
    loaded = data.load("activity")
    if loaded is None:
        print("left out: Activity, its data set is absent (see benchmarks/data.py)")
        return
    steps = data.numbers(loaded["steps"])
    active = (steps[~np.isnan(steps)] > 0).astype(np.int64)
    table = data.fit_chain([active], 2)
    yield _count("Activity, active intervals", table, active)
    days = sorted(active.reshape(-1, 288), key=lambda day: int(day.sum()))
    yield _count("Activity, a single day (the median one)", table, days[len(days) // 2])


def electricity() -> Iterator[Task]:
    loaded = data.load("electricity_uci")
    if loaded is None:
        print("left out: Electricity, its stand-in is absent (see benchmarks/data.py)")
        return
    pairs = zip(loaded["date"], data.numbers(loaded["kwh"]), strict=True)
    daily = np.array([kwh for date, kwh in pairs if date[:4] in ("2007", "2008")])
    for threshold in (20, 25, 30, 35):
        above = (daily > threshold).astype(np.int64)
        name = f"Electricity (stand-in), days above {threshold} kWh"
        yield _count(name, data.fit_chain([above], 2), above)


def _count(name: str, table: Any, values: Any) -> Task:
    return Task(
        name,
        bdp.MarkovChain(transition=table, length=len(values)),
        len(values),
        float(values.sum()),
        ratio=float(table.max() / table.min()),
    )


# -- the table ---------------------------------------------------------------------------------


def row(task: Task, target: float) -> tuple[str, str | None]:
    """A line, and what is wrong with it."""
    ours, lange = budget(task, target), theirs(task, target)
    group = target / task.population.group_size
    errors = [error(task, left) for left in (ours, lange, group)]
    cells = [f"{target:g}", _number(errors[0]), _percent(errors[0], task.total)]
    cells += [_number(errors[1]), _ratio(ours, lange), _number(errors[2]), _ratio(ours, group)]
    largest = max(group, lange if lange is not None and task.sound else 0.0)
    fault = (
        f"{task.name}, target {target:g}: a budget of {ours}" if ours < largest * 0.999 else None
    )
    return "".join(f"{cell:>13}" for cell in cells), fault


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}" if value < 1e6 else f"{value:.3g}"


def _ratio(ours: float, other: float | None) -> str:
    """Noise scales are inverse to budgets."""
    return "-" if other is None else f"{ours / other:.2f}"


def _percent(value: float | None, total: float) -> str:
    return "-" if value is None else f"{100 * value / total:.2g} %"


HEAD = ("BDP target", "ours", "of the total", "Lange et al.", "theirs/ours", "group", "group/ours")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if ours is ever the larger error."""
    del arguments
    faults = []
    for source in (galton, family_iq, synthetic_iq, activity, electricity):
        for task in source():
            unit = "" if task.sound else "; theirs is not proved here: the variances differ"
            print(f"{task.name}: n = {task.n}, total {task.total:,.0f}{unit}")
            print("".join(f"{cell:>13}" for cell in HEAD))
            for target in TARGETS:
                text, fault = row(task, target)
                print(text, flush=True)
                faults += [fault] if fault else []
            print()
    for fault in faults:
        print(f"FAILS: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
