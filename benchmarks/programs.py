"""What privacy costs a posterior: error and coverage of checked programs, beside no privacy.

    python benchmarks/programs.py                     everything: half an hour of processor time
    python benchmarks/programs.py --quick             a few cells, some seconds
    python benchmarks/programs.py answers mean        only these (others: candidates, count, held,
                                                      line, odds, sites, clusters, ignored,
                                                      sisters, chain, persistent, forgotten)
    python benchmarks/programs.py line --nuts-runs 40

In every run the truth is drawn from the prior and the data from the model; then the interpreter
runs the program (`_programs.py`, read and checked once per cell). Error is the root of the mean
squared distance of the posterior mean to the truth. Coverage is how often the central interval
holds the truth. Where a posterior claims to know about the noise, it must lie in a band; all bands
together raise a false alarm with probability 1e-6 at most. Exit status 1 if one is left.

Noise is OpenDP's, with two exceptions, where 1,000 runs would take hours: answers of records are
drawn from the mechanism's own channel, and choices among candidates from the interpreter's own
probabilities. Both laws are held against OpenDP's draws in the tests.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from _worlds import METHODS, persistent, persistent_share, sisters, two_sisters

from bayesdp.programs.check.checker import ProgramVerdict
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.dependence import inflation
from bayesdp.programs.ir import Program, Release
from bayesdp.programs.run import Joint, Machine, OpenDP, Rows, Samples
from bayesdp.programs.run.draws.choices import Selection
from bayesdp.programs.run.draws.distances import BITS, ERROR, STEP, hellinger_scores
from bayesdp.programs.run.draws.noise import response
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.run.numerics import ensemble
from bayesdp.programs.run.results.distributions import Distribution, single
from bayesdp.programs.source import core_of, read_file

FILE = Path(__file__).with_name("_programs.py")
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(10))
SIZES = (100, 1_000, 10_000, 100_000)
LINES = {
    "small and loose": (100, Fraction(10)),
    "middle": (1_000, Fraction(1)),
    "large and strict": (100_000, Fraction(1, 10)),
}
RUNS, SAMPLED_RUNS, NUTS_RUNS = 1_000, 400, 200
SAMPLED = ("odds", "rates", "parts")
"""Their posteriors are drawn by ensembles of walkers, which takes up to a second."""
KEPT = 16
"""Steps that are kept of each walker: a quarter of what programs keep, and of the time. A posterior
then has 3,000 draws, so that the ends of its intervals are off by a few per cent of their width at
most, which hardly moves a coverage."""
LEVELS = (0.5, 0.9)
FALSE_ALARM = 1e-6


# -- programs and noise ------------------------------------------------------------------------


@lru_cache(maxsize=64)
def checked(
    name: str, level: Fraction, factor: Fraction | None = None
) -> tuple[Program, ProgramVerdict]:
    """A program of the file and its verdict, which the kernel confirmed.

    `factor` is that of dependent records' standard deviation, `level` the cost.
    """
    source = read_file(FILE)
    verdict = verdict_in(source, name, None, {"level": level}, factor)
    if verdict.verdict != "ACCEPTED" or verdict.dp_epsilon != level:
        raise SystemExit(f"{name} at {level}: {verdict.verdict} {verdict.dp_epsilon}")
    return core_of(source, name, {"level": level}, factor), verdict


class Quick(OpenDP):
    """OpenDP's noise, but answers of records are drawn from their channel all at once."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def respond(self, codes: Sequence[int], states: int, dp_epsilon: float) -> Any:
        channel = _channel(states, dp_epsilon)
        held = np.asarray(codes, dtype=np.int64)
        actual = np.empty_like(held)
        for code in range(states):
            here = held == code
            actual[here] = self.rng.choice(states, size=int(here.sum()), p=channel[code])
        return actual


class Silent(OpenDP):
    """No noise: what a program would say without privacy."""

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return values

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return values


@lru_cache(maxsize=16)
def _channel(states: int, dp_epsilon: float) -> Any:
    table = np.asarray(response(states, dp_epsilon).channel())
    return table / table.sum(axis=1, keepdims=True)


# -- one cell ----------------------------------------------------------------------------------


