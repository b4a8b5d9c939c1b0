"""Hypotheses that a population decides: against its joint law, in the kernel and in the package."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.kernel.conversions.hypotheses import Facts
from bayesdp.populations import Population, parse
from bayesdp.statements import read_population
from bayesdp.theorems.relations.hypotheses import HYPOTHESES
from tests.effort import runs
from tests.oracles import chains

Rng = np.random.Generator
Spec = dict[str, Any]
DECIDED = ("full-support", "mutual-independence", "default-in-domain", "default-possible")


def row(rng: Rng, states: int, zeros: float = 0.35) -> list[float]:
    """Multiples of 1/8, exact as doubles."""
    while True:
        cuts = sorted(int(x) for x in rng.integers(0, 9, states - 1))
        weights = [b - a for a, b in zip((0, *cuts), (*cuts, 8), strict=True)]
        if 0 not in weights or rng.random() < zeros:
            return [w / 8 for w in weights]


def rows(rng: Rng, count: int, states: int) -> list[list[float]]:
    """Often the same one several times, so that independence isn't rare."""
    pool = [row(rng, states) for _ in range(int(rng.choice([1, 1, 2, 3])))]
    return [pool[int(rng.integers(len(pool)))] for _ in range(count)]


def chain(rng: Rng) -> Spec:
    order, states = int(rng.choice([1, 1, 2, 3])), int(rng.integers(2, 4))
    if order == 3:
        states = 2
    table = np.array(rows(rng, states**order, states)).reshape((states,) * (order + 1))
    spec = {"model": "markov", "transition": table.tolist(), "length": int(rng.integers(1, 6))}
    if order > 1:
        spec["order"] = order
    if rng.random() < 0.6:
        if rng.random() < 0.6:
            begin = chains.product(*(np.array(row(rng, states)) for _ in range(order)))
        else:
            begin = np.array(row(rng, states**order, 1.0)).reshape((states,) * order)
        spec["initial"] = begin.tolist()
    return spec


def graph(rng: Rng) -> Spec:
    records = int(rng.integers(1, 5))
    states = [int(x) for x in rng.integers(1, 4, records)]
    factors = []
    for _ in range(int(rng.integers(0, 5))):
        size = int(rng.integers(1, min(records, 3) + 1))
        between = [int(x) for x in rng.choice(records, size, replace=False)]
        sides = [states[i] for i in between]
        kind = rng.random()
        if kind < 0.5:  # ties nothing
            table = chains.product(*(rng.integers(1, 5, side).astype(float) for side in sides))
        else:
            table = rng.integers(0 if kind < 0.75 else 1, 4, sides).astype(float)
        if rng.random() < 0.2 and (table > 0).all():  # undone by a second factor
            factors.append({"between": between, "table": (1 / 2 ** np.log2(table)).tolist()})
            table = 2.0 ** np.round(np.log2(table))
            factors[-1]["table"] = (1 / table).tolist()
        factors.append({"between": between, "table": np.asarray(table, float).tolist()})
    if any(not np.any(f["table"]) for f in factors):
        return graph(rng)
    return {"model": "graph", "records": records, "states": states, "factors": factors}


def network(rng: Rng) -> Spec:
    nodes: list[Spec] = []
    for number in range(int(rng.integers(1, 5))):
        parents = [n for n in nodes if rng.random() < 0.4]
        states = int(rng.integers(1, 4))
        sides = [n["states"] for n in parents]
        table = np.array(rows(rng, int(np.prod(sides, dtype=int)), states))
        node = {"name": f"n{number}", "states": states, "parents": [n["name"] for n in parents]}
        nodes.append(node | {"table": table.reshape([*sides, states]).tolist()})
    return {"model": "network", "nodes": nodes}


