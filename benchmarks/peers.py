"""The error of our answers beside those of other libraries, at the same guarantee.

    python benchmarks/peers.py                     everything that is installed, five minutes
    python benchmarks/peers.py count median        only these tasks
    python benchmarks/peers.py --quick             a tenth of the draws, and no claim

Independent records, pure DP at epsilon 1, and one guarantee for all: the number of records is
public, and replacing one of them is hidden. Libraries whose neighbours have one record more or
less get epsilon where their noise for a replaced record is the same (counts), and half of it where
a replacement is a removal and an addition (tables and quantiles); sums and means get the range of
the column as their sensitivity. The claim is that no error of ours is above 1.05 times that of
another, by more than three standard deviations of the draws. OpenDP comes with bayesdp; diffprivlib
and pipeline-dp are compared where they are installed, which the script says.

Errors are root mean squares over many draws, of ranks for quantiles. Of a regression they are those
of the line at both bounds of the column that explains, kept within the bounds of the outcome, from
least squares. Times are of one answer: of the others a call of the library, of ours a whole release
with its checks, debit and certificate.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesdp as bdp

EPSILON = 1.0
ROWS = 2000
HIGH = 100.0
GROUPS = ("north", "south", "east", "west")
STATES = tuple(range(8))
CANDIDATE_STEP = 0.1
DRAWS = 20_000
LIMIT = 1.05
PEERS = ("opendp", "diffprivlib", "pipeline_dp")

Answer = np.ndarray


@cache
def people() -> pd.DataFrame:
    """Incomes in heaps, a region and a class of eight for each of the records."""
    rng = np.random.default_rng(1)
    income = np.clip(np.round(rng.gamma(2.0, 12.0, ROWS), 1), 0.0, HIGH)
    return pd.DataFrame(
        {
            "income": income,
            "region": rng.choice(GROUPS, ROWS, p=[0.4, 0.3, 0.2, 0.1]),
            "size": rng.choice(STATES, ROWS),
            "age": (age := np.round(rng.uniform(0.0, HIGH, ROWS), 1)),
            "spent": np.clip(np.round(20.0 + 0.5 * age + rng.normal(0.0, 10.0, ROWS)), 0.0, HIGH),
        }
    )


@dataclass(frozen=True)
class Error:
    """A root mean square over draws, and its standard deviation."""

    value: float
    deviation: float

    def above(self, other: Error) -> tuple[float, float]:
        """How many times the other error this is, and the standard deviation of that."""
        if not other.value:
            return math.inf, 0.0
        ratio = self.value / other.value
        parts = (self.deviation / self.value if self.value else 0.0, other.deviation / other.value)
        return ratio, ratio * math.hypot(*parts)


@dataclass(frozen=True)
class Task:
    """A question: the study's query, the true numbers, and how the others are asked.

    `exact` are the numbers without noise; for a quantile `probability` is its own, and errors are
    of ranks (several of them: a probability for each number). Each of `others` draws one answer.
    """

    query: dict[str, Any]
    exact: Answer
    others: dict[str, Callable[[], Answer]]
    probability: float | Answer | None = None

    def error(self, answers: Sequence[Answer]) -> Error:
        squares = np.mean(self._off(answers) ** 2, axis=1)
        error = math.sqrt(squares.mean())
        deviation = squares.std() / math.sqrt(len(squares)) / (2 * error) if error else 0.0
        return Error(error, float(deviation))

    def _off(self, answers: Sequence[Answer]) -> Answer:
        drawn = np.asarray(answers, dtype=float).reshape(len(answers), -1)
        if self.probability is None:
            return drawn - self.exact
        values = np.sort(people()["income"].to_numpy())
        low, high = (np.searchsorted(values, drawn, side) for side in ("left", "right"))
        wanted = self.probability * ROWS
        return np.maximum(np.maximum(low - wanted, wanted - high), 0.0)


# -- the others --------------------------------------------------------------------------------


def laplace(exact: Answer, sensitivity: float, kind: type) -> Callable[[], Answer]:
    """OpenDP's Laplace mechanism on these numbers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.vector_domain(
            dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
        ),
        dp.l1_distance(T=kind),
    )
    mechanism = dp.m.make_laplace(*space, scale=sensitivity / EPSILON)
    numbers = [kind(value) for value in exact]
    return lambda: np.array(mechanism(numbers))


