"""Random records of a population, given some of them: what an attacker simulates.

Nothing private is drawn here, and no noise: the records are made up. Draws are independent of each
other and exact, by filtering backward and sampling forward.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.audit.laws import Evidence
from bayesdp.audit.models import AttackedLaw, ChainLaw, ForestLaw, JointLaw, components
from bayesdp.errors import InputError

Rng = np.random.Generator


def draw_states(law: AttackedLaw, count: int, given: Mapping[int, int], rng: Rng) -> Ints:
    """`count` independent databases, one a row, in which the records `given` have these states.

    `law` is that of the records, and `rng` makes the draws. Raises `InputError` where the states
    given are impossible together.
    """
    free = Evidence(
        [np.ones(size) for size in law.sizes],
        [np.zeros(size, dtype=np.int64) for size in law.sizes],
    )
    likelihoods = list(free.knowing(given).likelihoods)
    if isinstance(law, ChainLaw):
        return _chain(law, count, likelihoods, rng)
    if isinstance(law, ForestLaw):
        return _forest(law, count, likelihoods, rng)
    return _joint(law, count, likelihoods, rng)


def draw_normal(covariance: Floats, count: int, given: Mapping[int, float], rng: Rng) -> Floats:
    """`count` draws of centred jointly normal records, in which those `given` have these values.

    `covariance` has one row a record, and `rng` makes the draws.
    """
    size = len(covariance)
    known = sorted(given)
    unknown = [j for j in range(size) if j not in given]
    drawn = np.empty((count, size))
    drawn[:, known] = [given[j] for j in known]
    if not unknown:
        return drawn
    mean, rest = np.zeros(len(unknown)), covariance[np.ix_(unknown, unknown)]
    if known:
        slopes = np.linalg.solve(
            covariance[np.ix_(known, known)], covariance[np.ix_(known, unknown)]
        )
        mean = np.array([given[j] for j in known]) @ slopes
        rest = rest - covariance[np.ix_(unknown, known)] @ slopes
    values, vectors = np.linalg.eigh(rest)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn[:, unknown] = mean + rng.standard_normal((count, len(unknown))) @ root.T
    return drawn


def _picked(weights: Floats, rng: Rng) -> Ints:
    """A place in each row, with a probability proportional to its weight."""
    sums = np.cumsum(weights, axis=1)
    if not (sums[:, -1] > 0.0).all():
        raise InputError(
            "known",
            expected="states that the records can have together under the population",
            shown=False,
        )
    # Between 0 and the last sum, above 0: places of weight 0 are never picked.
    points = (1.0 - rng.random(len(weights))) * sums[:, -1]
    places: Ints = (points[:, None] > sums).sum(axis=1)
    picked: Ints = np.minimum(places, weights.shape[1] - 1)
    return picked


def _chain(law: ChainLaw, count: int, likelihoods: list[Floats], rng: Rng) -> Ints:
    order, states, length = law.order, law.start.shape[0], law.length
    size = states**order
    table = law.table.reshape(size, states)
    later = np.arange(size) * states % size  # the window moves on, without its newest record
    ahead = [np.ones(size)]
    for place in range(length - 1, order - 1, -1):
        onto = later[:, None] + np.arange(states)[None, :]
        before = (table * likelihoods[place][None, :] * ahead[-1][onto]).sum(axis=1)
        largest = before.max()
        ahead.append(before / largest if largest > 0.0 else before)
    ahead.reverse()
    first = law.start
    for place in range(order):
        shape = [1] * order
        shape[place] = states
        first = first * likelihoods[place].reshape(shape)
    window = _picked(np.broadcast_to(first.reshape(-1) * ahead[0], (count, size)), rng)
    drawn = np.empty((count, length), dtype=np.int64)
    for place in range(order):
        drawn[:, place] = window // states ** (order - 1 - place) % states
    for place in range(order, length):
        onto = later[window][:, None] + np.arange(states)[None, :]
        likely = table[window] * likelihoods[place][None, :]
        drawn[:, place] = _picked(likely * ahead[place - order + 1][onto], rng)
        window = later[window] + drawn[:, place]
    return drawn


def _forest(law: ForestLaw, count: int, likelihoods: list[Floats], rng: Rng) -> Ints:
    drawn = np.empty((count, len(law.single)), dtype=np.int64)
    for tree in components(law):
        parents = {int(tree[0]): -1}
        for place in tree.tolist():
            for other in law.pairs.get(place, {}):
                parents.setdefault(other, place)
        beliefs = {i: law.single[i] * likelihoods[i] for i in tree.tolist()}
        for place in reversed(tree.tolist()):
            parent = parents[place]
            if parent >= 0:
                message = law.pairs[parent][place] @ beliefs[place]
                beliefs[parent] = beliefs[parent] * message
                largest = beliefs[parent].max()
                if largest > 0.0:
                    beliefs[parent] = beliefs[parent] / largest
        for place in tree.tolist():
            parent, belief = parents[place], beliefs[place]
            if parent < 0:
                weights = np.broadcast_to(belief, (count, len(belief)))
            else:
                weights = law.pairs[parent][place][drawn[:, parent]] * belief[None, :]
            drawn[:, place] = _picked(weights, rng)
    return drawn


def _joint(law: JointLaw, count: int, likelihoods: list[Floats], rng: Rng) -> Ints:
    weights = law.joint
    for place, likely in enumerate(likelihoods):
        shape = [1] * weights.ndim
        shape[place] = len(likely)
        weights = weights * likely.reshape(shape)
    sums = np.cumsum(weights.reshape(-1))
    if not sums[-1] > 0.0:
        raise InputError(
            "known",
            expected="states that the records can have together under the population",
            shown=False,
        )
    points = (1.0 - rng.random(count)) * sums[-1]
    cells = np.minimum(np.searchsorted(sums, points, side="left"), len(sums) - 1)
    return np.stack(np.unravel_index(cells, weights.shape), axis=1).astype(np.int64)