@dataclass
class Measured:
    """Errors, and where the truth lies in each posterior (0 to 1), of every run and entry."""

    errors: list[tuple[float, ...]] = field(default_factory=list)
    places: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, posterior: Distribution, truth: tuple[float, ...]) -> None:
        means = posterior.mean
        means = means if isinstance(means, tuple) else (means,)
        self.errors.append(tuple(m - t for m, t in zip(means, truth, strict=True)))
        self.places.append(places(posterior, truth))

    def error(self, entry: int) -> float:
        return math.sqrt(sum(error[entry] ** 2 for error in self.errors) / len(self.errors))

    def covered(self, entry: int, level: float) -> int:
        return sum(abs(place[entry] - 0.5) <= level / 2 for place in self.places)


def places(posterior: Any, truth: tuple[float, ...]) -> tuple[float, ...]:
    """The posterior probabilities of at most the truth: a central interval holds what is within."""
    if isinstance(posterior, Samples):
        return tuple(float(item) for item in (posterior.draws <= np.asarray(truth)).mean(axis=0))
    if isinstance(posterior, Joint):
        return tuple(float(item.cdf(t)) for item, t in zip(posterior.marginals, truth, strict=True))
    return (float(posterior.cdf(truth[0])),)


@dataclass
class Cell:
    """What was measured for one method, size and budget."""

    method: str
    n: int
    epsilon: Fraction
    name: str = ""
    private: Measured = field(default_factory=Measured)
    plain: Measured = field(default_factory=Measured)

    @property
    def runs(self) -> int:
        return len(self.private.errors)


Job = tuple[str, int, Fraction, str, int]


@contextmanager
def fewer_steps() -> Iterator[None]:
    """Walkers keep so few steps meanwhile."""
    kept = ensemble.KEPT
    ensemble.KEPT = KEPT
    try:
        yield
    finally:
        ensemble.KEPT = kept


@fewer_steps()
def measure(job: Job, seed: int = 0) -> list[Cell]:
    """Runs of one cell; of the candidates all budgets for one size."""
    method, n, epsilon, name, runs = job
    if method == "candidates":
        return candidates(n, runs, seed)
    about, cell = METHODS[method], Cell(method, n, epsilon, name)
    rng = np.random.default_rng([n, *epsilon.as_integer_ratio(), *method.encode(), seed])
    noise, silent = Quick(rng), Silent()
    factor = None if about.population is None else inflation(about.population)
    aware, plain = (checked(name, epsilon, factor) for name in (about.program, about.plain))
    for turn in range(runs):
        truth, columns = about.draw(rng, n)
        rows = Rows(columns, n)
        if not turn:
            ready(*aware, rows)
            ready(*plain, rows)
        posterior = Machine(*aware, rows, noise).run().value
        cell.private.add(posterior, truth)
        cell.plain.add(Machine(*plain, rows, silent).run().value, truth)
        if not turn:
            _same_interval(posterior, truth)
    return [cell]


def _same_interval(posterior: Distribution, truth: tuple[float, ...]) -> None:
    """Coverage is read off the distribution function: `interval` must say the same."""
    for level in LEVELS:
        interval = posterior.interval(level)
        ends = interval if isinstance(interval[0], tuple) else (interval,)
        for (low, high), t, place in zip(ends, truth, places(posterior, truth), strict=True):
            if abs(abs(place - 0.5) - level / 2) > 1e-3:
                assert (low <= t <= high) == (abs(place - 0.5) <= level / 2)


# -- the exponential mechanism -----------------------------------------------------------------

POSTERIORS = {100: 1_000, 1_000: 250, 10_000: 100, 100_000: 25}
"""Data sets for each size. Their distances to all candidates take up to a second, so that several
truths, drawn from the posterior, and several releases share one data set."""


def candidates(n: int, runs: int, seed: int = 0) -> list[Cell]:
    """With a uniform prior all counts are equally likely, and the truth given one is its beta."""
    rng = np.random.default_rng([n, *b"candidates", seed])
    cells = [Cell("candidates", n, epsilon) for epsilon in EPSILONS]
    counts = rng.integers(0, n + 1, size=min(POSTERIORS.get(n, 100), runs))
    laws = [(Fraction(1 + k), Fraction(1 + n - k)) for k in range(n + 1)]
    scales = [_scale(epsilon, n) for epsilon in EPSILONS]
    for turn, k in enumerate(counts.tolist()):
        scores = scores_of(laws, k)
        if not turn and n <= 1_000:
            _same_choice(n, k, scores, scales)
        each = runs // len(counts) + (turn < runs % len(counts))
        posterior, truths = single("beta", 1 + k, 1 + n - k), rng.beta(1 + k, 1 + n - k, each)
        for cell, scale in zip(cells, scales, strict=True):
            chances = Selection(tuple(range(n + 1)), scores, scale).probabilities()
            for truth, chosen in zip(
                truths.tolist(), rng.choice(n + 1, size=each, p=chances).tolist(), strict=True
            ):
                cell.private.add(single("beta", 1 + chosen, 1 + n - chosen), (truth,))
                cell.plain.add(posterior, (truth,))
    return cells