def opendp_variance() -> Callable[[], Answer]:
    """OpenDP's variance, of rows whose number is public, with the noise of its own sensitivity."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.vector_domain(dp.atom_domain(bounds=(0.0, HIGH), nan=False), size=ROWS),
        dp.symmetric_distance(),
    )
    variance = space >> dp.t.then_variance(ddof=0)
    noisy = dp.binary_search_chain(
        lambda scale: variance >> dp.m.then_laplace(scale=scale), d_in=2, d_out=EPSILON
    )
    values = people()["income"].tolist()
    return lambda: np.array([noisy(values)])


def opendp_quantile(probability: float, epsilon: float = EPSILON) -> Callable[[], Answer]:
    """OpenDP's quantile among the candidates that ours has."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    candidates = [float(c) for c in np.arange(0.0, HIGH + CANDIDATE_STEP, CANDIDATE_STEP)]

    def mechanism(scale: float) -> Any:
        return dp.m.make_private_quantile(
            dp.vector_domain(dp.atom_domain(T=float, nan=False), size=ROWS),
            dp.symmetric_distance(),
            dp.max_divergence(),
            candidates=candidates,
            alpha=probability,
            scale=scale,
        )

    scale = dp.binary_search(lambda s: mechanism(s).map(2) <= epsilon, bounds=(1e-3, 1e5))
    chosen, values = mechanism(scale), people()["income"].tolist()
    return lambda: np.array([chosen(values)])


def diffprivlib(name: str, **options: Any) -> Callable[[], Answer]:
    """A function of diffprivlib's tools on the incomes."""
    from diffprivlib import tools

    values = people()["income"].to_numpy()
    call = getattr(tools, name)
    return lambda: np.ravel([call(values, epsilon=EPSILON, bounds=(0.0, HIGH), **options)])


def line(intercept: float, slope: float) -> Answer:
    """The line at both bounds, within those of the outcome."""
    return np.clip([intercept, intercept + slope * HIGH], 0.0, HIGH)


def diffprivlib_line() -> Answer:
    """Its regression as it is.

    Version 0.6.6 takes the square of the lower bound alone as the sensitivity of a sum of squares.
    Its bounds are moved by a noisy mean before, so that the upper one may lie further from 0: then
    its noise is less than its epsilon needs.
    """
    from diffprivlib.models import LinearRegression

    made = LinearRegression(epsilon=EPSILON, bounds_X=(0.0, HIGH), bounds_y=(0.0, HIGH))
    fitted = made.fit(people()[["age"]].to_numpy(), people()["spent"].to_numpy())
    return line(float(fitted.intercept_), float(fitted.coef_[0]))


def diffprivlib_groups() -> Answer:
    from diffprivlib import tools

    return np.array(
        [
            tools.mean(part.to_numpy(), epsilon=EPSILON, bounds=(0.0, HIGH))
            for part in (people()["income"][people()["region"] == group] for group in GROUPS)
        ]
    )


def diffprivlib_table() -> Answer:
    from diffprivlib import tools

    counts, _ = tools.histogram(
        people()["size"].to_numpy(), epsilon=EPSILON / 2, bins=len(STATES), range=(-0.5, 7.5)
    )
    return np.asarray(counts)


def diffprivlib_count() -> Answer:
    from diffprivlib import tools

    return np.array([tools.count_nonzero(people()["size"].to_numpy() == 3, epsilon=EPSILON)])


def pipeline(metric: str, key: Callable[[Any], Any], keys: Sequence[Any], epsilon: float) -> Any:
    """PipelineDP on this machine: each row is a person of their own."""
    import pipeline_dp

    rows = list(people().reset_index().itertuples(index=False, name=None))
    params = pipeline_dp.AggregateParams(
        metrics=[getattr(pipeline_dp.Metrics, metric)],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0.0,
        max_value=HIGH,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=key,
        value_extractor=lambda row: row[1],
    )

    def answer() -> Answer:
        budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-12)
        engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
        lazy = engine.aggregate(rows, params, extractors, public_partitions=list(keys))
        budget.compute_budgets()
        numbers = dict(lazy)
        return np.array([numbers[k][0] for k in keys])

    return answer


