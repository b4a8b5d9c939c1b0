"""How far a level reaches: secrets anywhere, vague knowledge, and facts about groups of records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesdp.errors import BayesdpError
from bayesdp.leakage.correlated_deltas import group
from bayesdp.notions import Adversary, ApproxDP, Cost
from bayesdp.numbers import UpperBound
from bayesdp.populations import parse
from bayesdp.statements.populations import STRUCTURE
from bayesdp.theorems import (
    BY_NAME,
    Question,
    approximate,
    report,
)


@dataclass(frozen=True, slots=True)
class LevelAtDelta:
    """A level in nats with its delta; infinite where no level is proved."""

    epsilon: UpperBound
    delta: float = 0.0


def about_intervals(rule: str, under: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a theorem about secrets inside intervals was used, here or for a family's member."""
    if rule == "family":
        return any(about_intervals(_rule(step), step.get("premises", ())) for step in under)
    return rule in BY_NAME and BY_NAME[rule].secrets_in_intervals


def covers_vague_knowledge(
    level: LevelAtDelta, adversary: Adversary, *steps: tuple[str, Sequence[Mapping[str, Any]]]
) -> bool:
    """Whether the theorems of all conversions cover vague knowledge of single records.

    The `level` is against this `adversary`, and each of the `steps` is a conversion's theorem with
    the steps under it.
    """
    known = adversary == "any" and level.delta == 0.0
    return known and all(_covers_vague(rule, under) for rule, under in steps)


def _covers_vague(rule: str, under: Sequence[Mapping[str, Any]]) -> bool:
    if rule == "family":
        deciding_steps = [step for step in under if _rule(step) != "sequential-composition"]
        return bool(deciding_steps) and all(
            _covers_vague(_rule(step), step.get("premises", ())) for step in deciding_steps
        )
    return rule in BY_NAME and BY_NAME[rule].covers_vague_knowledge


def _rule(step: Mapping[str, Any]) -> str:
    return str(step.get("rule") or step.get("theorem"))


def level_outside(
    population: Mapping[str, Any] | None, adversary: Adversary, cost: LevelAtDelta
) -> LevelAtDelta | None:
    """The level for secret values anywhere, by the theorems that don't restrict them.

    It is that of a mechanism of this DP `cost` for the `population`, against the `adversary`.
    `None` where the population isn't known here (a file that is not at hand).
    """
    if population is None:
        return None
    try:
        question = Question(parse(population), adversary, "unbounded")
        if cost.delta == 0.0:
            return LevelAtDelta(report(question, Cost(any=cost.epsilon)).best.epsilon)
        table = approximate(question, ApproxDP(cost.epsilon, UpperBound(cost.delta)))
    except BayesdpError:
        return None
    return (
        LevelAtDelta(table.best.epsilon, table.best.delta)
        if table.bounds
        else LevelAtDelta(UpperBound(math.inf))
    )


def joint_level(
    population: Mapping[str, Any], cost: LevelAtDelta
) -> tuple[int | None, LevelAtDelta | None]:
    """How many records are related, and the level for facts about all of them (theory 3.2).

    To replace all records of a group is as many changes of one record, and other groups say nothing
    of this one.
    """
    if STRUCTURE.get(str(population.get("model"))) == "all records":
        return None, None  # and nothing is read, which may be long
    try:
        law = parse(population)
    except BayesdpError:
        return None, None
    if law.structure not in ("cluster", "series", "panel") or law.group_size < 2:
        return None, None
    return law.group_size, group_level(cost, law.group_size)


def no_lower(joint: LevelAtDelta | None, level: LevelAtDelta) -> LevelAtDelta | None:
    """The level for facts about a group, shown no lower than that for one of its records.

    With a larger delta it may have a lower epsilon, which would read like a stronger promise.
    """
    return None if joint is None else LevelAtDelta(max(joint.epsilon, level.epsilon), joint.delta)


def group_level(level: LevelAtDelta, size: int) -> LevelAtDelta:
    """The level of a DP level for groups of `size` records (theory 3.2, 3.10)."""
    joint = group(size, ApproxDP(level.epsilon, UpperBound(level.delta)))
    return LevelAtDelta(joint.epsilon, joint.delta)