def scores_of(laws: Sequence[tuple[Fraction, Fraction]], k: int) -> tuple[int, ...]:
    """The interpreter's scores; only near the posterior, if candidates at the edges are at 1."""
    lowest, n = -(2**BITS), len(laws) - 1
    reach = 50 + int(6 * math.sqrt(n))
    low, high = max(k - reach, 0), min(k + reach, n)
    near = hellinger_scores("beta", laws[low : high + 1], laws[k], True)
    edges = ([near[0]] if low else []) + ([near[-1]] if high < n else [])
    if any(edge != lowest for edge in edges):
        return tuple(hellinger_scores("beta", laws, laws[k], True))
    return (lowest,) * low + tuple(near) + (lowest,) * (n - high)


def _choosing(epsilon: Fraction, n: int, k: int) -> tuple[Machine, Release, Any]:
    program, verdict = checked(METHODS["candidates"].program, epsilon)
    rows = Rows({"": np.arange(n) < k}, n)
    ready(program, verdict, rows)
    command = program.body[0]
    assert isinstance(command, Release)
    return Machine(program, verdict, rows, OpenDP()), command, verdict.derivation["sequence"][0]


def _scale(epsilon: Fraction, n: int) -> float:
    machine, command, node = _choosing(epsilon, n, 0)
    return machine.calibration(command, node).choice(STEP, 2 * ERROR)


def _same_choice(n: int, k: int, scores: tuple[int, ...], scales: Sequence[float]) -> None:
    """The interpreter's own selection has these scores and this scale."""
    machine, command, node = _choosing(EPSILONS[0], n, k)
    due = machine.selection(command, node)
    assert (due.scores, due.scale) == (scores, scales[0])


# -- what is claimed ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Test:
    """A number of intervals that hold the truth, which is binomial if coverage is as claimed."""

    what: str
    covered: int
    runs: int
    level: float

    def fails(self, share: float) -> bool:
        """Outside a band that is missed with probability at most `share`."""
        from scipy import stats

        law = stats.binom(self.runs, self.level)
        return min(law.cdf(self.covered), law.sf(self.covered - 1)) < share / 2


def within(covered: int, runs: int) -> tuple[float, float]:
    """Where the coverage lies with 95 % confidence (Clopper and Pearson 1934)."""
    from scipy import stats

    low = float(stats.beta.ppf(0.025, covered, runs - covered + 1)) if covered else 0.0
    high = float(stats.beta.ppf(0.975, covered + 1, runs - covered)) if covered < runs else 1.0
    return low, high


def tests_of(cell: Cell) -> Iterator[Test]:
    """Posteriors without noise, but for wide ones; of the private ones those that claim it."""
    about = METHODS[cell.method]
    drawn = about.draw not in (sisters, persistent, persistent_share)
    kinds = [("without privacy", cell.plain)] if drawn and not about.wide else []
    if about.claims:
        kinds.append(("private", cell.private))
    for kind, measured in kinds:
        for entry, name in enumerate(about.names):
            for level in LEVELS:
                what = f"{about.title}, n {cell.n:,}, epsilon {float(cell.epsilon):g}, {name}"
                covered = measured.covered(entry, level)
                yield Test(f"{what}, {kind}", covered, cell.runs, level)


def failures(tests: Sequence[Test]) -> list[str]:
    """Those that leave their band; together a false alarm has probability at most 1e-6."""
    return [
        f"{test.what}: {test.covered} of {test.runs} intervals of {test.level:.0%} hold the truth"
        for test in tests
        if test.fails(FALSE_ALARM / len(tests))
    ]


