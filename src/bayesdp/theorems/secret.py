"""Whether some record has two possible values, so that something can leak (theory 2.1).

`L(eps) >= eps` holds as soon as one record has two possible values: a mechanism that reads this
record alone leaks its whole cost. Against an informed adversary they must both be possible given
all other records. Without such a record every level is 0.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bayesdp.notions import Adversary
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    Independent,
    MarkovChain,
    Network,
    Panel,
    Population,
    Tree,
    Unknown,
)
from bayesdp.populations.joint import NoJointError, parts_of
from bayesdp.populations.markov import eliminated

_MOST_CELLS = 2**12
"""Laws with more cells are not enumerated: it is then not known whether there is a secret."""


@lru_cache(maxsize=256)
def has_secret(population: Population, adversary: Adversary) -> bool | None:
    """Whether some record has two possible values; `None` where that is not computed.

    Models without a declared law admit laws in which it has. A covariance is positive definite, so
    each record is random given all others.
    """
    no_law = Independent | Clusters | Unknown | Panel | Gaussian | Autoregressive
    if isinstance(population, no_law):
        return True
    if isinstance(population, Family):
        answers = [has_secret(member, adversary) for member in population.members]
        return True if True in answers else None if None in answers else False
    if isinstance(population, MarkovChain):
        return _of_chain(population, adversary == "informed")
    if isinstance(population, Finite | Tree | Graph | Network):
        return _of_parts(population, adversary)
    return None


def _of_chain(chain: MarkovChain, informed: bool) -> bool | None:
    # Between bounds any chain may be true: take the one in which most transitions are possible.
    table = np.asarray(chain.transition if chain.transition is not None else chain.transition_upper)
    if chain.initial == "stationary" and bool((table > 0.0).all()):
        return True
    if chain.transition is None or chain.order > 1:
        return None if chain.transition is None else _of_parts(chain, "any", informed)
    if chain.initial == "stationary" and chain.states > 2 and eliminated(chain.transition) is None:
        return None  # there are several stationary laws
    return _of_moves(table > 0.0, np.asarray(chain.start) > 0.0, chain.length, informed)


def _of_moves(
    moves: NDArray[np.bool_], here: NDArray[np.bool_], length: int, informed: bool
) -> bool | None:
    """Follow the possible values from record to record; they repeat after some time."""
    into = moves.astype(int)
    before: NDArray[np.bool_] | None = None
    for position in range(min(length, 4 * len(moves) + 4)):
        last = position == length - 1
        if not informed and here.sum() > 1:
            return True
        if informed and _between(into, before, here, last):
            return True
        before, here = here, (here.astype(int) @ into) > 0
    # A record with one value decides the next record: without a branch in so many steps there is
    # none later, but whether two values have common neighbours may change for longer.
    return None if informed and length > 4 * len(moves) + 4 else False


def _between(
    into: NDArray[np.int64],
    before: NDArray[np.bool_] | None,
    here: NDArray[np.bool_],
    last: bool,
) -> bool:
    """Whether two values are possible between the same two neighbours."""
    ways = np.eye(len(into), dtype=int) * here[:, None]  # without a neighbour: the value itself
    left = here[None, :].astype(int) if before is None else into[before] * here[None, :]
    right = here[:, None].astype(int) if last else ways @ into
    fit = (left[:, :, None] > 0) & (right[None, :, :] > 0)
    return bool((fit.sum(axis=1) > 1).any())


def _of_parts(
    population: Population, adversary: Adversary, informed: bool | None = None
) -> bool | None:
    """By the joint law of each independent part, where it is small."""
    informed = adversary == "informed" if informed is None else informed
    try:
        parts = parts_of(population, _MOST_CELLS)
    except NoJointError:
        return None
    for _, joint in parts:
        possible = joint > 0.0
        if not informed and int(possible.sum()) > 1:
            return True
        if informed and any((possible.sum(axis=axis) > 1).any() for axis in range(joint.ndim)):
            return True
    return False
