"""The level that each release has alone, and the one that is proved of all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayesdp.accounting.costs.composition import converted
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.expressions.expression import CompositionNode
from bayesdp.accounting.expressions.levels import composed_level
from bayesdp.accounting.expressions.prices import Price, price
from bayesdp.accounting.what_if.answer import Planned
from bayesdp.accounting.what_if.kinds import has_vectors
from bayesdp.accounting.what_if.releases import DPCost, StatedRelease, spends_of
from bayesdp.accounting.what_if.rules import have_deltas, own_level, shares
from bayesdp.arrays import Floats
from bayesdp.errors import InputError, Refusal
from bayesdp.leakage.channel import channel_leakage
from bayesdp.notions import ZCDP, ApproxDP, Kind, PureDP
from bayesdp.numbers import ZERO, UpperBound
from bayesdp.statements.populations import law_of
from bayesdp.theorems import Question

CostAndKind = tuple[DPCost | None, Kind]
"""A release's cost, and the mechanism's kind."""


def with_own_levels(
    releases: Sequence[StatedRelease], question: Question, delta: float
) -> tuple[Planned, ...]:
    """The releases, each with the level that it has alone.

    Each own level has a part of `delta`, so that all of them together are levels at `delta`. Raises
    `InputError` naming the release that is wrong.
    """
    approximate = have_deltas(releases)
    if approximate and delta == 0.0:
        raise InputError(
            "releases",
            "a delta",
            expected="pure costs for a level without delta",
            remedy="Add --delta, such as --delta 1e-6.",
        )
    level_of: dict[CostAndKind, UpperBound] = {}
    planned = []
    for number, (release, part) in enumerate(zip(releases, shares(releases, delta), strict=True)):
        if release.channel is not None:
            release = _measured(release, question, f"releases[{number}]")
        level = release.bdp_epsilon
        cost = release.cost
        if level is None and isinstance(cost, ApproxDP) and cost.delta > 0.0:
            level = own_level(question, cost, part)
        if level is None:
            level = _level_alone(release, question, 0.0 if approximate else part, level_of)
        planned.append(Planned(release, UpperBound(level)))
    return tuple(planned)


def _level_alone(
    release: StatedRelease,
    question: Question,
    delta: float,
    level_of: dict[CostAndKind, UpperBound],
) -> UpperBound:
    """The level of one release, on whatever block: what a naive reader would look up."""
    kind: Kind = "any" if has_vectors(question.population) else release.kind
    key = release.cost, kind
    if key not in level_of:
        alone = StatedRelease(release.name, release.cost)
        level_of[key] = proved(alone.mechanism(kind), alone.spends(), question, delta).bdp_epsilon
    return level_of[key]


def _measured(release: StatedRelease, question: Question, place: str) -> StatedRelease:
    """A release by its channel, with the channel's DP cost and exact level, both rounded up."""
    import numpy as np

    leakage = channel_leakage(question.population, release.channel, adversary=question.adversary)
    own = leakage.level.bdp.upper
    if not math.isfinite(own):
        raise InputError(
            f"{place}.channel",
            "an infinite level",
            expected="a channel that excludes no value, whatever it answers",
            remedy="Give every answer a probability above 0.",
        )
    channel = np.asarray(release.channel, dtype=float)
    _check_reads(channel, release.records, place)
    cost = PureDP(leakage.dp_epsilon) if math.isfinite(leakage.dp_epsilon) else None
    measured = replace(release, channel=channel, cost=cost, bdp_epsilon=own)
    measured.mechanism()  # refuses what is wrong beside the channel
    return measured


def _check_reads(channel: Floats, records: frozenset[Any] | None, place: str) -> None:
    """A channel that is said to read some records only must be constant in the others."""
    if records is None:
        return
    axes = range(channel.ndim - 1)
    if not records <= set(axes):
        raise InputError(
            f"{place}.block.records",
            sorted(map(str, records)),
            expected=f"numbers of records of the channel, from 0 to {len(axes) - 1}",
        )
    for axis in axes:
        if axis not in records and bool((channel != channel.take([0], axis=axis)).any()):
            raise InputError(
                f"{place}.channel",
                f"an answer that depends on record {axis}",
                expected="an answer that depends on the records of its block only",
                remedy="Name every record that the channel reads, or correct the channel.",
            )


@dataclass(frozen=True, slots=True)
class Proved:
    """A proved level in nats, why it holds, and the DP cost of everything if there is one."""

    bdp_epsilon: UpperBound
    reason: str
    price: Price | None


def proved(
    node: CompositionNode, spends: Sequence[Spend] | None, question: Question, delta: float
) -> Proved:
    """The level that is proved of the composition `node`.

    `spends` are the same releases as a ledger keeps them; `None` where it can't. Then, at a delta,
    the whole cost counts, as one spend for each measure. Raises `InputError` for a zCDP cost
    without a delta, and `Refusal` where no theorem justifies a level.
    """
    try:
        priced = price(node)
    except Refusal:
        return _without_delta(node, None, question)
    if delta > 0.0:
        if spends is None:
            spends = [*spends_of(PureDP(priced.dp_epsilon)), *spends_of(ZCDP(priced.rho))]
        return _at_delta(spends, priced, question, delta)
    if priced.rho > 0.0:
        raise InputError(
            "releases",
            "a zCDP cost",
            expected="pure costs for a level without delta",
            remedy="Add --delta, such as --delta 1e-6.",
        )
    return _without_delta(node, priced, question)


def _without_delta(node: CompositionNode, priced: Price | None, question: Question) -> Proved:
    composed = composed_level(
        node,
        question.population,
        adversary=question.adversary,
        seconds=question.seconds,
        deadline=question.deadline,
    )
    return Proved(composed.bdp_epsilon, composed.reason, priced)


def _at_delta(spends: Sequence[Spend], priced: Price, question: Question, delta: float) -> Proved:
    """The level that a ledger's reading gives to these spends."""
    if not spends:
        return Proved(ZERO, "nothing is spent", priced)
    law = law_of(question.population.spec())
    reading = Reading("bdp", 1e9, law, adversary=question.adversary, delta=delta)
    best = converted(reading, spends, fixed=True, search=question.deadline).best
    reason = f"composed at the DP level, converted once by {best.theorem}"
    return Proved(best.epsilon, reason, priced)
