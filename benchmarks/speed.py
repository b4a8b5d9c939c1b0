"""How fast bayesdp is. One table of medians and ratios; exit status 1 if a claim fails.

    python benchmarks/speed.py                 everything, about six minutes
    python benchmarks/speed.py chains start    only these parts (others: release, tensor, kernel,
                                               conversions)
    python benchmarks/speed.py release --rows 1000000

Whatever is compared is run in turn within one process, so that a busy machine slows both sides.
Seconds are of the clock on the wall. Only the ratio of calibrations, which take milliseconds, is of
this process's own processor time: a busy machine would interrupt one and not the other.
Data are made here, by a fixed rule, in a temporary folder.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import bayesdp as bdp

ACTIVITY = [[0.88241, 0.11759], [0.30471, 0.69529]]
CHAINS = {
    "activity": ACTIVITY,
    "stay .9, .9": [[0.9, 0.1], [0.1, 0.9]],
    "stay .99, .95": [[0.99, 0.01], [0.05, 0.95]],
    "stay .1, .1": [[0.1, 0.9], [0.9, 0.1]],
}
STICKY = {"stay .999, .999": [[0.999, 0.001], [0.001, 0.999]]}
TARGETS = (0.1, 1.0, 10.0)
LENGTHS = (10**3, 10**6, 10**9)
MILLION_LIMIT = 0.050
LENGTH_LIMIT = 1.5
RELEASE_LIMIT = 1.5
TENSOR_LIMIT = 6.0
TENSOR_MEMORY = 3.0
KERNEL_LIMIT = 2.0
CERTIFICATE_LIMIT = 200.0
EIGENVALUE = 0.7
MANY_STATES_LIMIT = 5.0
SHARP_LIMIT = 60.0
PRECISION_LIMIT = 10.0
ISING_LIMIT = 20.0
IMPORT_LIMIT = 0.3
HELP_LIMIT = 0.6


@dataclass(frozen=True)
class Row:
    """One line: a measured number, and the most that is claimed (None: only told)."""

    what: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def holds(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def text(self) -> str:
        scale, digits = {
            "ms": (1e3, 1),
            "s": (1.0, 3),
            "x": (1.0, 2),
            "GiB": (1.0, 2),
            "kB": (1.0, 1),
        }[self.unit]
        shown = f"{self.value * scale:.{digits}f} {self.unit}"
        if self.limit is None:
            return f"{self.what:<66}{shown:>12}"
        verdict = "holds" if self.holds else "FAILS"
        return f"{self.what:<66}{shown:>12}   at most {self.limit * scale:g} {self.unit}: {verdict}"


def in_turn(*runs: Callable[[], object], repeats: int) -> list[list[tuple[float, float]]]:
    """For each run its (wall, processor) seconds, run in turn after one turn that doesn't count."""
    times: list[list[tuple[float, float]]] = [[] for _ in runs]
    for turn in range(1 + repeats):
        for run, taken in zip(runs, times, strict=True):
            gc.collect()
            wall, processor = time.perf_counter(), time.process_time()
            run()
            if turn:
                taken.append((time.perf_counter() - wall, time.process_time() - processor))
    return times


def medians(*runs: Callable[[], object], repeats: int) -> list[float]:
    """The median wall seconds of each."""
    return [
        statistics.median(wall for wall, _ in taken) for taken in in_turn(*runs, repeats=repeats)
    ]


# -- chains ------------------------------------------------------------------------------------