def tree(rng: Rng) -> Spec:
    nodes: list[Spec] = []
    sizes: list[int] = []
    for number in range(int(rng.integers(1, 5))):
        sizes.append(int(rng.integers(1, 4)))
        node: Spec = {"name": f"n{number}"}
        if number and rng.random() < 0.8:
            parent = int(rng.integers(number))
            node |= {"parent": f"n{parent}", "transition": rows(rng, sizes[parent], sizes[-1])}
        else:
            node["law"] = row(rng, sizes[-1])
        nodes.append(node)
    return {"model": "tree", "nodes": nodes}


def finite(rng: Rng) -> Spec:
    sides = [int(x) for x in rng.integers(1, 4, int(rng.integers(1, 4)))]
    if rng.random() < 0.5:
        law = chains.product(*(np.array(row(rng, side)) for side in sides))
    else:
        law = np.array(row(rng, int(np.prod(sides)), 0.9)).reshape(sides)
    return {"model": "finite", "probabilities": law.tolist()}


KINDS = (chain, chain, graph, network, tree, finite)


def possible(law: np.ndarray) -> np.ndarray:
    return law > 1e-12


def truth(law: np.ndarray, default: int) -> dict[str, bool]:
    margins = [law.sum(axis=tuple({*range(law.ndim)} - {i})) for i in range(law.ndim)]
    live = possible(law)
    inside = default < min(law.shape)
    return {
        "full-support": bool(live.all()),
        "mutual-independence": bool(np.abs(law - chains.product(*margins)).max() < 1e-12),
        "default-in-domain": inside,
        "default-possible": inside
        and all(
            live[(*cell[:i], default, *cell[i + 1 :])]
            for cell in map(tuple, np.argwhere(live).tolist())
            for i in range(law.ndim)
        ),
    }


def answers_of(population: Population, default: float) -> dict[str, bool | None]:
    """The answers, which kernel and package must agree on."""
    spec = json.loads(json.dumps(population.spec()))
    known = Facts(read_population(spec), (), Fraction(default), 2)
    answers = {}
    for name in DECIDED:
        derive = HYPOTHESES[name].derive
        assert derive is not None
        answers[name] = derive(population, default, 2)
        assert answers[name] == known._shown(name), (name, spec, default)
    return answers


def lacks_a_start(spec: Spec) -> bool:
    """Whether it is a chain that leaves states for good and doesn't state how it starts."""
    if spec["model"] != "markov":
        return False
    try:
        parse(spec)
    except InputError as error:
        if "population.initial is 'stationary'" in str(error):
            return True
        raise
    return False


def law_of(spec: Spec) -> np.ndarray | None:
    """`None` where there is none: a start not stated, or factors that exclude everything."""
    if lacks_a_start(spec):
        return None
    with np.errstate(invalid="ignore"):
        try:
            law = chains.from_spec(spec)
        except (ValueError, ZeroDivisionError):
            return None
    return None if np.isnan(law).any() else law


@pytest.mark.prove
def test_answers_of_discrete_populations_are_those_of_their_joint_laws():
    rng = np.random.default_rng(44)
    seen: Counter[tuple[str, str, bool]] = Counter()
    for number in range(runs(3000)):
        spec = KINDS[number % len(KINDS)](rng)
        law = law_of(spec)
        if law is None:
            continue
        for default in (0, 1, 2):
            right = truth(law, default)
            assert answers_of(parse(spec), default) == right, (spec, default, right)
            seen.update((spec["model"], name, answer) for name, answer in right.items())
    if runs(3000) >= 3000:
        assert len(seen) == 5 * len(DECIDED) * 2


