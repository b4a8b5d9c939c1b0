"""Independent columns add nothing to a level, and plainly independent ones may (theory 7).

Records are pairs of a covered and an independent value, as one record of as many states as there
are pairs. The search over all mechanisms for that law (`finite-law`, exact) is held against the
one for the covered values alone.
"""

from __future__ import annotations

import numpy as np
import pytest

import bayesdp as bdp
from bayesdp.accounting import Reading, Spend
from bayesdp.accounting.costs.composition import level


def paired(covered: np.ndarray, given: list[np.ndarray]) -> np.ndarray:
    """The law of the pairs `(x_j, z_j)`, with `given[j][x, z]` the law of `z_j` given `x_j`."""
    first, second = given
    whole = np.einsum("ab,ai,bj->aibj", covered, first, second)
    return whole.reshape(first.size, second.size)


def of_all(law: np.ndarray, eps: float) -> float:
    best = bdp.Finite(probabilities=law.tolist()).leakage(eps).best
    assert best.tight == "exact"
    return best.epsilon


def response(states: int, eps: float) -> np.ndarray:
    """Randomized response: `P[answer | state]`."""
    weights = np.ones((states, states)) + np.expm1(eps) * np.eye(states)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("eps", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_independent_given_their_own_record_add_nothing(
    eps: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    covered = rng.dirichlet(np.ones(4)).reshape(2, 2)
    given = [rng.dirichlet(np.ones(2), size=2) for _ in range(2)]
    alone = of_all(covered, eps)
    assert of_all(paired(covered, given), eps) == pytest.approx(alone, rel=1e-6)
    read = Reading(
        "bdp", 9.0, bdp.Finite(covered.tolist()).spec(), covers=("x",), independent=("z",)
    )
    both = Spend("d", "row", "q", "any", eps, reads=("x", "z"))
    assert level(read, [both]) == pytest.approx(alone, rel=1e-6)


def test_plain_independence_is_not_enough() -> None:
    """`X1 = Z1 xor X2`: each is independent of the other record, and both together give it away."""
    law = np.zeros((2, 2, 2, 1))
    for z1, x2 in np.ndindex(2, 2):
        law[z1 ^ x2, z1, x2, 0] = 0.25
    covered, pairs = law.sum(axis=(1, 3)), law.reshape(4, 2)
    assert of_all(covered, 0.5) == pytest.approx(0.5)
    # Each record's answer costs eps, so that both together do: they are about two records.
    answers = np.einsum("ai,bj->abij", response(4, 0.5), response(2, 0.5)).reshape(4, 2, 8)
    profile = bdp.profile(bdp.Finite(pairs.tolist()), answers.tolist())
    assert profile.dp == pytest.approx(0.5)
    assert profile.bdp["uninformed"] == pytest.approx(1.0)