def forget() -> None:
    """Empty every cache of the package."""
    for name, module in list(sys.modules.items()):
        if name.startswith("bayesdp"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def calibrate(transition: list[list[float]], length: int, target: float) -> None:
    """One calibration from nothing."""
    forget()
    bdp.calibrate(bdp.MarkovChain(transition=transition, length=length), target)


def chains() -> Iterator[Row]:
    """Calibration of two-state chains: the worst of three targets."""
    for name, transition in (CHAINS | STICKY).items():
        claimed = name in CHAINS
        slowest = ratio = 0.0
        for target in TARGETS:
            runs = [partial(calibrate, transition, length, target) for length in LENGTHS]
            short, middle, long = in_turn(*runs, repeats=15 if claimed else 3)
            slowest = max(slowest, statistics.median(wall for wall, _ in middle))
            processor = [statistics.median(used for _, used in taken) for taken in (short, long)]
            ratio = max(ratio, processor[1] / processor[0])
        yield Row(
            f"calibrate 10^6 records, {name}", slowest, "ms", MILLION_LIMIT if claimed else None
        )
        yield Row(
            f"  10^9 records against 10^3, {name}", ratio, "x", LENGTH_LIMIT if claimed else None
        )


# -- release -----------------------------------------------------------------------------------

REGIONS = ("north", "south", "east", "west")
CLUSTER = 4


def write_table(path: Path, rows: int) -> None:
    """Heights, an activity of three states, a public region, households of four."""
    import duckdb

    regions = "[" + ", ".join(f"'{region}'" for region in REGIONS) + "]"
    duckdb.execute(
        f"""
        COPY (
            SELECT
                100 + 140 * ((i * 7919 + 13) % 1000003) / 1000003.0::DOUBLE AS height,
                ((i * 31 + i // 7) % 3)::TINYINT AS activity,
                {regions}[1 + ((i // {CLUSTER}) * 5 + i // 1000) % 4] AS region,
                (i // {CLUSTER})::INTEGER AS household
            FROM range({rows}) AS rows(i)
        ) TO '{path}' (FORMAT parquet)
        """
    )


def study(path: Path, rows: int) -> bdp.Study:
    """A sum, a mean by a public column, and a count, with a ledger of its own beside the table."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".db") as free:
        ledger = free.name
    return bdp.Study(
        str(path),
        dataset="benchmark",
        n=rows,
        columns={
            "height": {"bounds": [120, 220], "unit": "cm"},
            "activity": {"states": [0, 1, 2]},
            "region": {"public": True, "states": list(REGIONS)},
            "household": {"role": "cluster"},
        },
        population={"model": "clusters", "size": CLUSTER, "covers": ["height", "activity"]},
        budget={"epsilon": 1.0},
        queries=[
            {"name": "sum", "kind": "sum", "column": "height"},
            {"name": "mean", "kind": "mean", "column": "height", "by": "region"},
            {"name": "active", "kind": "count", "where": "activity == 1"},
        ],
        ledger=ledger,
    )


def by_hand(grid: Any) -> tuple[str, str]:
    """The same work as a statistician would write it: checks, clip, integer sums; cluster sizes."""
    steps = (
        f"floor((least(greatest(height, {grid.lo}::DOUBLE), {grid.hi}::DOUBLE) - "
        f"{grid.lo}::DOUBLE) * {grid.factor!r}::DOUBLE)::BIGINT"
    )
    main = f"""
        SELECT
            region,
            count(*),
            count(*) FILTER (WHERE
                height IS NULL OR NOT isfinite(height) OR activity IS NULL
                OR activity NOT IN (0, 1, 2) OR region IS NULL OR region NOT IN {REGIONS}
                OR household IS NULL),
            sum(CASE WHEN isfinite(height) THEN least(greatest({steps}, 0), {2**grid.bits}) END),
            count(*) FILTER (WHERE activity = 1)
        FROM people
        GROUP BY region
    """
    sizes = f"""
        SELECT max(size), count(*) FILTER (WHERE size > {CLUSTER})
        FROM (SELECT household, count(*) AS size FROM people GROUP BY household)
    """
    return main, sizes


def release(rows: int) -> Iterator[Row]:
    """A release against hand-written SQL and against a bare sum."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        write_table(path, rows)
        plan = study(path, rows).check().plan
        connection = duckdb.connect()
        connection.read_parquet(str(path)).create_view("people")
        main, sizes = by_hand(plan.queries[0].grid)

        def hand() -> list[tuple[Any, ...]]:
            answer = connection.execute(main).fetchall()
            assert connection.execute(sizes).fetchall() == [(CLUSTER, 0)]
            return answer

        require_same(hand(), path, plan)
        ours, theirs, bare = medians(
            lambda: study(path, rows).release(),
            hand,
            lambda: connection.execute("SELECT sum(height) FROM people").fetchall(),
            repeats=7,
        )
    yield Row(f"release over {rows:,} rows of Parquet", ours, "s")
    yield Row("  hand-written SQL: the same checks, clip and integer sums", theirs, "s")
    yield Row("  bare sum(height)", bare, "s")
    yield Row("  release against hand-written SQL", ours / theirs, "x", RELEASE_LIMIT)
    yield Row("  release against the bare sum", ours / bare, "x")


def require_same(answer: list[tuple[Any, ...]], path: Path, plan: Any) -> None:
    """Both sides compute the same integers, or there is nothing to compare."""
    from bayesdp.tables.source import open_table
    from bayesdp.tables.sums.scan import run

    queries = [query.table_query() for query in plan.queries]
    totals = run(open_table(str(path)), plan.study.columns, queries)
    assert not any(faulty for _, _, faulty, _, _ in answer)
    assert plan.queries[0].grid == plan.queries[1].grid
    assert totals["sum"].values[None] == (sum(int(row[3]) for row in answer),)
    assert totals["mean"].values == {row[0]: (int(row[3]),) for row in answer}
    assert totals["active"].values[None] == (sum(row[4] for row in answer),)


# -- start -------------------------------------------------------------------------------------


def start() -> Iterator[Row]:
    """Wall times of whole processes, the start of Python included."""
    chain = {"model": "markov", "transition": ACTIVITY, "initial": "stationary", "length": 17568}
    command = [sys.executable, "-m", "bayesdp.cli"]

    def process(*arguments: str) -> Callable[[], object]:
        return partial(
            subprocess.run, arguments, check=True, capture_output=True, env=dict(os.environ)
        )

    nothing, package, help_, calibration = medians(
        process(sys.executable, "-c", "pass"),
        process(sys.executable, "-c", "import bayesdp"),
        process(*command, "--help"),
        process(*command, "calibrate", json.dumps(chain), "--target", "1", "--json"),
        repeats=7,
    )
    yield Row("python -c pass", nothing, "s")
    yield Row("import bayesdp", package, "s", IMPORT_LIMIT)
    yield Row("bayesdp --help", help_, "s", HELP_LIMIT)
    yield Row("bayesdp calibrate, the activity chain", calibration, "s")


# -- tensor ------------------------------------------------------------------------------------


def random_pair(records: int, outcomes: int) -> tuple[Any, Any]:
    """A law and a channel of binary records."""
    import numpy as np

    rng = np.random.default_rng(0)
    joint = rng.exponential(size=(2,) * records)
    channel = rng.exponential(size=(2,) * records + (outcomes,))
    return joint / joint.sum(), channel / channel.sum(axis=-1, keepdims=True)


def tensor() -> Iterator[Row]:
    """The exact leakage of a channel, against streaming the same bytes and against brute force."""
    import numpy as np

    from bayesdp.leakage.tensor import tensor_leakage

    records, outcomes = 14, 16
    joint, channel = random_pair(records, outcomes)
    bytes_ = np.random.default_rng(1).random(3**records * outcomes)
    ours, theirs = medians(
        lambda: tensor_leakage(joint, channel),
        lambda: [bytes_.sum() for _ in range(records)],
        repeats=3,
    )
    yield Row(f"exact leakage, {records} binary records x {outcomes} outcomes", ours, "s")
    yield Row("  NumPy sums as many numbers, once for each record", theirs, "s")
    yield Row("  the engine against the sums", ours / theirs, "x", TENSOR_LIMIT)
    yield Row("  memory of a process that does only this", tensor_memory(), "GiB", TENSOR_MEMORY)
    joint, channel = random_pair(12, 2)
    began = time.perf_counter()
    level = tensor_leakage(joint, channel).levels["any"].bdp
    ours = time.perf_counter() - began
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.oracles.finite import leakage as brute_force

    began = time.perf_counter()
    truth = brute_force(joint, channel)[0]
    theirs = time.perf_counter() - began
    assert abs(level - truth) < 1e-12, (level, truth)
    yield Row("exact leakage, 12 binary records x 2 outcomes", ours, "s")
    yield Row("  brute force over all adversaries, the same level", theirs, "s")
    yield Row("  brute force against the engine", theirs / ours, "x")


def tensor_memory() -> float:
    """The most memory that the large case takes, in GiB, Python and libraries included."""
    program = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]); import speed;"
        "from bayesdp.leakage.tensor import tensor_leakage;"
        "tensor_leakage(*speed.random_pair(14, 16));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).resolve().parent)],
        check=True,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    return int(done.stdout) / 2**20 / (1024.0 if sys.platform == "darwin" else 1.0)


