"""How much noise each theorem asks for, beside everything published.

    python benchmarks/noise.py                     everything, two to four minutes on two cores
    python benchmarks/noise.py --quick             a few populations, under a minute
    python benchmarks/noise.py activity measles    only these sources
    python benchmarks/noise.py --figure noise.svg  where to write the figure (SVG or PNG)

The noise multiplier is the BDP target over the DP budget that it leaves: how many times the noise
for independent records. Exit status 1 if ours is above a sound bound of others for the same
adversaries, or if `bdp.calibrate` does not answer what its theorems do.

Published bounds, computed here from their own formulas:
* group privacy: m, the records that may depend on each other;
* Lange et al. (PVLDB 2025): target / (target - 4 ln gamma) for stationary positive chains, and
  1 + m^2 / (4 (1/rho - m + 2)) for Gaussian clusters of equal variances and sums or means;
* MQMExact (Song, Wang and Chaudhuri, SIGMOD 2017): its adversary knows no record, so it stands
  beside the class `uninformed` only. For order 2 its quilts are pairs of records.

Derived here (influence.py), after the idea in the abstract of Bai et al. (arXiv 2602.02718, 2026),
whose text we could not read: the least noise by an influence curve, class `uninformed` only.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import influence
import mqm
from _cases import ORDER_2, SOURCES, Case, given_chain

import bayesdp as bdp
from bayesdp.calibration import largest_within
from bayesdp.notions import Adversary, Cost
from bayesdp.theorems import REGISTRY, Question, Theorem

TARGETS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
CLASSES: tuple[Adversary, ...] = ("any", "uninformed")
GROUP, RATIO, CORRELATION, QUILT = "group privacy", "Lange et al.", "Lange et al.", "MQMExact"
CURVE = "influence curve, least"
OURS, TIE = "bayesdp", "tie"
TOLERANCE = 1e-9
AS_PRINTED = 5e-5
"""Noise that differs by less, relatively, is a tie."""
SECONDS = 1.5
"""What a theorem may take for one level, by its own estimate."""

Line = tuple[float | None, ...]
"""A multiplier for each target; `None` where nothing is promised at any budget."""


@dataclass
class Found:
    """The multipliers of one population against one class of adversaries."""

    case: str
    adversary: Adversary
    kind: str
    group: int
    ours: dict[str, Line] = field(default_factory=dict)
    published: dict[str, Line] = field(default_factory=dict)
    derived: dict[str, Line] = field(default_factory=dict)
    unsound: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def best(self) -> Line:
        columns = zip(*self.ours.values(), strict=True)
        return tuple(min((v for v in column if v is not None), default=None) for column in columns)

    @property
    def sound(self) -> dict[str, Line]:
        """What others need, where it is proved for this population."""
        others = {**self.published, **self.derived}
        return {name: line for name, line in others.items() if name not in self.unsound}

    def least(self) -> Iterator[str]:
        """Who needs the least noise, for each target."""
        lines = {OURS: self.best, **self.sound}
        for place in range(len(self.best)):
            needs = {name: line[place] for name, line in lines.items()}
            noise = {name: value for name, value in needs.items() if value is not None}
            limit = min(noise.values(), default=0.0) * (1.0 + AS_PRINTED)
            names = [name for name, value in noise.items() if value <= limit]
            yield names[0] if len(names) == 1 else TIE if names else "-"


def multiplier(theorem: Theorem, question: Question, case: Case, target: float) -> float | None:
    """Target over the largest DP budget for which the theorem alone certifies the target."""

    def level(dp_epsilon: float) -> float:
        cost = Cost.of(dp_epsilon, case.kind)
        if theorem.refusal(question, cost) is not None:
            return math.inf
        return max(dp_epsilon, theorem.bound(question, cost).epsilon)

    if not level(target * 1e-9) <= target:
        return None
    budget = largest_within(level, target)
    return target / budget if budget > 0.0 else None


def published(case: Case, adversary: Adversary, targets: Sequence[float]) -> dict[str, Line]:
    """What others need, by their formulas."""
    size = case.population.group_size
    actual: dict[str, Line] = {GROUP: tuple(float(size) for _ in targets)}
    if case.ratio is not None:
        floor = 4.0 * math.log(case.ratio)
        actual[RATIO] = tuple(t / (t - floor) if t > floor else None for t in targets)
    rho = case.correlation
    if rho is not None and rho * (size - 2) < 1.0:
        factor = 1.0 + size**2 / (4.0 * (1.0 / rho - size + 2))
        actual[CORRELATION] = tuple(factor for _ in targets)
    if case.chain is not None and adversary == "uninformed":
        actual[QUILT] = tuple(t * mqm.scale(case.chain, size, t) for t in targets)
    return actual


def measure(case: Case, adversary: Adversary, targets: Sequence[float]) -> Found:
    """One population against one class of adversaries."""
    began = time.perf_counter()
    question = Question(case.population, adversary, seconds=SECONDS)
    actual = Found(case.name, adversary, case.kind, case.population.group_size)
    for theorem in REGISTRY:
        if theorem.concerns(case.population):
            line = tuple(multiplier(theorem, question, case, target) for target in targets)
            if any(value is not None for value in line):
                actual.ours[theorem.name] = line
    actual.published = published(case, adversary, targets)
    if case.chain is not None and adversary == "uninformed":
        actual.derived[CURVE] = tuple(
            t * influence.scale(case.chain, case.population.group_size, t) for t in targets
        )
    if not case.sound:
        actual.unsound[CORRELATION] = "the variances differ"
    _compare(actual, targets)
    _product(actual, case, targets)
    actual.seconds = time.perf_counter() - began
    return actual


def _compare(actual: Found, targets: Sequence[float]) -> None:
    for name, line in actual.sound.items():
        for target, theirs, ours in zip(targets, line, actual.best, strict=True):
            if theirs is not None and (ours is None or ours > theirs * (1.0 + TOLERANCE)):
                actual.faults.append(
                    f"{actual.case}, {actual.adversary}, target {target:g}: ours {ours}, "
                    f"{name} {theirs}"
                )


def _product(actual: Found, case: Case, targets: Sequence[float]) -> None:
    """`bdp.calibrate` answers the best of the theorems."""
    middle = len(targets) // 2
    best = actual.best[middle]
    answer = bdp.calibrate(
        case.population,
        targets[middle],
        adversary=actual.adversary,
        kind=case.kind,
        seconds=SECONDS,
    ).noise_multiplier
    if best is None or not math.isclose(answer, best, rel_tol=1e-6):
        actual.faults.append(
            f"{actual.case}, {actual.adversary}: calibrate says {answer}, not {best}"
        )


# -- the table ---------------------------------------------------------------------------------


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if value < 1e4 else f"{value:.0f}"


def lines(actual: Found, targets: Sequence[float]) -> Iterator[str]:
    """The block of one population and class."""
    who = "adversaries who know any records"
    if actual.adversary == "uninformed":
        who = "adversaries who know no record"
    what = "sums and means" if actual.kind == "lipschitz" else "any mechanism"
    yield f"{actual.case}: {who}; {what}; {actual.group} dependent records"
    yield _line("  BDP target", [f"{target:g}" for target in targets])
    yield _line("  ours: the best theorem", [number(value) for value in actual.best])
    for name, line in actual.ours.items():
        yield _line(f"    {name}", [number(value) for value in line])
    for name, line in actual.published.items():
        why = actual.unsound.get(name)
        text = _line(f"  published: {name}", [number(value) for value in line])
        yield text + (f"   not proved here: {why}" if why else "")
    for name, line in actual.derived.items():
        yield _line(f"  derived: {name}", [number(value) for value in line])
    yield _line("  least noise by", list(actual.least()))
    yield ""


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:<32}" + "".join(f"{cell:>12}" for cell in cells)


def order_two() -> Iterator[str]:
    """Levels of the order-2 activity chain beside those of order 1 (theory 3.5k)."""
    ones, length = ORDER_2
    table = bdp_table(ones)
    chain = given_chain("", table, length).population
    law = mqm.stationary(mqm.tuple_kernel(table)).reshape(2, 2)
    first = given_chain("", law / law.sum(axis=1, keepdims=True), length).population
    yield "Levels of a mechanism of DP cost eps: the activity series of order 2, and of order 1"
    yield _line("  eps", ["0.1", "1"])
    for name, population in (("order 2", chain), ("order 1", first)):
        for adversary in CLASSES:
            reports = [population.leakage(eps, adversary=adversary) for eps in (0.1, 1.0)]
            cells = [f"{report.best.epsilon:.4f}" for report in reports]
            names = " and ".join(dict.fromkeys(report.best.theorem for report in reports))
            yield _line(f"  {name}, {adversary}", cells) + f"   {names}"
    yield ""


def bdp_table(ones: Any) -> Any:
    """Transitions from the probabilities of a 1."""
    import numpy as np

    return np.stack([1.0 - ones, ones], axis=-1)


# -- the figure --------------------------------------------------------------------------------


def figure(all_found: Sequence[Found], targets: Sequence[float], path: Path) -> None:
    """Small multiples: the multiplier against the target, ours beside each published bound."""
    try:
        import altair as alt
    except ImportError:
        print("no figure: it needs the extra bayesdp[report]", file=sys.stderr)
        return
    rows: list[dict[str, Any]] = []
    for actual in all_found:
        who = "any" if actual.adversary == "any" else "none known"
        routes: dict[str, Line] = {f"bayesdp, {who}": actual.best}
        for name, line in actual.sound.items():
            routes[f"{name}, {who}" if name in (QUILT, CURVE) else name] = line
        for route, line in routes.items():
            for target, value in zip(targets, line, strict=True):
                if value is not None:
                    row = {"case": actual.case, "route": route, "target": target, "noise": value}
                    if row not in rows:
                        rows.append(row)
    unknown = [f"{name}, none known" for name in (QUILT, CURVE)]
    order = ["bayesdp, any", "bayesdp, none known", GROUP, RATIO, *unknown]
    colours = ["#0f6b62", "#5cb8ab", "#8b8f98", "#c0562b", "#7a5195", "#c9a227"]
    names = list(dict.fromkeys(outcome.case for outcome in all_found))
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.8)
        .encode(
            x=alt.X(
                "target:Q",
                title="BDP target (nats)",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(values=list(targets), grid=False),
            ),
            y=alt.Y(
                "noise:Q",
                title="times the noise",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(tickCount=4, gridOpacity=0.4),
            ),
            strokeDash=alt.condition(
                "indexof(datum.route, 'none known') >= 0", alt.value([4, 3]), alt.value([1, 0])
            ),
            color=alt.Color(
                "route:N", title=None, sort=order, scale=alt.Scale(domain=order, range=colours)
            ),
        )
        .properties(width=190, height=120)
        .facet(facet=alt.Facet("case:N", title=None, sort=names), columns=4)
        .resolve_scale(y="independent")
        .configure_legend(orient="top")
        .configure_view(stroke="#dfdcd3")
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(str(path))
    print(f"figure: {path}")


# -- the run -----------------------------------------------------------------------------------


def jobs(sources: Sequence[str], quick: bool) -> Iterator[tuple[str, int]]:
    """`(source, position)` of every population, so that a process makes its own."""
    for source in sources:
        cases = list(SOURCES[source]())
        if not cases:
            print(f"left out: {source}, its data set is absent (see benchmarks/data.py)")
        for position, case in enumerate(cases):
            if case.quick or not quick:
                yield source, position


def run(job: tuple[str, int, tuple[float, ...]]) -> list[Found]:
    """Both classes for one population."""
    source, position, targets = job
    case = list(SOURCES[source]())[position]
    return [measure(case, adversary, targets) for adversary in CLASSES]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a comparison fails."""
    parser = argparse.ArgumentParser(description="Noise by every theorem, beside the published.")
    parser.add_argument("sources", nargs="*", metavar=" | ".join(SOURCES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    if unknown := set(given.sources) - SOURCES.keys():
        parser.error(f"no such source: {', '.join(sorted(unknown))}")
    targets = TARGETS[::2] if given.quick else TARGETS
    todo = [(*job, targets) for job in jobs(given.sources or list(SOURCES), given.quick)]
    all_found: list[Found] = []
    with ProcessPoolExecutor(given.workers) as pool:
        for pair in pool.map(run, todo):
            for actual in pair:
                print("\n".join(lines(actual, targets)), flush=True)
                all_found.append(actual)
    print("\n".join(order_two()))
    figure(all_found, targets, given.figure or Path(tempfile.mkdtemp()) / "noise.svg")
    faults = [fault for outcome in all_found for fault in outcome.faults]
    for fault in faults:
        print(f"FAILS: {fault}", file=sys.stderr)
    slow = sorted(all_found, key=lambda outcome: -outcome.seconds)[:3]
    print("slowest: " + ", ".join(f"{item.case} {item.seconds:.1f} s" for item in slow))
    held = sum(len(outcome.sound) for outcome in all_found)
    print(f"{held} bounds of others held against ours, {len(faults)} failures")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
