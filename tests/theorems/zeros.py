"""Random models in which something can't happen: equality patterns, forbidden words, sure steps.

A `Model` has the population and the laws of some of its members, multiplied out by the oracles; for
a population with one law that is the law, for intervals there are several members.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.errors import InputError
from bayesdp.populations import Finite, Graph, MarkovChain, Network, Population, Tree
from tests.oracles import chains, finite

Rng = np.random.Generator


@dataclass(frozen=True)
class Model:
    """A population and the joint laws of members of it, one axis a record."""

    population: Population
    joints: tuple[np.ndarray, ...]


MOST_CELLS = 32
"""Of laws that are searched as a whole; of larger ones some records are left aside."""


def truth(rng: Rng, model: Model, eps: float, adversary: str) -> float:
    """What some mechanism leaks about some member: the most there is, for laws of few cells.

    Of a larger law only some records are looked at: every k-th, or any three.
    """
    actual = 0.0
    for joint in model.joints:
        if joint.size <= MOST_CELLS:
            actual = max(actual, finite.worst_case(joint, eps, adversary).level)
        elif adversary != "informed":
            for kept in _few(rng, joint):
                rest = tuple(j for j in range(joint.ndim) if j not in kept)
                actual = max(actual, finite.worst_case(joint.sum(axis=rest), eps, adversary).level)
    return actual


def _few(rng: Rng, joint: np.ndarray) -> list[tuple[int, ...]]:
    order = int(rng.integers(1, 4))
    regular = tuple(range(int(rng.integers(order)), joint.ndim, order))
    while math.prod(joint.shape[j] for j in regular) > MOST_CELLS:
        regular = regular[:-1]
    some = sorted(int(j) for j in rng.choice(joint.ndim, size=3, replace=False))
    return [regular, tuple(some)]


# -- what can't happen ------------------------------------------------------------------


def mask(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Which values of the last axis can follow the others; at least one each."""
    allowed = _PATTERNS[int(rng.integers(len(_PATTERNS)))](rng, shape)
    stuck = ~allowed.any(axis=-1)
    allowed[stuck, rng.integers(shape[-1])] = True
    return allowed