def tasks(installed: Sequence[str]) -> dict[str, Task]:
    """Every task, with those of the others that are installed and have it."""
    data = people()
    income, sizes = data["income"], data["region"].value_counts()
    total = np.array([income.sum()])
    means = data.groupby("region")["income"].mean()
    by_group = np.array([means[group] for group in GROUPS])
    table = data["size"].value_counts().reindex(STATES, fill_value=0).to_numpy()
    threes = np.array([table[3]])

    def grouped() -> Answer:
        scale = np.array([HIGH / sizes[group] for group in GROUPS])
        return by_group + noise() * scale

    noise = laplace(np.zeros(len(GROUPS)), 1.0, float)
    known = {
        "count": Task(
            {"kind": "count", "where": "size == 3"},
            threes,
            {
                "opendp": laplace(threes, 1.0, int),
                "diffprivlib": diffprivlib_count,
                "pipeline_dp": pipeline("COUNT", lambda row: row[3] == 3, [True], EPSILON),
            },
        ),
        "sum": Task(
            {"kind": "sum", "column": "income"},
            total,
            {
                "opendp": laplace(total, HIGH, float),
                "diffprivlib": diffprivlib("sum"),
                "pipeline_dp": pipeline("SUM", lambda row: 0, [0], EPSILON),
            },
        ),
        "mean": Task(
            {"kind": "mean", "column": "income"},
            total / ROWS,
            {
                "opendp": laplace(total / ROWS, HIGH / ROWS, float),
                "diffprivlib": diffprivlib("mean"),
                "pipeline_dp": pipeline("MEAN", lambda row: 0, [0], EPSILON),
            },
        ),
        "means": Task(
            {"kind": "mean", "column": "income", "by": "region"},
            by_group,
            {
                "opendp": grouped,
                "diffprivlib": diffprivlib_groups,
                "pipeline_dp": pipeline("MEAN", lambda row: row[2], GROUPS, EPSILON),
            },
        ),
        "table": Task(
            {"kind": "histogram", "column": "size"},
            table,
            {
                "opendp": laplace(table, 2.0, int),
                "diffprivlib": diffprivlib_table,
                "pipeline_dp": pipeline("COUNT", lambda row: row[3], STATES, EPSILON / 2),
            },
        ),
    }
    for name, probability in (("median", 0.5), ("ninth decile", 0.9)):
        known[name] = Task(
            {
                "kind": "quantile",
                "column": "income",
                "probability": probability,
                "step": CANDIDATE_STEP,
            },
            np.array([probability]),
            {
                "opendp": opendp_quantile(probability),
                "diffprivlib": diffprivlib("quantile", quant=probability),
            },
            probability,
        )
    probabilities = np.array([0.25, 0.5, 0.75])
    each = [opendp_quantile(p, EPSILON / 3) for p in probabilities] if "opendp" in installed else []
    known["quartiles"] = Task(
        {
            "kind": "quantile",
            "column": "income",
            "probabilities": probabilities.tolist(),
            "step": CANDIDATE_STEP,
        },
        probabilities,
        {
            "opendp": lambda: np.concatenate([draw() for draw in each]),
            "diffprivlib": diffprivlib("quantile", quant=probabilities),
        },
        probabilities,
    )
    known["variance"] = Task(
        {"kind": "variance", "column": "income"},
        np.array([income.var(ddof=0)]),
        {"opendp": opendp_variance(), "diffprivlib": diffprivlib("var")},
    )
    slope, intercept = np.polyfit(data["age"], data["spent"], 1)
    known["regression"] = Task(
        {"kind": "regression", "outcome": "spent", "on": "age"},
        line(intercept, slope),
        {"diffprivlib": diffprivlib_line},
    )
    for task in known.values():
        for name in set(task.others) - set(installed):
            del task.others[name]
    return known