# -- kernel ------------------------------------------------------------------------------------


def kernel() -> Iterator[Row]:
    """The kernel on chains of three states that forget as slowly as is claimed for."""
    import numpy as np

    from bayesdp.release.certificates.certify import conversion_certificate
    from bayesdp.verification import check, read

    rng = np.random.default_rng(0)
    slowest = busiest = largest = 0.0
    for dp_epsilon in (0.1, 1.0, 5.0):
        chain = bdp.MarkovChain(transition=forgetful(rng).tolist(), length=10**6)
        text = conversion_certificate(chain, chain.leakage(dp_epsilon)).to_json()
        assert check(read(text)).verdict == "VALID ASSUMING"
        (taken,) = in_turn(partial(_verify, text), repeats=3)
        slowest = max(slowest, statistics.median(wall for wall, _ in taken))
        busiest = max(busiest, statistics.median(used for _, used in taken))
        largest = max(largest, len(text.encode()) / 1e3)
    what = f"three states, second eigenvalue {EIGENVALUE:g}"
    yield Row(f"verify a certificate: {what}", slowest, "s", KERNEL_LIMIT)
    yield Row("  of the processor's time", busiest, "s")
    yield Row("  the certificate", largest, "kB", CERTIFICATE_LIMIT)


def _verify(text: str) -> None:
    from bayesdp.verification import check, read

    check(read(text))


