"""The Bayes-optimal attack on one record: belief after a release, and success before any.

An attacker who believes in the population and knows the records `known` sees a release and guesses
the state of a record. No rule is right more often than to guess the state with the largest
posterior probability. `believe` computes that belief for one release; `attack` computes how often
the guess is right, over all releases, beside how often it is right without one; and the largest
logarithm of a ratio of likelihoods, which is what Bayesian DP bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.audit.laws import Evidence, SumLaw, law_of_sum
from bayesdp.audit.models import AttackedLaw, law_of
from bayesdp.audit.observed import Responses, SumWithNoise, outcomes
from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.populations import Population

_NEARLY_LOST = 1e-200
"""Beside weights below it there may be some that a double can't hold."""


@dataclass(frozen=True)
class AttackerBelief:
    """What is believed of a record, by state: `prior` to a release and `posterior`.

    Both are given the known records.
    """

    record: int
    prior: tuple[float, ...]
    posterior: tuple[float, ...]

    @property
    def guess(self) -> int:
        """The state with the largest posterior probability, the first of equals."""
        return max(range(len(self.posterior)), key=self.posterior.__getitem__)

    @property
    def level(self) -> float:
        """The largest log ratio of the likelihoods of two states, in nats; infinite if one is 0."""
        pairs = zip(self.prior, self.posterior, strict=True)
        gains = [after / before for before, after in pairs if before > 0.0]
        return math.log(max(gains) / min(gains)) if min(gains) > 0.0 else math.inf


@dataclass(frozen=True)
class RecordAttack:
    """How well a record can be guessed, and what a release can say about it, before it is made.

    `without` is the probability that the best guess is right when no release is seen, `success` the
    same when it is. `level` is the largest log ratio of the likelihoods of two states
    (`value` against `other`) at any release, in nats. In exact arithmetic that is a lower bound for
    Bayesian DP; it is computed in doubles and not rounded down, so it is a plain number and not a
    `LowerBound`: it shows that a level is nearly attained, and refutes none. For Gaussian noise it
    is that of ever larger or ever smaller releases, and infinite where one state allows sums beyond
    all of the other's.
    """

    record: int
    without: float
    success: float
    level: float
    value: int
    other: int


def believe(
    population: Population,
    mechanism: SumWithNoise | Responses,
    release: int | Sequence[int],
    record: int,
    *,
    known: Mapping[int, int] | None = None,
) -> AttackerBelief:
    """The belief about a record after a release, by the forward-backward algorithm.

    `release` is the noisy sum, or the answers of all records (-1: none). `record` is the number of
    the attacked record, from 0, and `known` are states of others that the attacker knows. The
    records are those of one chain, tree, graph or cluster of the `population`. Exact up to rounding
    for chains of any order, trees, and all laws whose joint law is small. Raises `InputError` for a
    record, a state or a `mechanism` that doesn't fit, and `UnsupportedError` as `law_of` does.

    >>> import bayesdp as bdp
    >>> from bayesdp.audit import SumWithNoise, believe
    >>> chain = bdp.MarkovChain([[0.9, 0.1], [0.1, 0.9]], length=20)
    >>> count = SumWithNoise([0, 1], bdp.mechanisms.DiscreteLaplace(2.0))
    >>> after = believe(chain, count, release=17, record=10)
    >>> [round(p, 3) for p in after.posterior]
    [0.126, 0.874]
    """
    if isinstance(mechanism, Responses):
        law = law_of(population, states=_states(mechanism))
        known = _checked(law, record, known)
        evidence = mechanism.evidence(law.sizes, _answers(release))
        none = Evidence([np.ones(size) for size in law.sizes], evidence.adds)
        before = law_of_sum(law, record, none.knowing(known)).prior
        after = law_of_sum(law, record, evidence.knowing(known)).prior
    else:
        sums = attacked_sums(population, mechanism, record, known)
        before = sums.prior
        if not isinstance(release, int | np.integer):
            raise InputError("release", release, expected="a whole number, the noisy sum")
        places = sums.first + np.arange(sums.weights.shape[1])
        logs = mechanism.logarithms(places - int(release))
        after = sums.weights @ np.exp(logs - logs[sums.weights.any(axis=0)].max())
    posterior = after / after.sum()
    return AttackerBelief(record, tuple(before.tolist()), tuple(posterior.tolist()))


