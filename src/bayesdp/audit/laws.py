"""The forward-backward algorithm and its relatives: exact laws of a record and a sum of records.

Given is what a release says. Each record contributes an evidence, a likelihood for each of its
states, and adds a whole number to a sum. `law_of_sum` is the joint weight of a record's state and
of the sum. A release that tells something about each record by itself is evidence without a sum;
one that adds noise to a count is a sum without evidence; a known record is evidence that leaves one
state.

Along a chain the weights of (the last k records, the sum so far) move forward, and from the
attacked record on its state is remembered beside them. In a tree each record hands its parent the
weights of (the parent's state, the sum below), which are multiplied as polynomials. All numbers
are at least 0 and nothing is subtracted, so that small weights are as accurate as large ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.audit.models import AttackedLaw, ChainLaw, ForestLaw, JointLaw, components
from bayesdp.errors import InputError, UnsupportedError

MOST_STEPS = 4e9
"""The most multiplications of one law: some ten seconds."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What each record contributes: `likelihoods[i][x]`, and `adds[i][x]` to the sum."""

    likelihoods: Sequence[Floats]
    adds: Sequence[Ints]

    @property
    def first(self) -> int:
        """The least sum that there can be."""
        return int(sum(int(adds.min()) for adds in self.adds))

    @property
    def width(self) -> int:
        """How many sums there can be."""
        return 1 + int(sum(int(adds.max() - adds.min()) for adds in self.adds))

    def knowing(self, known: Mapping[int, int]) -> Evidence:
        """The same, where the records `known` have these states."""
        likelihoods, adds = list(self.likelihoods), list(self.adds)
        for record, state in known.items():
            only = np.zeros(len(likelihoods[record]))
            only[state] = likelihoods[record][state]
            likelihoods[record] = only
            adds[record] = np.full(len(adds[record]), adds[record][state])
        return Evidence(likelihoods, adds)


@dataclass(frozen=True, eq=False)
class SumLaw:
    """`weights[x, s]` of the state `x` of a record and the sum `first + s`; they add up to 1."""

    first: int
    weights: Floats

    @property
    def prior(self) -> Floats:
        """The law of the record's state, whatever the sum is."""
        law: Floats = self.weights.sum(axis=1)
        return law


def law_of_sum(law: AttackedLaw, record: int, evidence: Evidence) -> SumLaw:
    """The law of the state of the record with the number `record` and of the sum.

    `evidence` is what each record contributes. Raises `InputError` where the evidence is impossible
    under the `law`, and `UnsupportedError` where it would take more than `MOST_STEPS`.
    """
    if isinstance(law, ChainLaw):
        weights = _along_chain(law, record, evidence)
    elif isinstance(law, ForestLaw):
        weights = _in_forest(law, record, evidence)
    else:
        weights = _in_joint(law, record, evidence)
    total = float(weights.sum())
    if not total > 0.0:
        raise InputError(
            "known",
            expected="states that the records can have together under the population",
            shown=False,
        )
    return SumLaw(evidence.first, weights / total)


def _require_short(steps: float) -> None:
    if steps > MOST_STEPS:
        raise UnsupportedError(
            "population",
            f"{steps:.1e} multiplications",
            expected=f"at most {MOST_STEPS:.0e} of them for the law of a sum",
            remedy="Attack a shorter population, or let the attacker know more of the records.",
        )