def forgetful(rng: Any) -> Any:
    """Random transitions of three states, with just this second eigenvalue."""
    import numpy as np

    while True:
        rows = rng.dirichlet(np.ones(3), size=3)
        second = sorted(abs(np.linalg.eigvals(rows)))[1]
        if second > EIGENVALUE:
            # A share of the uniform law in every row scales all eigenvalues but the first.
            return (rows - 1 / 3) * (EIGENVALUE / second) + 1 / 3


def conversions() -> Iterator[Row]:
    """Chains of many states, large Gaussian fields and graphs: one answer each."""
    import numpy as np
    from scipy.sparse import diags_array, eye_array, kron

    rng = np.random.default_rng(7)
    for states, level_limit in ((10, SHARP_LIMIT), (60, None)):
        rows = 0.6 * np.eye(states) + 0.4 * rng.dirichlet(np.ones(states), size=states)
        second = sorted(abs(np.linalg.eigvals(rows)))[-2]
        rows = 1 / states + (rows - 1 / states) * min(1.0, 0.58 / second)
        chain = bdp.MarkovChain(transition=rows.tolist(), length=10**6)
        seconds, _ = _once(partial(bdp.calibrate, chain, 1.0))
        yield Row(f"{states} states: calibrate", seconds, "s", MANY_STATES_LIMIT)
        if level_limit is not None:
            seconds, _ = _once(partial(chain.leakage, 0.5, seconds=60.0))
            yield Row(f"{states} states: one sharp level", seconds, "s", level_limit)
    side = 1000
    line = diags_array([np.full(side - 1, -0.2)] * 2, offsets=[-1, 1], shape=(side, side))
    field = eye_array(side * side) + kron(line, eye_array(side)) + kron(eye_array(side), line)
    seconds, _ = _once(lambda: bdp.Gaussian(precision=field).leakage(1.0, kind="lipschitz"))
    yield Row("precision of 10^6 records, a grid", seconds, "s", PRECISION_LIMIT)
    per_edge = []
    for size in (71, 1000):
        table = [[np.exp(0.05), np.exp(-0.05)], [np.exp(-0.05), np.exp(0.05)]]
        grid = partial(bdp.Graph, grid=[size, size], table=table)
        seconds, _ = _once(lambda grid=grid: grid().leakage(1.0))
        per_edge.append(seconds / (2 * size * (size - 1)))
        if size == 1000:
            yield Row("Ising grid 1000 x 1000, all theorems", seconds, "s", ISING_LIMIT)
    yield Row("time per edge, 10^6 against 10^4 records", per_edge[1] / per_edge[0], "x", 3.0)


def _once(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = run()
    return time.perf_counter() - start, answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a claim fails."""
    parser = argparse.ArgumentParser(description="How fast bayesdp is.")
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--rows", type=int, default=10**7)
    given = parser.parse_args(arguments)
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "chains": chains,
        "release": partial(release, given.rows),
        "start": start,
        "tensor": tensor,
        "kernel": kernel,
        "conversions": conversions,
    }
    if unknown := set(given.parts) - parts.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    failed = 0
    for name in given.parts or parts:
        for row in parts[name]():
            print(row.text(), flush=True)
            failed += not row.holds
    if failed:
        print(f"{failed} claims fail", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