def between(rng: Rng) -> tuple[Spec, list[Spec]]:
    """Chains between bounds, and laws that lie between them, those at the corners of rows too."""
    order, states = int(rng.choice([1, 1, 2])), 2
    width = 0.0 if rng.random() < 0.2 else 1.0
    lows, highs = [], []
    for item in rows(rng, states**order, states):
        slack = width * float(rng.choice([0.0, 0.125, 0.25]))
        lows.append([max(x - slack, 0.0) for x in item])
        highs.append([min(x + slack, 1.0) for x in item])
    shape = (states,) * (order + 1)
    spec: Spec = {"model": "markov", "length": int(rng.integers(1, 5))}
    if order > 1:
        spec["order"] = order
    if rng.random() < 0.6:
        spec["initial"] = chains.product(*[np.array(row(rng, states))] * order).tolist()
    corners = [
        {(x, 1 - x) for x in (max(lo[0], 1 - hi[1]), (lo[0] + hi[0]) / 2, min(hi[0], 1 - lo[1]))}
        for lo, hi in zip(lows, highs, strict=True)
    ]
    members = [
        spec | {"transition": np.array(chosen).reshape(shape).tolist()}
        for chosen in itertools.product(*corners)
    ]
    bounds = {
        "transition_lower": np.array(lows).reshape(shape).tolist(),
        "transition_upper": np.array(highs).reshape(shape).tolist(),
    }
    return spec | bounds, members


@pytest.mark.prove
def test_answers_between_bounds_are_those_of_all_laws_between_them():
    rng = np.random.default_rng(45)
    undecided: Counter[str] = Counter()
    cases = runs(600)
    for _ in range(cases):
        spec, members = between(rng)
        if lacks_a_start(spec):
            continue
        laws = [law for law in map(law_of, members) if law is not None]
        for default in (0, 1):
            right = [truth(law, default) for law in laws]
            for name, answer in answers_of(parse(spec), default).items():
                every = all(item[name] for item in right)
                if answer is None:
                    undecided[name] += 1
                elif answer:
                    assert every, (name, spec, default)
                elif len(laws) == len(members):
                    assert not every, (name, spec, default)
    assert all(count < 0.3 * cases for count in undecided.values()), undecided


NEARLY = 0.5 + 1e-13
INDEPENDENT: list[tuple[Spec, bool | None]] = [
    ({"model": "gaussian", "covariance": [[1.0, 0.0], [0.0, 4.0]]}, True),
    ({"model": "gaussian", "covariance": [[1.0, 1e-6], [1e-6, 4.0]]}, False),
    ({"model": "gaussian", "covariance": [[1.0, 1e-12], [1e-12, 4.0]]}, None),
    ({"model": "gaussian", "covariance": [[1e-20, 1e-21], [1e-21, 1e-20]]}, False),
    ({"model": "gaussian", "precision": [[1.0, 0.0], [0.0, 4.0]]}, True),
    ({"model": "gaussian", "precision": [[1.0, -0.2], [-0.2, 4.0]]}, False),
    ({"model": "gaussian", "size": 3, "max_correlation": 0.0}, True),
    ({"model": "gaussian", "size": 3, "max_correlation": 1e-12}, False),
    ({"model": "gaussian", "size": 1, "max_correlation": 0.5}, True),
    ({"model": "gaussian", "size": 3, "max_regression_sum": 0.0}, True),
    ({"model": "gaussian", "size": 3, "max_regression_sum": 1e-12}, False),
    ({"model": "autoregressive", "coefficient": 0.0, "length": 9}, True),
    ({"model": "autoregressive", "coefficient": 1e-9, "length": 9}, False),
    ({"model": "clusters", "size": 1}, True),
    ({"model": "clusters", "size": 2}, False),
    ({"model": "unknown", "records": 2}, False),
    ({"model": "independent"}, True),
    ({"model": "finite", "probabilities": [[0.03, 0.07], [0.27, 0.63]]}, None),
    ({"model": "finite", "probabilities": [[0.06, 0.14], [0.2400001, 0.5599999]]}, False),
    ({"model": "markov", "transition": [[0.5, 0.5], [NEARLY, 1 - NEARLY]], "length": 9}, None),
    ({"model": "markov", "transition": [[1e-7, 1 - 1e-7], [5e-7, 1 - 5e-7]], "length": 9}, False),
]
"""Rare values may tell a lot of each other: closeness is relative."""


