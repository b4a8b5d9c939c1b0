"""Random compositions together with a process that runs them: every step as bad as it may be.

A process is an array `(databases, answers)`: the probability of all answers so far. Each leaf draws
another channel for each earlier answer, so that later mechanisms depend on earlier outcomes. A leaf
has two answers, one of probability `e^k / 2 max e^k` with `k` Lipschitz in a metric that says what
a change of one record may cost: so its own costs are attained, and nothing else is promised.
(The other answer is no worse: `(1 - h') / (1 - h) <= 1 + (1 - e^-d) h / (1 - h) <= e^d` where
`h <= 1/2` and `h' >= e^-d h`.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bayesdp.accounting.expressions.expression import (
    CompositionNode,
    Indexed,
    Mechanism,
    Parallel,
    PostProcessing,
    Private,
    Public,
    Sequential,
)
from bayesdp.populations import Clusters, Finite, Graph, Independent, MarkovChain, Population
from tests.oracles.mechanisms import random_joint

COLUMN = "region"
REGIONS = ("north", "south", "west")


# -- exact leakage, all adversaries in two matrix products -------------------------------------


@cache
def attacks(shape: tuple[int, ...], adversary: str) -> tuple[np.ndarray, np.ndarray]:
    """Events `x_i, x_K` as rows over databases; the number of each row's attack (`i`, `x_K`)."""
    cells = np.array(list(itertools.product(*map(range, shape))))
    rows, group = [], []
    for i, size in enumerate(shape):
        others = [j for j in range(len(shape)) if j != i]
        for known in itertools.product(*([None, *range(shape[j])] for j in others)):
            is_known = [value is not None for value in known]
            if (adversary == "uninformed" and any(is_known)) or (
                adversary == "informed" and not all(is_known)
            ):
                continue
            fits = np.ones(len(cells), dtype=bool)
            for j, value in zip(others, known, strict=True):
                if value is not None:
                    fits &= cells[:, j] == value
            number = group[-1] + 1 if group else 0
            for value in range(size):
                rows.append(fits & (cells[:, i] == value))
                group.append(number)
    return np.array(rows, dtype=float), np.array(group)


def exact_leakage(joint: np.ndarray, process: np.ndarray, adversary: str) -> float:
    """The definition (theory 1), for `process` with one row for each database."""
    events, group = attacks(joint.shape, adversary)
    weighted = events * joint.ravel()
    mass = weighted.sum(axis=1)
    possible = mass > 0.0
    answers = (weighted[possible] @ process) / mass[possible, None]
    with np.errstate(divide="ignore"):
        logs = np.log(answers)
    starts = np.flatnonzero(np.r_[True, np.diff(group[possible]) > 0])
    high = np.maximum.reduceat(logs, starts)
    low = np.minimum.reduceat(logs, starts)
    gaps = np.where(np.isneginf(high), 0.0, high - np.where(np.isneginf(high), 0.0, low))
    return float(gaps.max(initial=0.0))


# -- populations with their joint law ----------------------------------------------------------


@dataclass(frozen=True)
class AdjacencyContext:
    """A population as the package knows it, its law over all records, and who is independent.

    `names` are the records as expressions name them, `groups` the dependent group of each.
    """

    population: Population
    joint: np.ndarray
    names: tuple[Any, ...]
    groups: tuple[Hashable, ...]


def random_world(rng: np.random.Generator) -> AdjacencyContext:
    kind = rng.integers(6)
    if kind == 0:
        shape = [(2, 2), (2, 2, 2), (3, 2), (3, 3)][rng.integers(4)]
        joint = random_joint(rng, shape, zeros=float(rng.choice([0.0, 0.2])))
        population: Population = Finite(probabilities=joint.tolist())
        return AdjacencyContext(
            population, population.array, tuple(range(len(shape))), (0,) * len(shape)
        )
    if kind == 1:
        shape = [(2,), (2, 2), (3,)][rng.integers(3)]
        item = Finite(probabilities=random_joint(rng, shape).tolist())
        joint = np.multiply.outer(item.array, item.array)
        names = tuple((which, i) for which in "ab" for i in range(len(shape)))
        return AdjacencyContext(item, joint, names, tuple(which for which, _ in names))
    if kind == 2:
        a, b = rng.uniform(0.02, 0.98, 2)
        rows, length = np.array([[1 - a, a], [b, 1 - b]]), int(rng.integers(2, 5))
        chain = MarkovChain(transition=rows.tolist(), length=length)
        joint = np.array([b, a]) / (a + b)
        for _ in range(length - 1):
            joint = joint[..., None] * rows
        return AdjacencyContext(chain, joint / joint.sum(), tuple(range(length)), (0,) * length)
    if kind == 3:
        tables = [rng.gamma(1.0, size=(2, 2)) + 1e-3 for _ in range(2)]
        factors = [
            {"between": [2 * k, 2 * k + 1], "table": table.tolist()}
            for k, table in enumerate(tables)
        ]
        graph = Graph(records=4, states=2, factors=factors)
        joint = np.multiply.outer(tables[0], tables[1])
        return AdjacencyContext(graph, joint / joint.sum(), (0, 1, 2, 3), (0, 0, 1, 1))
    records = int(rng.integers(2, 4))
    if kind == 4:
        laws = [rng.dirichlet(np.ones(2)) for _ in range(records)]
        joint = laws[0]
        for law in laws[1:]:
            joint = np.multiply.outer(joint, law)
        names = tuple(range(records))
        return AdjacencyContext(Independent(), joint / joint.sum(), names, names)
    joint = random_joint(rng, (2,) * records)
    if rng.random() < 0.5:  # nearly identical records, where the bound is nearly attained
        joint = joint * 1e-6
        joint[(0,) * records] = joint[(1,) * records] = 1.0
        joint /= joint.sum()
    return AdjacencyContext(Clusters(size=records), joint, tuple(range(records)), (0,) * records)