def lines(cell: Cell) -> Iterator[str]:
    """One line for each entry."""
    about = METHODS[cell.method]
    for entry, name in enumerate(about.names):
        private, plain = cell.private.error(entry), cell.plain.error(entry)
        shares = [
            _share(item.covered(entry, level), cell.runs)
            for item in (cell.private, cell.plain)
            for level in LEVELS
        ]
        what = f"{about.title}, {name}" if len(about.names) > 1 else about.title
        yield (
            f"{what:<50}{cell.n:>8,}{float(cell.epsilon):>6g}{cell.runs:>6}"
            f"{plain:>10.5f}{private:>10.5f}{private / plain:>9.2f}  "
            + "".join(shares)
            + ("" if about.claims else "   told only")
            + (f"   {cell.name}" if cell.name else "")
        )


def _share(covered: int, runs: int) -> str:
    low, high = within(covered, runs)
    return f"{covered / runs:8.1%} ({100 * low:4.1f} to{100 * high:5.1f})"


HEADER = (
    f"{'':<50}{'n':>8}{'eps':>6}{'runs':>6}{'error':>10}{'private':>10}{'ratio':>9}  "
    + "".join(
        f"{what:>8} {'(95% sure)':<14}" for what in ("in 50%", "in 90%", "50%, np", "90%, np")
    )
)


def jobs(given: argparse.Namespace) -> Iterator[Job]:
    """The slowest first; with `--n` and `--epsilon` those cells alone."""
    for job in _all_jobs(given):
        _, n, epsilon, _, _ = job
        if given.n in (None, n) and given.epsilon in (None, epsilon):
            yield job


def _all_jobs(given: argparse.Namespace) -> Iterator[Job]:
    wanted = given.methods or list(METHODS)
    if "line" in wanted and not given.quick:
        if importlib.util.find_spec("numpyro") is None:
            print("left out: line, which needs the extra bayesdp[inference]")
        else:
            for name, (n, epsilon) in reversed(LINES.items()):
                yield "line", n, epsilon, name, given.nuts_runs
    sizes = SIZES[:1] if given.quick else SIZES
    for n in reversed(sizes):
        if "candidates" in wanted:
            yield "candidates", n, Fraction(1), "", given.runs
        for method in (
            *("answers", "count", "mean", "clusters", "ignored", "sisters"),
            *("chain", "persistent", "forgotten"),
        ):
            if method in wanted and (method != "sisters" or two_sisters() is not None):
                for epsilon in EPSILONS[1:2] if given.quick else EPSILONS:
                    yield method, n, epsilon, "", given.runs
    for method in (*SAMPLED, "sites"):
        for name, (n, epsilon) in LINES.items() if method in wanted else ():
            if not given.quick or (n <= 100 and method != "parts"):
                runs = min(given.runs, given.sampled_runs) if method in SAMPLED else given.runs
                yield method, n, epsilon, name, runs
    if "held" in wanted:
        for name, (n, epsilon) in LINES.items():
            if not given.quick or n <= 1_000:
                yield "held", n, epsilon, name, given.runs


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a coverage leaves its band."""
    parser = argparse.ArgumentParser(description="Errors and coverage of private posteriors.")
    parser.add_argument("methods", nargs="*", metavar=" | ".join(METHODS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument(
        "--sampled-runs", type=int, default=SAMPLED_RUNS, help="of odds, rates, parts"
    )
    parser.add_argument("--nuts-runs", type=int, default=NUTS_RUNS)
    parser.add_argument("--n", type=int, help="only cells of so many records")
    parser.add_argument("--epsilon", type=Fraction, help="only cells of this cost")
    parser.add_argument("--seed", type=int, default=0, help="another one for other truths and data")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    if unknown := set(given.methods) - METHODS.keys():
        parser.error(f"no such method: {', '.join(sorted(unknown))}")
    given.runs = given.runs or (40 if given.quick else RUNS)
    todo, cells = list(jobs(given)), []
    print(HEADER)
    seeded = partial(measure, seed=given.seed)
    if given.quick or given.workers < 2:
        actual: Any = map(seeded, todo)
        cells = _told(actual)
    else:
        with ProcessPoolExecutor(given.workers) as pool:
            cells = _told(pool.map(seeded, todo))
    tests = [test for cell in cells for test in tests_of(cell)]
    faults = failures(tests)
    for fault in faults:
        print(f"FAILS: {fault}", file=sys.stderr)
    print(f"{len(tests)} coverages held against their bands, {len(faults)} failures")
    return 1 if faults else 0


def _told(actual: Any) -> list[Cell]:
    cells = []
    for some in actual:
        for cell in some:
            print("\n".join(lines(cell)), flush=True)
            cells.append(cell)
    return cells


if __name__ == "__main__":
    sys.exit(main())
