"""Studies of real data: fitted to one part of a data set, released on the other.

    python benchmarks/studies.py                    all of them
    python benchmarks/studies.py glucose wage_panel
    python benchmarks/studies.py --check            prices only, nothing is released

Each data set is split in two by a rule that looks at no value: earlier and later dates, or half of
the people, pairs or families by a hash of their number. The first part, `public.csv`, plays past or
public data; the second, `private.csv`, is released. Both lie in a temporary folder. The study is
`studies/NAME.toml`, with the population that the command in its first comment fits to `public.csv`.

Printed for each study: what speaks for or against its population, its level, and what would help
where answers are not useful. An answer is useful if its error at 95 % is within what a reader of
such numbers would put up with, which is written down below. Then a table of all answers: the DP
cost, the noise (times that of independent records), the error, what was released (of several
groups the middle one), the error as a share of it, and the level from which it would be useful.
Exit status 1 if a population is not the one that its command fits, or a table is not as declared.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import math
import shlex
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_CEILING, Context
from pathlib import Path
from typing import Any

import data

from bayesdp import Study
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.release.checking.check import Check
from bayesdp.release.price.plan import CONFIDENCE, PlannedQuery

FOLDER = Path(__file__).resolve().parent / "studies"
LEVELS = (2.0, 3.0, 5.0, 7.0, 10.0, 20.0)
"""Where an answer is not useful, the level from which it would be is looked for among these."""

TOLERANCE = 1e-6
"""Fits may differ by so much, relatively, between versions of numerical libraries."""

Row = dict[str, Any]
Rows = list[Row] | None


@dataclass(frozen=True)
class Case:
    """A data set: its rows, which of them are public, and which errors are useful.

    `useful` has the largest error at 95 % that a reader would put up with, by the query's name.
    """

    name: str
    rows: Callable[[], Rows]
    is_public: Callable[[Row], bool]
    useful: dict[str, float]


def rows_of(columns: data.Columns | None) -> Rows:
    """The rows of a table; `None` where it is absent."""
    if columns is None:
        return None
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def half(column: str) -> Callable[[Row], bool]:
    """About half of the values of a column, by their hash."""
    return lambda row: hashlib.sha256(str(row[column]).encode()).digest()[0] % 2 == 0


def before(column: str, day: str) -> Callable[[Row], bool]:
    """The rows before a date."""
    return lambda row: str(row[column]) < day


def loaded(name: str, keep: Callable[[Row], bool] = lambda row: True) -> Callable[[], Rows]:
    """The rows of a data set that are kept; the function gives `None` where it is absent."""

    def rows() -> Rows:
        actual = rows_of(data.load(name))
        return None if actual is None else [row for row in actual if keep(row)]

    return rows


def wheeze() -> Rows:
    return rows_of(data.demo("wheeze"))


def galton() -> Rows:
    return rows_of(data.demo("galton"))


def glucose() -> Rows:
    """Readings on a grid of 30 minutes: of each, the one that lies nearest to it, within 5."""
    rows = rows_of(data.load("glucose"))
    if rows is None:
        return None
    nearest: dict[tuple[str, int], Row] = {}
    for row in rows:
        half_hour = round(float(row["minute"]) / 30.0)
        row["half_hour"], row["off"] = half_hour, abs(float(row["minute"]) - 30.0 * half_hour)
        place = (row["subject"], half_hour)
        if row["off"] <= 5.0 and row["off"] < nearest.get(place, {"off": 6.0})["off"]:
            nearest[place] = row
    return [{key: row[key] for key in _GLUCOSE} for row in nearest.values()]


_GLUCOSE = ("subject", "half_hour", "glucose_mg_dl")


def pairs() -> Rows:
    """The scores of mothers and children as a long table, a row for each of them."""
    rows = rows_of(data.load("family_iq"))
    if rows is None:
        return None
    return [
        {"pair": row["pair"], "role": role, "score": row[column]}
        for row in rows
        for role, column in (("child", "kid_score"), ("mother", "mom_iq"))
    ]


def paris() -> Rows:
    """Daily use with a number for each day: fits of AR(1) read no dates."""
    rows = rows_of(data.load("electricity_uci"))
    return rows and [
        {"day": date.fromisoformat(row["date"]).toordinal(), "date": row["date"], "kwh": row["kwh"]}
        for row in rows
    ]


def meters() -> Rows:
    """Hourly use, with the hour of the day beside it."""
    rows = rows_of(data.load("smart_meter_panel"))
    return rows and [{**row, "clock": int(row["hour"][11:13])} for row in rows]


def wages() -> Rows:
    """Yearly wages with their logarithm, as labour economists have it."""
    rows = rows_of(data.load("wage_panel"))
    return rows and [{**row, "log_wage": round(math.log(float(row["wage"])), 4)} for row in rows]


CASES = (
    Case(
        "wheeze_panel",
        wheeze,
        half("child"),
        {"share by age": 0.04},
    ),
    Case(
        "activity",
        loaded("activity", lambda row: row["steps"] != ""),
        before("date", "2012-11-01"),
        {"share of active intervals": 0.03},
    ),
    Case(
        "glucose",
        glucose,
        lambda row: row["subject"] in ("S1", "S2", "S3"),
        {"time above range": 0.05},
    ),
    Case(
        "family_iq",
        pairs,
        half("pair"),
        {"mean score by role": 3.0},
    ),
    Case(
        "galton_heights",
        galton,
        half("family"),
        {"mean height by role": 2.0},
    ),
    Case(
        "measles_households",
        loaded("measles_households"),
        half("family"),
        {"mean day of the first symptoms": 3.0, "ill after four weeks": 0.1},
    ),
    Case(
        "electricity_house",
        loaded("electricity_house"),
        before("date", "2014-01-01"),
        {"share of days above the first tariff step": 0.05},
    ),
    Case(
        "electricity_uci",
        paris,
        before("date", "2009-01-01"),
        {"mean use a day": 2.0},
    ),
    Case(
        "smart_meter_panel",
        meters,
        lambda row: row["household"] in ("H01", "H03", "H05", "H07", "H09"),
        {"share by part of the day": 0.05},
    ),
    Case(
        "wage_panel",
        wages,
        half("person"),
        {"mean log wage by year": 0.05},
    ),
)


def write(path: Path, rows: Iterable[Row]) -> int:
    """Write the rows, and say how many there are."""
    kept = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(kept[0]))
        writer.writeheader()
        writer.writerows(kept)
    return len(kept)


def split(case: Case, rows: Sequence[Row], folder: Path) -> tuple[int, int]:
    """Both parts as files, and how many rows each has."""
    public = write(folder / "public.csv", (row for row in rows if case.is_public(row)))
    return public, write(folder / "private.csv", (row for row in rows if not case.is_public(row)))


def command(study: Path) -> list[str]:
    """The command in the study's comments that fits its population."""
    for line in study.read_text(encoding="utf-8").splitlines():
        if line.startswith("# bayesdp fit "):
            return shlex.split(line.removeprefix("# bayesdp "))
    raise ValueError(f"{study.name}: expected a line '# bayesdp fit public.csv ...'")


