"""The belief about all records at once is what `believe` says of each."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayesdp as bdp
from bayesdp.audit import Responses, beliefs, believe
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.mechanisms import RandomizedResponse
from tests.audit.test_attack import rows


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 5, 9])
def test_all_records_are_as_each(order: int, length: int) -> None:
    rng = np.random.default_rng(order + 10 * length)
    states = int(rng.integers(2, 4))
    table = rows(rng, *(states,) * (order + 1))
    start = rows(rng, states**order).reshape((states,) * order)
    chain = bdp.MarkovChain(table, order=order, initial=start.tolist(), length=length)
    answers = rng.integers(-1, states, length).tolist()
    response = Responses.by(RandomizedResponse.for_cost(tuple(range(states)), 1.0))
    gains = beliefs(chain, response, answers)
    assert gains.shape == (length, states)
    for record in range(length):
        seen = believe(chain, response, answers, record)
        for x in range(1, states):
            due = math.log(seen.posterior[x] / seen.prior[x])
            due -= math.log(seen.posterior[0] / seen.prior[0])
            assert gains[record, x] - gains[record, 0] == pytest.approx(due, abs=1e-9)


def test_long_chains_and_what_is_refused() -> None:
    chain = bdp.MarkovChain([[0.9, 0.1], [0.3, 0.7]], length=50_000)
    response = Responses.by(RandomizedResponse.for_cost((0, 1), 1.0))
    answers = np.random.default_rng(1).integers(0, 2, 20_000).tolist()
    gains = beliefs(chain, response, answers)
    ratios = np.abs(gains[:, 1] - gains[:, 0])
    level = chain.leakage(1.0, adversary="uninformed").best.epsilon
    assert np.isfinite(ratios).all()
    assert 1.0 < ratios.max() <= level
    with pytest.raises(InputError, match="release: expected answers of the channel"):
        beliefs(chain, response, [0, 3])
    with pytest.raises(UnsupportedError, match="a Markov chain"):
        beliefs(bdp.Clusters(2), response, [0])  # type: ignore[arg-type]