def attack(
    population: Population,
    mechanism: SumWithNoise,
    record: int,
    *,
    known: Mapping[int, int] | None = None,
) -> RecordAttack:
    """How often the Bayes-optimal attack on a record succeeds, over all releases.

    The arguments are those of `believe`: the `population`, the `mechanism`, the number of the
    `record` and the states of `known` ones. Exact up to rounding. Raises as `believe` does, and
    `InputError` for a record that the known ones determine.
    """
    sums = attacked_sums(population, mechanism, record, known)
    joint = outcomes(sums.weights, mechanism.noise)
    prior = sums.prior
    possible = np.flatnonzero(prior > 0.0)
    if len(possible) < 2:
        raise InputError(
            "record", record, expected="a record with two possible states, given the known ones"
        )
    pure = isinstance(mechanism.noise, DiscreteLaplace)
    likely = joint if pure else far_out(sums.weights)
    level, value, other = largest_ratio(likely[possible] / prior[possible, None])
    return RecordAttack(
        record,
        float(prior.max()),
        float(joint.max(axis=0).sum()),
        level,
        int(possible[value]),
        int(possible[other]),
    )


def attacked_sums(
    population: Population, mechanism: SumWithNoise, record: int, known: Mapping[int, int] | None
) -> SumLaw:
    """The law of a record's state and of the exact sum, given the records `known`.

    The `population`, the `mechanism` and the `record` are as in `believe`. Raises `InputError` for
    a record or a state that is not there, and as `law_of_sum` does.
    """
    law = law_of(population, states=_states(mechanism))
    known = _checked(law, record, known)
    return law_of_sum(law, record, mechanism.evidence(law.sizes).knowing(known))


def far_out(weights: Floats) -> Floats:
    """What Gaussian noise leaves of `weights[x, s]`: of the least and of the largest sum `s`.

    As a release grows, the part of every smaller sum in its likelihood vanishes beside that of the
    largest sum, and so on the other side: the ratio of two states tends to that of these weights.
    Where weights are so small that others may have been lost as 0, it is not known which sums there
    are: then columns without bound, one state alone in each.
    """
    if weights[weights > 0.0].min() < _NEARLY_LOST:
        return np.eye(len(weights))
    there = np.flatnonzero(weights.any(axis=0))
    ends: Floats = weights[:, [there[0], there[-1]]]
    return ends


def largest_ratio(laws: Floats) -> tuple[float, int, int]:
    """The largest log ratio of two rows in a column, and which they are."""
    with np.errstate(divide="ignore"):
        logs = np.log(laws)
    seen = (laws > 0.0).any(axis=0)
    high, low = logs[:, seen].max(axis=0), logs[:, seen].min(axis=0)
    place = int(np.argmax(high - low))
    column = logs[:, seen][:, place]
    return float(high[place] - low[place]), int(column.argmax()), int(column.argmin())


def _states(mechanism: SumWithNoise | Responses) -> int:
    """The states of a record, where the population doesn't say how many there are."""
    rows = mechanism.channel if isinstance(mechanism, Responses) else mechanism.adds
    first = rows[0] if len(rows) else ()
    if isinstance(mechanism, SumWithNoise) and isinstance(first, Sequence | np.ndarray):
        return len(first)
    return len(rows)


def _answers(release: int | Sequence[int]) -> Sequence[int]:
    if not isinstance(release, Sequence | np.ndarray):
        raise InputError("release", release, expected="answers, one for each record")
    return release


def _checked(law: AttackedLaw, record: int, known: Mapping[int, int] | None) -> dict[int, int]:
    sizes, states = law.sizes, dict(known or {})
    if not 0 <= record < len(sizes):
        raise InputError(
            "record", record, expected=f"a record of the population: 0 to {len(sizes) - 1}"
        )
    for other, state in states.items():
        if other == record or not 0 <= other < len(sizes) or not 0 <= state < sizes[other]:
            raise InputError(
                f"known[{other}]", state, expected="a state of another record of the population"
            )
    return states