# -- processes ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a part of the composition runs: the records and the private values that it reads."""

    records: tuple[int, ...]
    values: frozenset[int] | None = None


@dataclass
class Grower:
    """Grows an expression and, answer by answer, a process that it must cover."""

    rng: np.random.Generator
    world: AdjacencyContext
    adversary: str
    regions: tuple[str, ...] = ()
    leaves: int = 0
    most: int = 5
    inside_public: bool = False

    def __post_init__(self) -> None:
        count = len(self.world.names)
        self.regions = tuple(str(chosen) for chosen in self.rng.choice(REGIONS, count))

    @property
    def start(self) -> np.ndarray:
        """Nothing has been answered."""
        return np.ones((self.world.joint.size, 1))

    @property
    def everywhere(self) -> Place:
        """All records, whatever their values."""
        return Place(tuple(range(len(self.world.names))))

    def grow(
        self, process: np.ndarray, place: Place, depth: int
    ) -> tuple[CompositionNode, np.ndarray]:
        """A composition, and the process with its answers."""
        if depth == 0 or self.leaves >= self.most - 1:
            return self.leaf(process, place)
        kind = self.rng.choice(
            ["leaf", "sequential", "indexed", "public", "private", "post", "independent"],
            p=[0.1, 0.2, 0.15, 0.15, 0.2, 0.1, 0.1],
        )
        return getattr(self, f"_{kind}")(process, place, depth)

    def leaf(self, process: np.ndarray, place: Place) -> tuple[CompositionNode, np.ndarray]:
        """One mechanism; another channel after each answer."""
        self.leaves += 1
        eps = float(self.rng.uniform(0.05, 1.2))
        added = float(eps * self.rng.uniform(0.3, 1.5)) if place.values is not None else None
        named = place.records
        if place.values is None and self.rng.random() < 0.3 and len(named) > 1:
            named = tuple(self.rng.permutation(named)[: self.rng.integers(1, len(named))])
        reads = Place(named, place.values)
        channels = self._channels(reads, eps, added or 0.0, process.shape[1])
        records = None if named == place.records else frozenset(self._names(named))
        node = Mechanism(f"m{self.leaves}", eps, records=records, add_remove=added)
        return node, _followed(process, channels)

    def _leaf(
        self, process: np.ndarray, place: Place, _: int
    ) -> tuple[CompositionNode, np.ndarray]:
        return self.leaf(process, place)

    def _sequential(self, process: np.ndarray, place: Place, depth: int) -> Any:
        return self._parts(process, [place] * int(self.rng.integers(1, 4)), depth, Sequential)

    def _indexed(self, process: np.ndarray, place: Place, depth: int) -> Any:
        if len(place.records) < 2 or place.values is not None:
            return self._sequential(process, place, depth)
        order = [int(item) for item in self.rng.permutation(place.records)]
        cut = int(self.rng.integers(1, len(order)))
        sides = [tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))]
        blocks = Indexed(*(self._names(side) for side in sides))
        places = [Place(side) for side in sides]
        return self._parts(process, places, depth, lambda *parts: Parallel(blocks, *parts))

    def _public(self, process: np.ndarray, place: Place, depth: int) -> Any:
        split = [("north",), ("south", "west")]
        if place.values is not None or self.rng.random() < 0.3 or self.inside_public:
            return self._sequential(process, place, depth)
        self.inside_public = True  # the same column inside one of its blocks would be refused
        places = [
            Place(tuple(i for i in place.records if self.regions[i] in values)) for values in split
        ]
        blocks = Public(COLUMN, *split)
        node, process = self._parts(process, places, depth, lambda *parts: Parallel(blocks, *parts))
        self.inside_public = False
        return node, process

    def _private(self, process: np.ndarray, place: Place, depth: int) -> Any:
        everything = frozenset(range(max(self.world.joint.shape)))
        values = everything if place.values is None else place.values
        order = [int(item) for item in self.rng.permutation(sorted(values))]
        cut = int(self.rng.integers(0, len(order))) if len(order) > 1 else len(order)
        sides = [frozenset(order[:cut]), frozenset(order[cut:])]
        if self.rng.random() < 0.3:
            sides[0] = frozenset(list(sides[0])[1:])  # some values are in no block
        places = [Place(place.records, side) for side in sides]
        if self.rng.random() < 0.2:
            places = places[1:]  # one block alone: a record may still leave or enter it
        return self._parts(process, places, depth, lambda *parts: Parallel(Private("ill"), *parts))

    def _post(self, process: np.ndarray, place: Place, depth: int) -> Any:
        before = process.shape[1]
        node, after = self.grow(process, place, depth - 1)
        several = after.reshape(len(after), before, -1)  # the answers after each earlier one
        kernels = self.rng.dirichlet(np.full(2, 0.3), size=(before, several.shape[2]))
        return PostProcessing(node), np.einsum("xbm,bmk->xbk", several, kernels).reshape(
            len(after), -1
        )

    def _independent(self, process: np.ndarray, place: Place, depth: int) -> Any:
        """Mechanisms of which only a Bayesian level is known, on independent blocks."""
        groups = sorted({self.world.groups[i] for i in place.records}, key=repr)
        if len(groups) < 2 or place.values is not None or not self._whole(place):
            return self._indexed(process, place, depth)
        cut = int(self.rng.integers(1, len(groups)))
        chosen = set(groups[:cut])
        sides = [
            tuple(i for i in place.records if (self.world.groups[i] in chosen) is side)
            for side in (True, False)
        ]
        parts = []
        for side in sides:
            self.leaves += 1
            channels = [self._any_channel(side) for _ in range(process.shape[1])]
            level = max(
                exact_leakage(self.world.joint, channel, self.adversary) for channel in channels
            )
            parts.append(
                Mechanism(
                    f"m{self.leaves}",
                    bdp_epsilon=level,
                    any_history=True,
                    records=frozenset(self._names(side)),
                )
            )
            process = _followed(process, channels)
        return Parallel(Indexed(*(self._names(side) for side in sides)), *parts), process

    def _whole(self, place: Place) -> bool:
        return len(place.records) == len(self.world.names) and self.leaves == 0

    def _parts(self, process: np.ndarray, places: list[Place], depth: int, join: Any) -> Any:
        parts = []
        for place in places:
            part, process = self.grow(process, place, depth - 1)
            parts.append(part)
        return join(*parts), process

    def _names(self, records: tuple[int, ...]) -> list[Any]:
        return [self.world.names[i] for i in records]

    def _channels(self, place: Place, eps: float, added: float, count: int) -> list[np.ndarray]:
        """Two answers each, the first with the largest changes that the costs allow."""
        shape = self.world.joint.shape
        apart = _distances(shape, place.records, place.values, eps, added)
        centres = self.rng.integers(len(apart), size=(count, int(self.rng.integers(1, 4))))
        if self.rng.random() < 0.4:  # a count of all ones, or of all zeros
            centres = self.rng.choice([0, len(apart) - 1], size=(count, 1))
        heights = self.rng.choice([0.0, eps, self.rng.uniform(0, 2)], size=centres.shape)
        k = np.min(heights[:, :, None] + apart[centres], axis=1)
        k *= self.rng.choice([-1.0, 1.0], size=(count, 1))
        hit = 0.5 * np.exp(k - k.max(axis=1, keepdims=True))
        return list(np.stack([hit, 1.0 - hit], axis=2))

    def _any_channel(self, records: tuple[int, ...]) -> np.ndarray:
        """Any law of the answer for each database, that reads these records only."""
        shape = self.world.joint.shape
        inside = tuple(size if i in records else 1 for i, size in enumerate(shape))
        laws = self.rng.dirichlet(np.full(2, 0.7), size=math.prod(inside)) * 0.98 + 0.01
        wide = np.broadcast_to(laws.reshape(*inside, 2), (*shape, 2))
        return np.ascontiguousarray(wide).reshape(-1, 2)


def _followed(process: np.ndarray, channels: list[np.ndarray]) -> np.ndarray:
    """One more answer, drawn from the channel of the answers so far."""
    return np.hstack(
        [process[:, answer, None] * channel for answer, channel in enumerate(channels)]
    )


def _distances(
    shape: tuple[int, ...],
    records: tuple[int, ...],
    values: frozenset[int] | None,
    eps: float,
    added: float,
) -> np.ndarray:
    """What going from one database to another costs: record by record."""
    cells = np.array(list(itertools.product(*map(range, shape))))
    total = np.zeros((len(cells), len(cells)))
    for i in records:
        size = shape[i]
        cost = eps * (1.0 - np.eye(size))
        if values is not None:
            inside = np.array([value in values for value in range(size)])
            both, item = np.logical_and.outer(inside, inside), np.logical_xor.outer(inside, inside)
            # Leaving and coming back with another value is a way of changing inside.
            cost = np.where(both, min(eps, 2 * added) * (1.0 - np.eye(size)), added * item)
        total += cost[np.ix_(cells[:, i], cells[:, i])]
    return total