def fit(study: Path, folder: Path) -> dict[str, Any]:
    """What the study's command says of the public part: its population, and its diagnostics."""
    from typer.testing import CliRunner

    from bayesdp.cli import app

    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, [*command(study), "--json"])
    if result.exit_code != 0:
        raise RuntimeError(f"{study.name}: {result.output}")
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def same(first: Any, second: Any) -> bool:
    """Whether two populations are the same, up to the rounding of numerical libraries."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) <= TOLERANCE * max(abs(first), abs(second))
    return bool(first == second)


def declared(study: Study) -> dict[str, Any]:
    """The study's population as `bayesdp fit` writes it."""
    population = study.spec.population
    assert population is not None
    spec = {"model": population.model, **population.spec()}
    return {key: value for key, value in spec.items() if key != "covers"}


def errors(check: Check) -> dict[str, float]:
    """The error at 95 % of each query: of its smallest group, where there are several."""
    return {query.asked.spec.name: _error(check, query) for query in check.plan.queries}


def _error(check: Check, query: PlannedQuery) -> float:
    error = query.error(CONFIDENCE, query.asked.rows(check.plan.n))
    assert error is not None, "state group_sizes, so that the error is known before the release"
    return error


def up(error: float) -> str:
    """An error in three digits, rounded up."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(up_words(error))
    return f"{float(rounded):g}"


@dataclass(frozen=True)
class Answer:
    """A row of the table: a query with its error, what was released, and whether that is useful.

    `model` is the population's, and `fits` says what tests say of it. `released` has a number for
    each group, and none without a release. `enough` is the least of `LEVELS` from which an answer
    that isn't useful would be.
    """

    study: str
    query: str
    model: str
    fits: str
    dp_epsilon: float
    noise: float
    error: float
    wanted: float
    released: tuple[float, ...]
    enough: float | None = None

    @property
    def is_useful(self) -> bool:
        """Whether the error is within what was wanted."""
        return self.error <= self.wanted

    def cells(self) -> tuple[str, ...]:
        """The row in words; of several groups the middle one counts."""
        size = statistics.median(self.released) if self.released else 0.0
        share = f"{self.error / abs(size):.0%}" if size else "-"
        level = "no level tried" if self.enough is None else f"{self.enough:g}"
        verdict = "useful" if self.is_useful else f"not at this level; from {level}"
        number = f"{size:.4g}" if self.released else "-"
        costs = (f"{self.dp_epsilon:.4f}", f"{self.noise:.2f}")
        numbers = (*costs, up(self.error), number, share)
        return (self.study, self.model, self.fits, self.query, *numbers, verdict)


HEADER = (
    *("study", "population", "fits?", "query", "DP cost", "noise", "error", "released", "share"),
    "verdict",
)
WIDTHS = (20, 17, 11, 43, 9, 8, 9, 10, 7, 0)


def show(cells: Sequence[str]) -> str:
    """A line of the table."""
    return "".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def report(
    case: Case, rows: Sequence[Row], folder: Path, answers: list[Answer], *, release: bool
) -> Iterator[str]:
    """What there is to say of one study; lines that begin with FAILS are failures.

    Its `answers` are added to the list; one that fails has none.
    """
    path = FOLDER / f"{case.name}.toml"
    shutil.copy(path, folder / path.name)
    public, private = split(case, rows, folder)
    yield f"== {case.name}: fitted to {public} rows, {private} to release"
    study = Study.load(folder / path.name)
    fitted = fit(path, folder)
    faults = [finding.message for finding in study.inspect()]
    if not same(fitted["population"], declared(study)):
        faults.append(f"its command fits another population: {json.dumps(fitted['population'])}")
    if faults:
        yield from (f"FAILS: {path.name}: {fault}" for fault in faults)
        return
    yield from (f"   {check['sentence']}" for check in fitted["diagnostics"])
    check = study.check()
    plan = check.plan
    noise = plan.target / plan.dp_epsilon
    assert plan.report is not None
    yield f"   level {plan.level:.4g} by {plan.report.best.theorem}, DP cost {plan.dp_epsilon:.4g}"
    yield from (f"   {warning}" for warning in check.warnings)
    released = study.release() if release else ()
    fits, doubts = _fits(fitted["diagnostics"])
    if doubts:
        yield f"   what speaks against the population: {', '.join(doubts)}"
    mine = [
        Answer(
            study=case.name,
            query=query,
            model=_model(study),
            fits=fits,
            dp_epsilon=plan.dp_epsilon,
            noise=noise,
            error=error,
            wanted=case.useful[query],
            released=tuple(result.value for result in released if result.query == query),
        )
        for query, error in errors(check).items()
    ]
    late = [answer for answer in mine if not answer.is_useful]
    enough = _enough(study, late)
    answers += [replace(answer, enough=enough.get(answer.query)) for answer in mine]
    for proposal in study.what_would_help() if late else ():
        yield f"   what would help: {proposal.name}: {proposal.price()}"


def _model(study: Study) -> str:
    """The population's model, and the order of a chain."""
    spec = declared(study)
    model = str(spec["model"])
    return f"{model}, order {spec.get('order', 1)}" if model == "markov" else model


