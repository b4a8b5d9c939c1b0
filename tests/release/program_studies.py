"""Program files, tables and studies for the tests of programs in studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from bayesdp.release import Study

NAMES = (
    "Beta, Bool, Category, Database, Dirichlet, Int, Normal, Private, Public, Real, bernoulli, "
    "beta, categorical, clip, count, dirichlet, gaussian, laplace, noise_aware, normal, observe, "
    "onehot, partition, program, randomized_response, record, require, statistics, Vector, "
    "above_threshold, exponential, predictive, Samples, group_by, markov_chain, transition_counts"
)
HEAD = f"from bayesdp.programs import {NAMES}\n\n\n"
PEOPLE = """@record
class Person:
    height: Real[100, 230]
    smokes: Bool
    region: Public[Category["north", "south"]]
    unread: Int[0, 5]


@program
def smokers(people: Database[Person]) -> Private[Beta]:
    model = observe((p.smokes for p in people), bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1 / 4))


@program
def height(people: Database[Person]) -> Private[Normal]:
    heights = (clip(p.height, 150, 190) for p in people)
    model = observe(heights, normal(sd=8), prior=normal(170, sd=20))
    return noise_aware(laplace(statistics(model), epsilon=1 / 2))


@program
def both(
    people: Database[Person], *, level: Public[Real[0.001, 10]] = 0.5
) -> Private[tuple[Real, Int]]:
    total = gaussian(sum(clip(p.height, 150, 190) for p in people), epsilon=level, delta=1e-7)
    return total, laplace(sum(1 if p.smokes else 0 for p in people), epsilon=1 / 4)


@program
def northern(people: Database[Person]) -> Private[Int]:
    return laplace(count(p for p in people if p.region == "north" and p.smokes), epsilon=1 / 4)


@program
def tall(people: Database[Person]) -> Private[Int]:
    taller = (count(p for p in people if p.height > h) for h in (185, 175, 165))
    return above_threshold(taller, threshold=3, epsilon=1 / 4)


@program
def new_people(people: Database[Person]) -> Private[tuple[Beta, Samples]]:
    n = clip(laplace(count(p for p in people if p.smokes), epsilon=1 / 4), 0, people.size)
    rate = beta(1 + n, 1 + people.size - n)
    return rate, predictive(rate, bernoulli, draws=20)
"""
TABLE = {
    "height": [171.5, 160.0, 182.25, 149.0, 168.0, 175.5, 190.0, 166.0],
    "smokes": [True, False, False, True, False, False, True, False],
    "region": ["north", "south"] * 4,
    "home": [1, 1, 2, 2, 3, 3, 4, 4],
}
COLUMNS: dict[str, Any] = {
    "height": {"bounds": [150, 190], "unit": "cm"},
    "smokes": {"states": [False, True]},
    "region": {"public": True, "states": ["north", "south"]},
    "home": {"role": "cluster"},
}
POPULATION = {"model": "clusters", "size": 2, "covers": ["height", "smokes"], "source": "made up"}


def asks(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "program", "program": f"people.py:{name}", **more}


def study(
    folder: Path, *queries: dict[str, Any], text: str = PEOPLE, table: Any = None, **more: Any
) -> Study:
    """A study of eight people in `folder`, whose program file holds `text`."""
    (folder / "people.py").write_text(HEAD + text, encoding="utf-8")
    given: dict[str, Any] = {
        "dataset": "people",
        "n": 8,
        "columns": COLUMNS,
        "population": POPULATION,
        "budget": {"epsilon": 4.0},
        "ledger": str(folder / "ledger.db"),
        **more,
    }
    where = [
        {**query, "program": str(folder / query["program"])} if "program" in query else query
        for query in queries
    ]
    return Study(pd.DataFrame(TABLE if table is None else table), queries=where, **given)


def changed(**columns: Any) -> dict[str, Any]:
    """The columns with some of them declared otherwise, or (None) not at all."""
    return {name: item for name, item in (COLUMNS | columns).items() if item is not None}
