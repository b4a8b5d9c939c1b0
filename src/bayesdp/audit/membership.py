"""Membership inference on correlated records: is it the target's record, or a stranger's?

The attacker knows the target's value and believes in the population. Either the record is the
target's, and the records that depend on it go with it; or it is that of somebody else, drawn from
the population with all that depends on it. Presence itself is public under the adjacency of all
levels here (one record is replaced): what is told apart are tables with this record and with
another in its place. No log ratio of likelihoods is above the Bayesian DP level (the law of a
stranger's record is a mixture over its values).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayesdp.audit.attack import attacked_sums, far_out, largest_ratio
from bayesdp.audit.observed import SumWithNoise, outcomes
from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.populations import Population


@dataclass(frozen=True)
class Membership:
    """How well the best test tells the target's record from a stranger's.

    `success` is the probability that it is right if both are as likely, `advantage` the rate of
    true alarms less that of false alarms, and `level` the largest log ratio of the two likelihoods
    either way, in nats, in doubles (for Gaussian noise as in `RecordAttack`).
    """

    record: int
    value: int
    success: float
    advantage: float
    level: float


def membership(
    population: Population,
    mechanism: SumWithNoise,
    record: int,
    value: int,
    *,
    known: Mapping[int, int] | None = None,
) -> Membership:
    """The best membership inference about a record after a noisy sum, exact up to rounding.

    `record` is the number of the record that may be the target's, whose state is `value`; `known`
    are states of other records. The `population` and the `mechanism` are as in `believe`, and so is
    what is raised; `InputError` too for a `value` that the record can't have.
    """
    sums = attacked_sums(population, mechanism, record, known)
    prior = sums.prior
    if not 0 <= value < len(prior) or not prior[value] > 0.0:
        raise InputError("value", value, expected="a state that the record can have")
    joint = outcomes(sums.weights, mechanism.noise)
    target, stranger = joint[value] / prior[value], joint.sum(axis=0)
    advantage = 0.5 * float(np.abs(target - stranger).sum())
    if isinstance(mechanism.noise, DiscreteLaplace):
        level = float(np.abs(np.log(target) - np.log(stranger)).max())
    else:
        ends = far_out(sums.weights)
        level, _, _ = largest_ratio(np.stack([ends[value] / prior[value], ends.sum(axis=0)]))
    return Membership(record, value, 0.5 + advantage / 2.0, advantage, level)