def _fits(diagnostics: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
    """What the tests of a fit say in a word, and which of them speak against the population."""
    doubts = [check["name"] for check in diagnostics if not check["fits"]]
    if doubts:
        return "doubtful", doubts
    return ("as tested" if any("p_value" in check for check in diagnostics) else "untested"), []


def _enough(study: Study, late: Sequence[Answer]) -> dict[str, float]:
    """From which level on answers that aren't useful would be, by query."""
    actual: dict[str, float] = {}
    for row in study.sweep(LEVELS) if late else ():
        known = {} if row.check is None else errors(row.check)
        for answer in late:
            if known.get(answer.query, math.inf) <= answer.wanted:
                actual.setdefault(answer.query, row.target)
    return actual


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all studies, and the table; 1 if one is not as its file says."""
    parser = argparse.ArgumentParser(description="Studies of real data.")
    names = [case.name for case in CASES]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--check", action="store_true", help="prices only, without a release")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(names):
        parser.error(f"no such study: {', '.join(sorted(unknown))}. There are {', '.join(names)}")
    failures, answers = 0, list[Answer]()
    for case in CASES:
        if given.names and case.name not in given.names:
            continue
        rows = case.rows()
        if rows is None:
            print(f"left out: {case.name}, its data set is absent ({data.folder()})")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for line in report(case, rows, Path(folder), answers, release=not given.check):
                failures += line.startswith("FAILS")
                print(line, flush=True)
    print(f"\n{show(HEADER)}")
    for answer in answers:
        print(show(answer.cells()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
