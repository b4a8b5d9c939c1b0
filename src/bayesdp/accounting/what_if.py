"""What several releases cost together: by the rules of the literature, and in truth.

*Naive* is what Zhao (2017, Theorems 1 and 2) would claim: Bayesian levels add up, and on disjoint
blocks the largest sum counts. *Sound* is the level that is proved: composed at the DP level and
converted once, or by independence. *Exact* is what the very channels leak together, on a finite
model. The naive claim is violated where the exact leakage lies above it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..calibration import MOST_LEVELS
from ..errors import InputError
from ..leakage.channel import attack_words
from ..leakage.deadline import Deadline
from ..leakage.tensor import tensor_leakage
from ..notions import Adversary
from ..numbers import float_above
from ..populations import Population
from ..populations import parse as parse_population
from ..populations.joint import joint_of
from ..theorems import Question, check_seconds
from .approximate import Approximate
from .expressions import Indexed, Mechanism, Node, Parallel, Private, Public, Sequential
from .spend import SMALLEST_DELTA
from .what_if_answer import MARGIN, Planned, WhatIf
from .what_if_blocks import Cell, cells_of
from .what_if_deltas import Composed, has_deltas, together
from .what_if_kinds import Condition, secrets_condition
from .what_if_levels import proved
from .what_if_releases import checked_list, planned_releases

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

    Errors: `InputError` naming the release, `Refusal` for what no theorem justifies.
    """
    if population is None:
        if "population" not in document:
            raise InputError("population", expected="one in the file, or --population", shown=False)
        population = parse_population(document["population"])
    raw = checked_list(document.get("releases"))
    if not (delta == 0.0 or SMALLEST_DELTA <= delta < 1.0):
        raise InputError(
            "delta", delta, expected=f"0, or a probability of at least {SMALLEST_DELTA:g} below 1"
        )
    within = Deadline(MOST_LEVELS * check_seconds(seconds))
    question = Question(population, adversary, "bounded", seconds, within)
    releases = planned_releases(raw, question, delta)
    condition = secrets_condition(population, [release.lipschitz for release in releases])
    node = _node(releases, condition)
    rules: tuple[Composed, ...] = ()
    if has_deltas(raw):
        rules = together([_event(release) for release in releases], question, delta)
        sound, reason, priced = _best(rules)
    else:
        sound, reason, priced = proved(node, question, delta)
    exact, attack = _exact(releases, question)
    if exact is not None and exact > sound + MARGIN:
        raise InputError(
            "releases",
            f"an exact leakage of {exact:.9g}",
            expected=f"at most {sound:.9g}, if blocks and costs are as they are declared",
            remedy="Some channel reads records outside of its block, or costs more than is said.",
        )
    return WhatIf(
        population,
        adversary,
        delta,
        releases,
        naive=_naive(releases),
        added=math.fsum(release.bdp for release in releases),
        sound=sound,
        reason=reason,
        price=priced,
        exact=exact,
        attack=attack,
        condition=condition,
        rules=rules,
    )


def _event(release: Planned) -> Approximate:
    mechanism = release.mechanism
    if mechanism.dp_epsilon is None:
        raise InputError("releases", mechanism.name, expected="a DP cost for every release")
    return Approximate(mechanism.dp_epsilon, release.dp_delta)


def _best(rules: Sequence[Composed]) -> tuple[float, str, None]:
    best = rules[0]
    assert best.point is not None
    words = f"composed at the DP level ({best.rule}), converted once by {best.point.theorem}"
    return best.point.bdp_epsilon, words, None


def _node(releases: Sequence[Planned], condition: Condition | None) -> Node:
    """The list as an expression: one after the other, blocks side by side where they are."""
    if condition is not None and not condition.together:
        releases = [
            replace(release, mechanism=replace(release.mechanism, kind="any"))
            for release in releases
        ]
    parts: list[Node] = []
    private: dict[str, dict[Cell, list[Mechanism]]] = {}
    indexed: dict[frozenset[Any], list[Mechanism]] = {}
    for release in releases:
        block = release.block or {}
        if "private" in block:
            values = private.setdefault(block["private"], {})
            (place,) = cells_of(block)
            values.setdefault(place, []).append(release.mechanism)
        elif "column" in block:
            parts.append(Parallel(Public(block["column"], block["values"]), release.mechanism))
        elif release.mechanism.records is not None:
            indexed.setdefault(release.mechanism.records, []).append(release.mechanism)
        else:
            parts.append(release.mechanism)
    for column, values in private.items():
        parts.append(Parallel(Private(column), *(_in_turn(group) for group in values.values())))
    if sum(map(len, indexed)) == len(frozenset[Any]().union(*indexed)) and indexed:
        groups = [_in_turn(group) for group in indexed.values()]
        parts.append(Parallel(Indexed(*indexed), *groups))
    else:
        parts += [mechanism for group in indexed.values() for mechanism in group]
    return _in_turn(parts)


def _in_turn(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequential(*parts)


def _naive(releases: Sequence[Planned]) -> float:
    """Levels added up, the largest of disjoint blocks: Zhao 2017, Theorems 1 and 2."""
    everywhere = Fraction(0)
    blocks: dict[frozenset[Cell], Fraction] = {}
    for release in releases:
        level = Fraction(release.bdp)
        if release.block is None:
            everywhere += level
            continue
        cells = cells_of(release.block)
        blocks[cells] = blocks.get(cells, Fraction(0)) + level
    # Blocks that overlap are no blocks: there the theorem claims nothing, and levels add up.
    if sum(map(len, blocks)) != len(frozenset[Cell]().union(*blocks)):
        return float_above(everywhere + sum(blocks.values(), Fraction(0)))
    largest: dict[str, Fraction] = {}
    for cells, level in blocks.items():
        axis, _ = next(iter(cells))
        largest[axis] = max(level, largest.get(axis, Fraction(0)))
    return float_above(everywhere + sum(largest.values(), Fraction(0)))


def _exact(releases: Sequence[Planned], question: Question) -> tuple[float | None, str]:
    """What all channels leak together, and to whom; None where one has no channel."""
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
    joint = joint_of(question.population, 2**24)
    level = tensor_leakage(joint, np.minimum(joined, 1.0)).levels[question.adversary]
    words = "" if level.attained is None else attack_words(question.population, level.attained)
    return level.bdp, words