def _differs(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """The new value differs from one of the older ones."""
    older = int(rng.integers(len(shape) - 1)) if len(shape) > 1 else 0
    cells = np.indices(shape)
    return np.asarray(cells[-1] != (cells[older] if len(shape) > 1 else rng.integers(shape[-1])))


def _by_the_oldest(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """What may come depends on the oldest value alone: all but one value, or one only."""
    cells, image = np.indices(shape), rng.permutation(max(shape))
    meant = image[cells[0]] % shape[-1] == cells[-1]
    return np.asarray(meant if rng.random() < 0.3 else ~meant)


def _equals(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """The new value is one of the older ones."""
    cells = np.indices(shape)
    return np.asarray((cells[:-1] % shape[-1] == cells[-1]).any(axis=0))


def _permutation(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Every step is sure: a permutation of the last value, or of a sum of values."""
    image = rng.permutation(shape[-1])
    cells = np.indices(shape)
    source = cells[:-1].sum(axis=0) if rng.random() < 0.5 else (cells[-2] if len(shape) > 1 else 0)
    return np.asarray(image[source % shape[-1]] == cells[-1])


def _forbidden_word(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    allowed = np.ones(shape, dtype=bool)
    for _ in range(int(rng.integers(1, 3))):
        allowed[tuple(rng.integers(size) for size in shape)] = False
    return allowed


def _forbidden_pair(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """The newest pair of values is never this one, whatever was before."""
    allowed = np.ones(shape, dtype=bool)
    allowed[(..., *(rng.integers(size) for size in shape[-2:]))] = False
    return allowed


def _unreachable(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """A value that never comes."""
    allowed = np.ones(shape, dtype=bool)
    allowed[..., rng.integers(shape[-1])] = False
    return allowed


def _sure_somewhere(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Anything may come, but for contexts in which the next value is sure."""
    allowed = np.ones(shape, dtype=bool)
    sure = rng.random(shape[:-1]) < 0.5
    allowed[sure] = np.arange(shape[-1]) == rng.integers(shape[-1])
    return allowed


def _anywhere(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(rng.random(shape) < rng.choice([0.4, 0.7]))


def _nowhere(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    return np.ones(shape, dtype=bool)


_PATTERNS = (
    _by_the_oldest, _differs, _equals, _permutation, _forbidden_word, _forbidden_pair, _unreachable,
    _sure_somewhere, _anywhere, _nowhere,
)  # fmt: skip


def rows(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Laws along the last axis with zeros where `mask` has them; now and then nearly sure ones."""
    weights = rng.dirichlet(np.full(shape[-1], float(rng.choice([0.3, 1.0, 5.0]))), size=shape[:-1])
    if rng.random() < 0.2:
        weights = 10.0 ** rng.uniform(-5.0, 0.0, shape)
    elif rng.random() < 0.2:
        weights = np.ones(shape)
    weights = (weights + 1e-9) * mask(rng, shape)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


# -- models -----------------------------------------------------------------------------


def size(rng: Rng, shares: tuple[float, ...]) -> tuple[int, int, int]:
    """Order, states and length of a chain."""
    order, states, longest = [(1, 2, 6), (1, 3, 5), (2, 2, 6), (2, 3, 5), (3, 2, 7)][
        int(rng.choice(5, p=shares))
    ]
    return order, states, int(rng.integers(1 if order == 1 else 2, longest + 1))


def start(rng: Rng, shape: tuple[int, ...]) -> np.ndarray | str:
    """Stationary, sure, or any law with zeros, of the first records."""
    if rng.random() < 0.4:
        return "stationary"
    law = rng.dirichlet(np.full(int(np.prod(shape)), 0.7)) * (rng.random(int(np.prod(shape))) < 0.6)
    if rng.random() < 0.3 or not law.any():
        law = np.eye(len(law))[rng.integers(len(law))]
    return np.asarray(law / law.sum()).reshape(shape)


def _law_of(table: np.ndarray, initial: np.ndarray | str, length: int) -> np.ndarray | None:
    try:
        return chains.joint(table, initial, length)
    except ValueError:  # several stationary laws
        return None


def chain(rng: Rng) -> Model | None:
    order, states, length = size(rng, (0.36, 0.33, 0.27, 0.01, 0.03))
    table, first = rows(rng, (states,) * (order + 1)), start(rng, (states,) * order)
    law = _law_of(table, first, length)
    if law is None:
        return None
    initial = first if isinstance(first, str) else first.tolist()
    stated = {"transition": table.tolist(), "order": order, "initial": initial, "length": length}
    population = _accepted(stated)
    return None if population is None else Model(population, (law,))


def _accepted(stated: dict[str, Any]) -> MarkovChain | None:
    """The chain; `None` where its start has to be stated, since it leaves states for good."""
    try:
        return MarkovChain(**stated)
    except InputError as error:
        if stated["initial"] == "stationary" and "population.initial" in str(error):
            return None
        raise


def interval_chain(rng: Rng) -> Model | None:
    """Bounds around a chain with zeros, or nothing known but what can't happen; some members."""
    order, states, length = size(rng, (0.22, 0.24, 0.2, 0.26, 0.08))
    shape = (states,) * (order + 1)
    table, first = rows(rng, shape), start(rng, (states,) * order)
    width = float(rng.choice([0.0, 0.01, 0.1, 1.0, 1.0]))
    low = np.maximum(table - width, 0.0)
    high = np.where(table > 0.0, np.minimum(table + width, 1.0), 0.0)
    if rng.random() < 0.3:  # what never came in the data may come after all
        high = np.minimum(high + float(rng.choice([1e-3, 0.2])) * (rng.random(shape) < 0.3), 1.0)
    laws = [_law_of(_member(rng, low, high), first, length) for _ in range(2)]
    known = tuple(law for law in laws if law is not None)
    if not known:
        return None
    population = _accepted(
        {
            "transition_lower": low.tolist(),
            "transition_upper": high.tolist(),
            "order": order,
            "initial": first if isinstance(first, str) else first.tolist(),
            "length": length,
        }
    )
    return None if population is None else Model(population, known)


def _member(rng: Rng, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Rows between the bounds: at a corner, or a hundredth of the way from one to another."""
    corners = []
    for _ in range(2):
        table = low.copy()
        for place in np.ndindex(*low.shape[:-1]):
            left = 1.0 - table[place].sum()
            for value in rng.permutation(low.shape[-1]):
                given = min(left, high[place][value] - low[place][value])
                table[place][value] += max(given, 0.0)
                left -= max(given, 0.0)
        corners.append(table)
    share = float(rng.choice([0.0, 0.01, 0.5]))
    table = (1.0 - share) * corners[0] + share * corners[1]
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


def tree(rng: Rng) -> Model:
    records = int(rng.integers(2, 5))
    sizes = rng.integers(2, 4 if records < 4 else 3, size=records)
    nodes: list[dict[str, Any]] = []
    for i in range(records):
        if i == 0 or rng.random() < 0.1:
            nodes.append({"name": f"n{i}", "law": rows(rng, (int(sizes[i]),)).tolist()})
            continue
        parent = int(rng.integers(i))
        table = rows(rng, (int(sizes[parent]), int(sizes[i])))
        nodes.append({"name": f"n{i}", "parent": f"n{parent}", "transition": table.tolist()})
    return Model(Tree(nodes=nodes), (chains.tree(nodes),))


def graph(rng: Rng) -> Model | None:
    records = int(rng.integers(2, 5))
    sizes = rng.integers(2, 4 if records < 4 else 3, size=records)
    factors = []
    for _ in range(int(rng.integers(1, records + 2))):
        arity = int(rng.integers(1, min(records, 3) + 1))
        between = rng.choice(records, size=arity, replace=False)
        shape = tuple(int(sizes[j]) for j in between)
        table = np.exp(rng.normal(size=shape) * rng.choice([0.2, 2.0])) * mask(rng, shape)
        factors.append({"between": between.tolist(), "table": table.tolist()})
    weights = [chains.factor_graph(records, sizes.tolist(), [factor]) for factor in factors]
    if not np.prod(weights, axis=0).any():
        return None  # the factors contradict each other
    law = chains.factor_graph(records, sizes.tolist(), factors)
    return Model(Graph(records=records, states=sizes.tolist(), factors=factors), (law,))


def network(rng: Rng) -> Model:
    records = int(rng.integers(2, 5))
    sizes = [int(n) for n in rng.integers(2, 4 if records < 4 else 3, size=records)]
    nodes, factors = [], []
    for i in range(records):
        parents = sorted(rng.choice(i, size=int(rng.integers(0, min(i, 2) + 1)), replace=False))
        family = [*map(int, parents), i]
        table = rows(rng, tuple(sizes[j] for j in family)).tolist()
        names = [f"n{j}" for j in family[:-1]]
        nodes.append({"name": f"n{i}", "states": sizes[i], "parents": names, "table": table})
        factors.append({"between": family, "table": table})
    return Model(Network(nodes=nodes), (chains.factor_graph(records, sizes, factors),))


def finite_law(rng: Rng) -> Model:
    shape = tuple(int(n) for n in rng.integers(2, 4, size=int(rng.integers(2, 4))))
    law = rng.dirichlet(np.full(int(np.prod(shape)), 0.7)).reshape(shape) + 1e-6
    law = law * mask(rng, shape)
    law /= law.sum()
    return Model(Finite(probabilities=law.tolist()), (law,))


KINDS = (chain, interval_chain, tree, graph, network, finite_law)


def random_model(rng: Rng) -> Model:
    """A model of any kind, about half of them chains."""
    for _ in itertools.count():
        kind = KINDS[int(rng.choice(len(KINDS), p=[0.3, 0.3, 0.1, 0.12, 0.1, 0.08]))]
        made = kind(rng)
        if made is not None:
            return made
    raise AssertionError