# -- ours --------------------------------------------------------------------------------------


def study(query: dict[str, Any], folder: str) -> bdp.Study:
    ledger = Path(folder) / f"{time.perf_counter_ns()}.db"
    return bdp.Study(
        people(),
        dataset="peers",
        n=ROWS,
        columns={
            "income": {"bounds": [0.0, HIGH]},
            "region": {"public": True, "states": list(GROUPS)},
            "size": {"states": list(STATES)},
            "age": {"bounds": [0.0, HIGH]},
            "spent": {"bounds": [0.0, HIGH]},
        },
        population={"model": "independent", "covers": ["income", "size", "age", "spent"]},
        budget={"epsilon": EPSILON},
        queries=[{"name": "answer", **query}],
        ledger=str(ledger),
    )


def draws(query: dict[str, Any], folder: str) -> Callable[[], Answer]:
    """The release's own noise on the release's own integers, without its debit."""
    from bayesdp.release.drawing.study_drawing import noisy
    from bayesdp.tables.source import open_table
    from bayesdp.tables.sums.scan import run

    plan = study(query, folder).check().plan
    asked = [planned.table_query() for planned in plan.queries]
    totals = run(open_table(people()), plan.study.columns, asked)

    def draw() -> list[Any]:
        return [r for planned in plan.queries for r in noisy(planned, totals[planned.name])]

    if query["kind"] == "regression":
        return lambda: fitted(draw())
    return lambda: np.array([result.value for result in draw()])


def fitted(moments: Sequence[Any]) -> Answer:
    """The line of the released moments: what a release shows as coefficients, without intervals."""
    x, y, xx, xy, _ = (moment.value for moment in moments)
    slope = (xy - x * y) / (xx - x * x)  # of columns from -1 to 1
    return line(HIGH / 2 * (1.0 + y - slope * (x + 1.0)), slope)


def measured(draw: Callable[[], Answer], number: int) -> tuple[list[Answer], float]:
    began = time.perf_counter()
    answers = [draw() for _ in range(number)]
    return answers, (time.perf_counter() - began) / number


def compare(name: str, task: Task, number: int, folder: str) -> Iterator[tuple[str, Error, float]]:
    """For us and each of the others the error and the seconds of an answer."""
    answers, _ = measured(draws(task.query, folder), number)
    _, seconds = measured(lambda: study(task.query, folder).release(), 3)
    yield "bayesdp", task.error(answers), seconds
    for other, draw in task.others.items():
        # The slow ones draw less often, but often enough for a few per cent.
        _, each = measured(draw, 3)
        enough = number if each < 2e-3 else max(int(number / 10 / (1 + each / 0.03)), 200)
        answers, seconds = measured(draw, enough)
        yield other, task.error(answers), seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", help="only these tasks")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, and no claim")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # the others warn of their own
    installed = [name for name in PEERS if importlib.util.find_spec(name) is not None]
    for name in sorted(set(PEERS) - set(installed)):
        print(f"{name} is not installed here: left out")
    known = tasks(installed)
    unknown = [name for name in arguments.tasks if name not in known]
    if unknown:
        parser.error(f"no task {unknown[0]!r}: there are {', '.join(known)}")
    number, holds = DRAWS // 10 if arguments.quick else DRAWS, True
    print(f"{'task':<14}{'library':<14}{'error':>12}{'ours / theirs':>20}{'ms':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.tasks or known:
            lines = list(compare(name, known[name], number, folder))
            ours = lines[0][1]
            for library, error, seconds in lines:
                ratio, deviation = ours.above(error)
                text = "" if library == "bayesdp" else f"{ratio:.3f} +- {deviation:.3f}"
                print(
                    f"{name:<14}{library:<14}{error.value:>12.5g}{text:>20}{seconds * 1e3:>10.2f}"
                )
                if library == "bayesdp" or arguments.quick:
                    continue
                if ratio - 3 * deviation > LIMIT:
                    print(f"  above {LIMIT} times: FAILS")
                    holds = False
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
