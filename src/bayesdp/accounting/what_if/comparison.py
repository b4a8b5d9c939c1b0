"""What several releases cost together: by the rules of the literature, and in truth.

*Naive* is what Zhao (2017, Theorems 1 and 2) would claim: Bayesian levels add up, and on disjoint
blocks the largest sum counts. *Sound* is the level that is proved: composed at the DP level and
converted once, or by independence. *Exact* is what the very channels leak together, on a finite
model. The naive claim is violated where the exact leakage lies above it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bayesdp.accounting.costs.blocks import heaviest
from bayesdp.accounting.costs.readings import SMALLEST_DELTA
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.expressions.expression import (
    CompositionNode,
    Indexed,
    Mechanism,
    Parallel,
    Private,
    Public,
    Sequential,
)
from bayesdp.accounting.what_if.answer import MARGIN, Planned, WhatIf
from bayesdp.accounting.what_if.blocks import (
    BlockCell,
    PrivateBlock,
    PublicBlock,
    ReleaseBlock,
    cells_of,
)
from bayesdp.accounting.what_if.kinds import SecretsCondition, secrets_condition
from bayesdp.accounting.what_if.levels import Proved, proved, with_own_levels
from bayesdp.accounting.what_if.releases import StatedRelease, parse_releases
from bayesdp.accounting.what_if.rules import RuleResult, have_deltas, together
from bayesdp.calibration import MOST_LEVELS
from bayesdp.errors import InputError
from bayesdp.leakage.channel import MOST_CELLS, attack_words
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.tensor import tensor_leakage
from bayesdp.notions import Adversary
from bayesdp.numbers import Exact, float_above
from bayesdp.populations import Population
from bayesdp.populations import parse as parse_population
from bayesdp.populations.joint import joint_of
from bayesdp.theorems import Question, check_seconds

MOST_OUTCOMES = 4096
"""The most outcomes of all channels together."""


def what_if(
    document: Mapping[str, Any],
    population: Population | None = None,
    *,
    adversary: Adversary = "any",
    delta: float = 0.0,
    seconds: float = 1.0,
) -> WhatIf:
    """What a list of releases costs together; `population` stands in for the document's.

    A theorem may take `seconds` for one level, and all of them together `MOST_LEVELS` (60) times
    that: then only quick theorems are asked.

    Raises `InputError` naming the release, and `Refusal` for what no theorem justifies.
    """
    if population is None:
        if "population" not in document:
            raise InputError(
                "population", expected='"population" in FILE, or --population', shown=False
            )
        population = parse_population(document["population"])
    if not (delta == 0.0 or SMALLEST_DELTA <= delta < 1.0):
        raise InputError(
            "delta", delta, expected=f"0, or a probability of at least {SMALLEST_DELTA:g} below 1"
        )
    within = Deadline(MOST_LEVELS * check_seconds(seconds))
    question = Question(population, adversary, "bounded", seconds, within)
    planned = with_own_levels(parse_releases(document.get("releases")), question, delta)
    releases = [each.release for each in planned]
    condition = secrets_condition(population, [release.lipschitz for release in releases])
    rules: tuple[RuleResult, ...] = ()
    if have_deltas(releases):
        rules = together(releases, question, delta)
        sound = _by_rule(rules[0])
    else:
        sound = proved(_node(releases, condition), _spends(releases), question, delta)
    exact, attack = _exact(releases, question)
    if exact is not None and exact > sound.bdp_epsilon + MARGIN:
        raise InputError(
            "releases",
            f"an exact leakage of {exact:.9g}",
            expected=f"at most {sound.bdp_epsilon:.9g}, if blocks and costs are as they are "
            "declared",
            remedy="Some channel reads records outside of its block, or costs more than is said.",
        )
    return WhatIf(
        population,
        adversary,
        delta,
        planned,
        naive=_naive(planned),
        added=math.fsum(each.bdp for each in planned),
        sound=sound.bdp_epsilon,
        reason=sound.reason,
        price=sound.price,
        exact=exact,
        attack=attack,
        condition=condition,
        rules=rules,
    )


def _by_rule(best: RuleResult) -> Proved:
    assert best.point is not None
    reason = f"composed at the DP level ({best.rule}), converted once by {best.point.theorem}"
    return Proved(best.point.bdp_epsilon, reason, None)


def _spends(releases: Iterable[StatedRelease]) -> list[Spend] | None:
    """All releases as a ledger keeps them; `None` where it can't keep one of them."""
    by_release = [release.spends() for release in releases]
    if any(spends is None for spends in by_release):
        return None
    return [spend for spends in by_release for spend in spends or ()]