def _along_chain(law: ChainLaw, record: int, evidence: Evidence) -> Floats:
    """Forward over (state of `record`, last k records, sum so far)."""
    order, states, width = law.order, law.start.shape[0], evidence.width
    _require_short(float(law.length) * states ** (order + 2) * width)
    adds = [more - int(more.min()) for more in evidence.adds]
    first = law.start
    reach = np.zeros((), dtype=np.int64)
    for place in range(order):
        shape = [1] * order
        shape[place] = states
        first = first * evidence.likelihoods[place].reshape(shape)
        reach = reach + adds[place].reshape(shape)
    labels = states if record < order else 1  # the state of `record`, once it was passed
    now = np.zeros((labels, *first.shape, int(reach.max()) + 1))
    for index in np.ndindex(first.shape):
        label = index[record] if record < order else 0
        now[(label, *index, int(reach[index]))] = first[index]
    size = states ** (order - 1)
    table = law.table.reshape(states, size, states)
    for place in range(order, law.length):
        spread = int(adds[place].max())
        before = now.reshape(now.shape[0], states, size, -1)
        moved = np.einsum("aors,orz->arzs", before, table)
        then = np.zeros((*moved.shape[:-1], moved.shape[-1] + spread))
        for state, more in enumerate(adds[place].tolist()):
            likelihood = evidence.likelihoods[place][state]
            then[:, :, state, more : more + moved.shape[-1]] = likelihood * moved[:, :, state]
        if place == record:
            apart = np.zeros((states, *then.shape[1:]))
            for state in range(states):
                apart[state, :, state] = then[0, :, state]
            then = apart
        largest = then.max()
        now = then / largest if largest > 0.0 else then
    weights: Floats = now.reshape(states, -1, now.shape[-1]).sum(axis=1)
    return weights


def _in_forest(law: ForestLaw, record: int, evidence: Evidence) -> Floats:
    """From the leaves to the root `record`, and every other tree on its own."""
    _require_short(float(evidence.width) ** 2 * max(law.sizes))
    result = np.ones((1, 1))
    for tree in reversed(components(law, first=record)):
        root = int(tree[0])
        weights = _to_root(law, tree, evidence)
        if root != record:
            weights = weights.sum(axis=0, keepdims=True)
        result = np.stack([np.convolve(row, result[0]) for row in weights])
    return result


def _to_root(law: ForestLaw, tree: Ints, evidence: Evidence) -> Floats:
    messages: dict[int, Floats] = {}
    parents = {int(tree[0]): -1}
    for place in tree.tolist():
        for other in law.pairs.get(place, {}):
            parents.setdefault(other, place)
    for place in reversed(tree.tolist()):
        adds = evidence.adds[place] - int(evidence.adds[place].min())
        own = law.single[place] * evidence.likelihoods[place]
        below = messages.pop(place, np.ones((len(own), 1)))
        belief = np.zeros((len(own), below.shape[1] + int(adds.max())))
        for state, more in enumerate(adds.tolist()):
            belief[state, more : more + below.shape[1]] = own[state] * below[state]
        largest = belief.max()
        belief = belief / largest if largest > 0.0 else belief
        parent = parents[place]
        if parent < 0:
            return belief
        message = law.pairs[parent][place] @ belief
        if parent in messages:
            message = np.stack(
                [np.convolve(a, b) for a, b in zip(messages[parent], message, strict=True)]
            )
        messages[parent] = message
    raise AssertionError("a tree has a root")


def _in_joint(law: JointLaw, record: int, evidence: Evidence) -> Floats:
    weights, sums = law.joint, np.zeros((), dtype=np.int64)
    for place, size in enumerate(law.sizes):
        shape = [1] * weights.ndim
        shape[place] = size
        weights = weights * evidence.likelihoods[place].reshape(shape)
        adds = evidence.adds[place]
        sums = sums + (adds - int(adds.min())).reshape(shape)
    sums = np.broadcast_to(sums, weights.shape)
    _require_short(float(math.prod(law.sizes)) + float(evidence.width) * law.sizes[record])
    states = np.moveaxis(weights, record, 0).reshape(law.sizes[record], -1)
    places = np.moveaxis(sums, record, 0).reshape(law.sizes[record], -1)
    return np.stack(
        [
            np.bincount(at, weights=mass, minlength=evidence.width)
            for at, mass in zip(places, states, strict=True)
        ]
    )
