"""Forward and backward along a whole chain at once: the belief about every record after answers.

What `believe` says of one record, for all of them in time linear in the length. The state is the
window of the last k records, as in `models.ChainLaw`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.audit.models import ChainLaw, law_of
from bayesdp.audit.observed import Responses
from bayesdp.errors import UnsupportedError
from bayesdp.populations import MarkovChain


def beliefs(population: MarkovChain, mechanism: Responses, release: Sequence[int]) -> Floats:
    """The log likelihoods of each record's states after the answers of all, up to a constant each.

    One row a record, one column a state: `row[x] - row[y]` is the log ratio that the release gives
    for the state `x` against `y`, in nats, to one who knows no record. It is NaN for states that
    the record can't have. `release` are the answers by the `mechanism`, -1 for none; their number
    is that of the records, at most `population.length`. Raises `InputError` for answers that don't
    fit, and `UnsupportedError` for what is not a chain.
    """
    if not isinstance(population, MarkovChain):
        raise UnsupportedError("population", shown=False, expected="a Markov chain")
    law = law_of(population, records=len(release))
    assert isinstance(law, ChainLaw)
    evidence = mechanism.evidence(law.sizes, release)
    likely = np.stack(evidence.likelihoods)
    with np.errstate(divide="ignore", invalid="ignore"):
        after = np.log(_marginals(law, likely))
        before = np.log(_marginals(law, np.ones_like(likely)))
        gains: Floats = after - before
    return gains


def _marginals(law: ChainLaw, likely: Floats) -> Floats:
    """The law of each record given the likelihoods, each row up to a factor that is the same."""
    order, states, length = law.order, law.start.shape[0], law.length
    size = states**order
    table = law.table.reshape(size, states)
    onto = (np.arange(size) * states % size)[:, None] + np.arange(states)[None, :]
    first = law.start
    for place in range(order):
        shape = [1] * order
        shape[place] = states
        first = first * likely[place].reshape(shape)
    ahead = [first.reshape(-1) / first.sum()]
    for place in range(order, length):
        moved = np.zeros(size)
        np.add.at(moved, onto, ahead[-1][:, None] * table * likely[place][None, :])
        ahead.append(moved / moved.sum())
    behind = np.ones(size)
    marginals = np.zeros((length, states))
    for place in range(length - 1, order - 1, -1):
        window = ahead[place - order + 1] * behind
        marginals[place] = window.reshape(-1, states).sum(axis=0)
        behind = (table * likely[place][None, :] * behind[onto]).sum(axis=1)
        behind = behind / behind.max()
    window = (ahead[0] * behind).reshape(law.start.shape)
    for place in range(order):
        marginals[place] = window.sum(axis=tuple(a for a in range(order) if a != place))
    laws: Floats = marginals / marginals.sum(axis=1, keepdims=True)
    return laws
