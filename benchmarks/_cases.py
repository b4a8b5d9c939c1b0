"""The populations of `noise.py`, with what has been published about each.

Laws are fitted to the data sets by counting. That is right for a benchmark and wrong for a
release: there a law comes from public or past data, or from a private fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import data
import numpy as np

import bayesdp as bdp
from bayesdp.notions import Kind
from bayesdp.populations import Population

ORDER_2 = (np.array([[0.09046, 0.62085], [0.32124, 0.72792]]), 15264)
"""Activity as printed in the theory: P(1 | older, newer)."""


@dataclass(frozen=True)
class Case:
    """A population, and which mechanisms are asked about.

    `ratio` is the gamma of Lange et al. for chains, `correlation` theirs for Gaussian clusters;
    `sound` is false where a hypothesis of theirs fails here.
    """

    name: str
    population: Population
    kind: Kind = "any"
    chain: Any = None
    ratio: float | None = None
    correlation: float | None = None
    sound: bool = True
    quick: bool = False


def _chain(name: str, series: Any, states: int, *, order: int = 1, quick: bool = False) -> Case:
    """A stationary chain fitted to series; its length is that of the longest."""
    table = data.fit_chain(series, states, order)
    length = max(len(run) for run in series)
    return given_chain(name, table, length, quick=quick)


def given_chain(name: str, table: Any, length: int, *, quick: bool = False) -> Case:
    """A stationary chain with given transitions."""
    order = table.ndim - 1
    population = bdp.MarkovChain(transition=table, order=order, length=length)
    low = float(table.min())
    ratio = float(table.max()) / low if order == 1 and low > 0.0 else None
    return Case(name, population, chain=table, ratio=ratio, quick=quick)


def _above(values: Any, threshold: float) -> Any:
    return (values > threshold).astype(np.int64)


def activity() -> Iterator[Case]:
    loaded = data.load("activity")
    if loaded is None:
        return
    steps = data.numbers(loaded["steps"])
    steps = steps[~np.isnan(steps)]
    active = _above(steps, 0.0)
    yield _chain("activity", [active], 2, quick=True)
    yield given_chain("activity, a day (288)", data.fit_chain([active], 2), 288)
    yield _chain("activity, order 2", [active], 2, order=2, quick=True)
    level = np.where(steps == 0.0, 0, np.where(steps < 50.0, 1, 2)).astype(np.int64)
    yield _chain("activity, 3 states (0, to 50, more steps)", [level], 3)


def electricity() -> Iterator[Case]:
    house, paris = data.load("electricity_house"), data.load("electricity_uci")
    if house is not None:
        daily = data.numbers(house["kwh"])
        for threshold in (22, 25, 28, 30, 32):
            yield _chain(f"house, above {threshold} kWh", [_above(daily, threshold)], 2)
        yield _chain("house, above 25 kWh, order 2", [_above(daily, 25)], 2, order=2)
        yield _chain("house, 5 states of kWh", [data.cut(daily, 5)], 5)
        centred = daily - daily.mean()
        phi = float((centred[1:] * centred[:-1]).sum() / (centred**2).sum())
        yield Case(
            f"house, AR(1) {phi:.3f} of kWh",
            bdp.Autoregressive(coefficient=phi, length=len(daily)),
            "lipschitz",
            quick=True,
        )
    if paris is not None:
        pairs = zip(paris["date"], data.numbers(paris["kwh"]), strict=True)
        daily = np.array([kwh for date, kwh in pairs if date[:4] in ("2007", "2008")])
        for threshold in (20, 25, 30, 35):
            yield _chain(f"uci, above {threshold} kWh", [_above(daily, threshold)], 2)
        yield _chain("uci, above 25 kWh, order 2", [_above(daily, 25)], 2, order=2)


def glucose() -> Iterator[Case]:
    loaded = data.load("glucose")
    if loaded is None:
        return
    keys = list(zip(loaded["subject"], loaded["segment"], strict=True))
    values = data.numbers(loaded["glucose_mg_dl"])
    for threshold in (180, 140):
        series = data.runs(_above(values, threshold), keys)
        yield _chain(f"glucose above {threshold}", series, 2)
    thinned = [run[::6] for run in data.runs(_above(values, 180), keys)]
    yield _chain("glucose above 180, every 30 min", thinned, 2)


def smart_meters() -> Iterator[Case]:
    loaded = data.load("smart_meter_panel")
    if loaded is None:
        return
    kwh = data.numbers(loaded["kwh"])
    homes = loaded["household"]
    yield _chain("smart meters, above 0.5 kWh", data.runs(_above(kwh, 0.5), homes), 2)
    yield _chain("smart meters, 4 states of kWh", data.runs(data.cut(kwh, 4), homes), 4)


def wheeze() -> Iterator[Case]:
    actual = data.load("wheeze_panel") or data.demo("wheeze")
    answers = np.array([int(value) for value in actual["wheeze"]])
    yield _chain("wheeze, four years", data.runs(answers, actual["child"]), 2, quick=True)
    yield Case("wheeze, law unknown", bdp.Clusters(size=4))


def family_iq() -> Iterator[Case]:
    loaded = data.load("family_iq")
    if loaded is None:
        return
    scores = np.stack([data.numbers(loaded["kid_score"]), data.numbers(loaded["mom_iq"])])
    rho = float(np.corrcoef(scores)[0, 1])
    yield Case(
        f"family IQ, equal variances, rho {rho:.4f}",
        bdp.Gaussian(size=2, max_correlation=rho),
        "lipschitz",
        correlation=rho,
        quick=True,
    )
    yield Case(
        "family IQ, covariance (sd 20.4 and 15)",
        bdp.Gaussian(covariance=np.cov(scores).tolist()),
        "lipschitz",
        correlation=rho,
        sound=False,
    )


def galton() -> Iterator[Case]:
    rho = 0.275
    yield Case(
        "Galton, largest correlation .275",
        bdp.Gaussian(size=3, max_correlation=rho),
        "lipschitz",
        correlation=rho,
        quick=True,
    )
    loaded = data.load("galton_heights")
    if loaded is None:
        return
    child, father, mother = (data.numbers(loaded[f"{height}_in"]) for height in _HEIGHTS)
    correlation = np.corrcoef([child, father, mother])
    correlation = (correlation + correlation.T) / 2.0
    np.fill_diagonal(correlation, 1.0)
    yield Case(
        "Galton, all correlations",
        bdp.Gaussian(covariance=correlation.tolist()),
        "lipschitz",
        correlation=float(correlation[0, 1]),
        quick=True,
    )
    yield Case(
        "Galton, covariance (variances differ)",
        bdp.Gaussian(covariance=np.cov([child, father, mother]).tolist()),
        "lipschitz",
        correlation=float(correlation[0, 1]),
        sound=False,
    )
    yield _pedigree(child, father, np.array(loaded["sex"]) == "M")


_HEIGHTS = ("height", "father", "mother")


def _pedigree(child: Any, father: Any, male: Any) -> Case:
    """Tall or not, handed down: six generations, two children each, from father and child."""
    tall = np.where(male, child > np.median(child[male]), child > np.median(child[~male]))
    pairs = np.stack([father > np.median(father), tall]).astype(np.int64)
    table = data.fit_chain(list(pairs.T), 2)
    nodes: list[dict[str, Any]] = [{"name": "0", "law": [0.5, 0.5]}]
    nodes += [
        {"name": str(i), "parent": str((i - 1) // 2), "transition": table.tolist()}
        for i in range(1, 63)
    ]
    return Case("pedigree, tall, 6 generations", bdp.Tree(nodes=nodes), quick=True)


def measles() -> Iterator[Case]:
    loaded = data.load("measles_households")
    if loaded is None:
        return
    size = max(loaded["family"].count(item) for item in set(loaded["family"]))
    yield Case("measles, households, law unknown", bdp.Clusters(size=size))
    icc = 0.4763
    equal = np.full((size, size), icc) + (1.0 - icc) * np.eye(size)
    yield Case(
        "measles, households, prodrome day",
        bdp.Gaussian(covariance=equal.tolist()),
        "lipschitz",
        correlation=icc,
    )
    place = {case: i for i, case in enumerate(loaded["case"])}
    day = data.numbers(loaded["prodrome_day"])
    late = _above(day, float(np.median(day)))
    edges = [
        (place[source], place[case])
        for source, case in zip(loaded["infector"], loaded["case"], strict=True)
        if source
    ]
    table = data.fit_chain([late[list(edge)] for edge in edges], 2)
    yield Case(
        "measles, who infected whom, late or not",
        bdp.Graph(records=len(late), edges=edges, table=table.tolist()),
        quick=True,
    )
    parent = {case: source for source, case in edges}
    share = float(late.mean())
    nodes: list[dict[str, Any]] = [
        {"name": str(i), "parent": str(parent[i]), "transition": table.tolist()}
        if i in parent
        else {"name": str(i), "law": [1.0 - share, share]}
        for i in range(len(late))
    ]
    yield Case("measles, the same as a tree", bdp.Tree(nodes=nodes))


def wages() -> Iterator[Case]:
    loaded = data.load("wage_panel")
    if loaded is None:
        return
    logs = np.log(data.numbers(loaded["wage"])).reshape(-1, 7)
    correlation = np.corrcoef(logs.T)
    yield Case(
        "wages, seven years, covariance of logs",
        bdp.Gaussian(covariance=np.cov(logs.T).tolist()),
        "lipschitz",
        correlation=float((correlation - np.eye(7)).max()),
    )
    yield Case(
        "wages, seven years, AR(1) .9109",
        bdp.Autoregressive(coefficient=0.9109, length=7),
        "lipschitz",
    )


def made() -> Iterator[Case]:
    """Populations that need no data."""
    for stay in (0.6, 0.9):
        table = np.array([[stay, 1 - stay], [1 - stay, stay]])
        yield given_chain(f"chain, stay {stay:g}, 1000 records", table, 1000)
    for phi in (0.3, 0.8):
        yield Case(
            f"AR(1) {phi:g}, 1000 records",
            bdp.Autoregressive(coefficient=phi, length=1000),
            "lipschitz",
        )
    yield Case(
        "Gaussian grid 30 x 30, partial correlation .2",
        bdp.Gaussian(precision=_grid(30, 0.2)),
        "lipschitz",
        quick=True,
    )
    for coupling in (0.05, 0.2, 0.3, 0.35):
        same, other = math.exp(coupling), math.exp(-coupling)
        yield Case(
            f"Ising grid 100 x 100, J = {coupling:g}",
            bdp.Graph(grid=(100, 100), table=[[same, other], [other, same]]),
            quick=coupling == 0.05,
        )


def _grid(side: int, partial: float) -> Any:
    from scipy.sparse import diags_array, eye_array, kron

    line = diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    item = eye_array(side)
    return (eye_array(side * side) - partial * (kron(line, item) + kron(item, line))).tocsr()


SOURCES = {
    "activity": activity,
    "electricity": electricity,
    "glucose": glucose,
    "smart meters": smart_meters,
    "wheeze": wheeze,
    "family IQ": family_iq,
    "Galton": galton,
    "measles": measles,
    "wages": wages,
    "made": made,
}