def _node(releases: Iterable[StatedRelease], condition: SecretsCondition | None) -> CompositionNode:
    """The list as an expression: one after the other, blocks side by side where they are."""
    alike = condition is None or condition.together
    parts: list[CompositionNode] = []
    private: dict[str, dict[Any, list[Mechanism]]] = {}
    indexed: dict[frozenset[Any], list[Mechanism]] = {}
    for release in releases:
        mechanism = release.mechanism(None if alike else "any")
        block = release.block
        if isinstance(block, PrivateBlock):
            private.setdefault(block.column, {}).setdefault(block.cells, []).append(mechanism)
        elif isinstance(block, PublicBlock):
            parts.append(Parallel(Public(block.column, block.values), mechanism))
        elif mechanism.records is not None:
            indexed.setdefault(mechanism.records, []).append(mechanism)
        else:
            parts.append(mechanism)
    for column, values in private.items():
        parts.append(Parallel(Private(column), *(_sequential(group) for group in values.values())))
    if sum(map(len, indexed)) == len(frozenset[Any]().union(*indexed)) and indexed:
        groups = [_sequential(group) for group in indexed.values()]
        parts.append(Parallel(Indexed(*indexed), *groups))
    else:
        parts += [mechanism for group in indexed.values() for mechanism in group]
    return _sequential(parts)


def _sequential(parts: Sequence[CompositionNode]) -> CompositionNode:
    return parts[0] if len(parts) == 1 else Sequential(*parts)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A release's own level, which the naive rule adds up like a cost; `None` reads everything."""

    level: Fraction
    block: ReleaseBlock | None


def _naive(planned: Sequence[Planned]) -> float:
    """Levels added up, the largest of disjoint blocks: Zhao 2017, Theorems 1 and 2."""
    claims = [_Claim(Fraction(each.bdp), each.release.block) for each in planned]
    blocks = {cells_of(claim.block) for claim in claims if claim.block is not None}
    if sum(map(len, blocks)) != len(frozenset[BlockCell]().union(*blocks)):
        # The theorem claims nothing of blocks that overlap: there levels add up.
        claims = [replace(claim, block=None) for claim in claims]
    return float(float_above(heaviest(claims, lambda claim: claim.level)))  # claimed, not proved


def _exact(releases: Sequence[StatedRelease], question: Question) -> tuple[Exact | None, str]:
    """What all channels leak together, and to whom; None where a release has no channel."""
    import numpy as np

    channels = [release.channel for release in releases if release.channel is not None]
    if len(channels) < len(releases):
        return None, ""
    outcomes = math.prod(channel.shape[-1] for channel in channels)
    if outcomes > MOST_OUTCOMES:
        return None, ""
    joined = channels[0]
    for channel in channels[1:]:
        joined = joined[..., :, None] * channel[..., None, :]
        joined = joined.reshape(*joined.shape[:-2], -1)
    # Rows sum to 1 up to rounding: made so exactly enough.
    joined = joined / joined.sum(axis=-1, keepdims=True)
    joint = joint_of(question.population, MOST_CELLS)
    level = tensor_leakage(joint, np.minimum(joined, 1.0)).levels[question.adversary]
    words = "" if level.attained is None else attack_words(question.population, level.attained)
    return level.bdp, words