@pytest.mark.parametrize(("spec", "answer"), INDEPENDENT)
def test_independence(spec: Spec, answer: bool | None):
    assert answers_of(parse(spec), 0)["mutual-independence"] is answer
    members = [{"model": "gaussian", "size": 1, "max_correlation": 0.0}, spec]
    if spec["model"] == "gaussian" and "precision" not in spec:
        family = parse({"model": "family", "members": members})
        assert answers_of(family, 0)["mutual-independence"] is answer


def vectors(between: float) -> Spec:
    """Two records of two columns, which depend within a record."""
    rows = np.eye(4) + 0.5 * np.kron(np.eye(2), 1 - np.eye(2))
    rows[0, 3] = rows[3, 0] = between
    return {
        "model": "gaussian",
        "covariance": rows.tolist(),
        "size": 2,
        "covers": ["a", "b"],
        "bounds": [[0.0, 1.0]] * 2,
    }


@pytest.mark.parametrize(("between", "answer"), [(0.0, True), (0.1, False)])
def test_columns_of_a_record_may_depend(between: float, answer: bool):
    assert answers_of(parse(vectors(between)), 0)["mutual-independence"] is answer


def path(table: Any, records: int = 200) -> Spec:
    factors = [{"between": [i, i + 1], "table": table} for i in range(records - 1)]
    return {"model": "graph", "records": records, "states": 2, "factors": factors}


def line(rows: Any, records: int = 200) -> Spec:
    nodes: list[Spec] = [{"name": "n0", "law": [0.5, 0.5]}]
    nodes += [
        {"name": f"n{i}", "parent": f"n{i - 1}", "transition": rows} for i in range(1, records)
    ]
    return {"model": "tree", "nodes": nodes}


FREE, EXCLUSIVE, PRODUCT = [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]], [[1, 2], [3, 6]]
UNDONE = path([[1, 2], [2, 1]])
UNDONE["factors"] += path([[2, 1], [1, 2]])["factors"]
LARGE: list[tuple[Spec, str, bool | None]] = [
    (path([[2, 1], [1, 2]]), "mutual-independence", False),
    (path(PRODUCT), "mutual-independence", True),
    (UNDONE, "mutual-independence", True),
    (path(EXCLUSIVE), "mutual-independence", False),
    (path(EXCLUSIVE), "default-possible", False),
    (path(PRODUCT), "default-possible", True),
    (line(EXCLUSIVE), "mutual-independence", False),
    (line([[0.5, 0.5]] * 2), "mutual-independence", True),
    (line(EXCLUSIVE), "default-possible", False),
    ({"model": "graph", "grid": [9, 9], "table": [[2, 1], [1, 2]]}, "mutual-independence", False),
    ({"model": "graph", "grid": [9, 9], "table": PRODUCT}, "mutual-independence", True),
    # Next to a 1 there is no other: a 0 may stand anywhere, a 1 may not.
    ({"model": "graph", "grid": [9, 9], "table": [[1, 1], [1, 0]]}, "default-possible", True),
    ({"model": "graph", "grid": [9, 9], "table": [[1, 1], [1, 0]]}, "full-support", False),
]


@pytest.mark.parametrize(("spec", "name", "answer"), LARGE)
def test_graphs_that_are_not_multiplied_out(spec: Spec, name: str, answer: bool | None):
    assert answers_of(parse(spec), 0)[name] is answer


def test_one_of_the_defaults_may_be_possible():
    """A chain that never leaves 1: a 1 among 0s is possible at the end alone."""
    absorbed = {"model": "markov", "transition": FREE[::-1], "initial": [0.5, 0.5], "length": 3}
    for default in (0, 1):
        law = law_of(absorbed)
        assert law is not None
        assert answers_of(parse(absorbed), default) == truth(law, default)
