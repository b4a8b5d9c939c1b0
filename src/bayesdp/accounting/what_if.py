"""What several releases cost together: by the rules of the literature, and in truth.

*Naive* is what Zhao (2017, Theorems 1 and 2) would claim: Bayesian levels add up, and on disjoint
blocks the largest sum counts. *Sound* is the level that is proved: composed at the DP level and
converted once, or by independence. *Exact* is what the very channels leak together, on a finite
model. The naive claim is violated where the exact leakage lies above it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..calibration import MOST_LEVELS
from ..errors import InputError, Refusal, did_you_mean
from ..leakage.channel import attack_words, channel_leakage
from ..leakage.deadline import Deadline
from ..leakage.tensor import Floats, tensor_leakage
from ..notions import Adversary, Kind
from ..populations import Population
from ..populations import parse as parse_population
from ..populations.files import read_json
from ..theorems import Question
from .approximate import Approximate
from .composition import converted
from .expressions import (
    Indexed,
    Mechanism,
    Node,
    Parallel,
    Price,
    Private,
    Public,
    Sequential,
    price,
)
from .levels import composed_level
from .spend import SMALLEST_DELTA, Reading, Spend, float_above
from .what_if_blocks import Cell, cells_of, check_together, checked_block
from .what_if_deltas import Composed, has_deltas, own_level, shares, together
from .what_if_kinds import Condition, Lipschitz, has_vectors, read_lipschitz, secrets_condition

_KEYS = (
    "name",
    "dp_epsilon",
    "dp_delta",
    "rho",
    "bdp_epsilon",
    "any_history",
    "channel",
    "block",
    "add_remove",
    "kind",
    "column",
    "interval",
)
MOST_RELEASES = 2000
MOST_OUTCOMES = 4096
"""The most outcomes of all channels together."""

_MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class Planned:
    """One release of the list. `block` tells naive blocks apart; `bdp` is its own level.

    `lipschitz` is `None` for releases of kind `any`.
    """

    mechanism: Mechanism
    block: Mapping[str, Any] | None
    channel: Floats | None
    bdp: float
    lipschitz: Lipschitz | None = None
    dp_delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        one = self.mechanism
        costs = {
            "dp_epsilon": one.dp_epsilon,
            "dp_delta": self.dp_delta,
            "rho": one.rho,
            "block": self.block,
        }
        return {"name": one.name, "bdp_epsilon": _plain(self.bdp), **costs}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer. Levels in nats; `exact` is None without channels, `price` where no DP cost is.

    `violated` says whether the exact leakage lies above the naive claim (None without channels),
    `proved` whether the naive claim is at least the sound level.
    """

    population: Population
    adversary: Adversary
    delta: float
    releases: tuple[Planned, ...]
    naive: float
    added: float
    sound: float
    reason: str
    price: Price | None
    exact: float | None
    attack: str
    condition: Condition | None = None
    rules: tuple[Composed, ...] = ()

    @property
    def violated(self) -> bool | None:
        """Whether the naive claim is false for these very channels."""
        return None if self.exact is None else self.exact > self.naive + _MARGIN

    @property
    def proved(self) -> bool:
        """Whether the naive claim follows all the same."""
        return self.naive >= self.sound - _MARGIN

    @property
    def assuming(self) -> tuple[str, ...]:
        """What is taken on trust: that the columns of blocks by "column" are public."""
        blocks = [one.block for one in self.releases if one.block is not None]
        columns = dict.fromkeys(block["column"] for block in blocks if "column" in block)
        return tuple(f"if '{column}' is public" for column in columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp compose --json` prints it; an infinite level is None."""
        dp = None if self.price is None else self.price.step.to_dict()
        cost = None
        if self.price is not None:
            cost = {"dp_epsilon": self.price.dp_epsilon, "rho": self.price.rho}
        return {
            "adversary": self.adversary,
            "delta": self.delta,
            "releases": [one.to_dict() for one in self.releases],
            "naive": {"added": _plain(self.added), "claim": _plain(self.naive)},
            "sound": {"bdp_epsilon": _plain(self.sound), "reason": self.reason, "dp": cost},
            "exact": None
            if self.exact is None
            else {"bdp": _plain(self.exact), "attained_by": self.attack},
            "rules": [one.to_dict() for one in self.rules],
            "assuming": list(self.assuming),
            "condition": None if self.condition is None else self.condition.to_dict(),
            "violated": self.violated,
            "proved": self.proved,
            "steps": dp,
        }


def read_releases(path: Path) -> Mapping[str, Any]:
    """The JSON document of a list of releases; `InputError` for others."""
    try:
        content = read_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("FILE", str(path), expected=f"a readable file ({error})") from None
    except (ValueError, RecursionError) as error:
        raise InputError("FILE", str(path), expected=f"a JSON document ({error})") from None
    if not isinstance(content, dict):
        raise InputError("FILE", str(path), expected='{"population": ..., "releases": [...]}')
    for name in content:
        if name not in ("population", "releases", "adversary", "source"):
            known = ("population", "releases", "adversary", "source")
            raise InputError(
                str(name),
                expected="a known key",
                remedy=did_you_mean(str(name), known),
                shown=False,
            )
    return content


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
    raw = document.get("releases")
    if not isinstance(raw, list) or not raw:
        raise InputError("releases", raw, expected="a list of releases")
    if len(raw) > MOST_RELEASES:
        raise InputError(
            "releases", f"a list of {len(raw)}", expected=f"at most {MOST_RELEASES} releases"
        )
    if not (delta == 0.0 or SMALLEST_DELTA <= delta < 1.0):
        raise InputError(
            "delta", delta, expected=f"0, or a probability of at least {SMALLEST_DELTA:g} below 1"
        )
    within = Deadline(MOST_LEVELS * seconds)
    question = Question(population, adversary, "bounded", seconds, within)
    if has_deltas(raw) and delta == 0.0:
        raise InputError(
            "releases",
            "a delta",
            expected="pure costs for a level without delta",
            remedy="Add --delta, such as --delta 1e-6.",
        )
    approximate = has_deltas(raw)
    parts = shares(raw, delta) if approximate else [delta / len(raw)] * len(raw)
    levels: Levels = {}
    releases = tuple(
        _planned(one, k, question, parts[k], levels, approximate) for k, one in enumerate(raw)
    )
    check_together([one.block for one in releases])
    condition = secrets_condition(population, [one.lipschitz for one in releases])
    node = _node(releases, condition)
    rules: tuple[Composed, ...] = ()
    if approximate:
        rules = together([_event(one) for one in releases], question, delta)
        sound, reason, priced = _best(rules)
    else:
        sound, reason, priced = _sound(node, question, delta)
    exact, attack = _exact(releases, question)
    if exact is not None and exact > sound + _MARGIN:
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
        added=math.fsum(one.bdp for one in releases),
        sound=sound,
        reason=reason,
        price=priced,
        exact=exact,
        attack=attack,
        condition=condition,
        rules=rules,
    )


def _event(one: Planned) -> Approximate:
    if one.mechanism.dp_epsilon is None:
        raise InputError("releases", one.mechanism.name, expected="a DP cost for every release")
    return Approximate(one.mechanism.dp_epsilon, one.dp_delta)


def _best(rules: Sequence[Composed]) -> tuple[float, str, None]:
    best = rules[0]
    assert best.point is not None
    words = f"composed at the DP level ({best.rule}), converted once by {best.point.theorem}"
    return best.point.bdp_epsilon, words, None


Levels = dict[tuple[float | None, float | None, str], float]
"""Levels of single releases that are known already, by cost and kind."""


def _planned(
    raw: Any,
    position: int,
    question: Question,
    delta: float,
    levels: Levels,
    approximate: bool,
) -> Planned:
    place = f"releases[{position}]"
    if not isinstance(raw, Mapping):
        raise InputError(place, raw, expected='an object such as {"name": ..., "dp_epsilon": 0.5}')
    for name in raw:
        if name not in _KEYS:
            raise InputError(
                f"{place}.{name}",
                expected="a known key",
                remedy=did_you_mean(str(name), _KEYS),
                shown=False,
            )
    block = checked_block(raw.get("block"), f"{place}.block")
    records = None
    if block is not None and "records" in block:
        records = frozenset(
            tuple(one) if isinstance(one, list) else one for one in block["records"]
        )
    given = {key: raw.get(key) for key in ("dp_epsilon", "rho", "bdp_epsilon", "add_remove")}
    channel, own = None, raw.get("bdp_epsilon")
    if "channel" in raw:
        for key in ("dp_epsilon", "rho", "bdp_epsilon"):
            if key in raw:
                raise InputError(f"{place}.{key}", raw[key], expected="nothing beside a channel")
        channel, cost, own = _measured(raw["channel"], question, place)
        _check_reads(channel, records, place)
        finite = math.isfinite(cost)
        given |= {"dp_epsilon": cost if finite else None, "bdp_epsilon": own}
    lipschitz = read_lipschitz(raw, place)
    history = raw.get("any_history", channel is not None)
    if not isinstance(history, bool):
        raise InputError(f"{place}.any_history", history, expected="true or false")
    mechanism = Mechanism(
        str(raw.get("name", f"release {position + 1}")),
        kind=raw.get("kind", "any"),
        records=records,
        any_history=history,
        **given,
    )
    own_delta = float(raw.get("dp_delta", 0.0))
    if own is None and own_delta > 0.0:
        assert mechanism.dp_epsilon is not None
        own = own_level(question, mechanism.dp_epsilon, own_delta, delta)
    if own is None:
        # Of one release alone, on whatever block: what a naive reader would look up.
        kind: Kind = "any" if has_vectors(question.population) else mechanism.kind
        known = mechanism.dp_epsilon, mechanism.rho, kind
        if known not in levels:
            alone = Mechanism(mechanism.name, mechanism.dp_epsilon, mechanism.rho, kind=kind)
            levels[known], _, _ = _sound(alone, question, 0.0 if approximate else delta)
        own = levels[known]
    return Planned(mechanism, block, channel, float(own), lipschitz, own_delta)


def _measured(raw: Any, question: Question, place: str) -> tuple[Floats, float, float]:
    """A channel, its DP cost and its exact level, both rounded up."""
    import numpy as np

    found = channel_leakage(question.population, raw, adversary=question.adversary)
    level = found.level.bdp
    own = math.nextafter(level + found.tensor.error, math.inf) if level > 0.0 else 0.0
    if not math.isfinite(own):
        raise InputError(
            f"{place}.channel", "an infinite level", expected="a channel that excludes no value"
        )
    return np.asarray(raw, dtype=float), found.dp_epsilon, own


def _check_reads(channel: Floats, records: frozenset[Any] | None, place: str) -> None:
    """A channel that is said to read some records only must be constant in the others."""
    if records is None:
        return
    axes = range(channel.ndim - 1)
    if not records <= set(axes):
        raise InputError(
            f"{place}.block.records", sorted(map(str, records)), expected="numbers of records"
        )
    for axis in axes:
        if axis not in records and bool((channel != channel.take([0], axis=axis)).any()):
            raise InputError(
                f"{place}.channel",
                f"an answer that depends on record {axis}",
                expected="one that reads the records of its block only",
            )


def _node(releases: Sequence[Planned], condition: Condition | None) -> Node:
    """The list as an expression: one after the other, blocks side by side where they are."""
    if condition is not None and not condition.together:
        releases = [replace(one, mechanism=replace(one.mechanism, kind="any")) for one in releases]
    parts: list[Node] = []
    private: dict[str, dict[Cell, list[Mechanism]]] = {}
    indexed: dict[frozenset[Any], list[Mechanism]] = {}
    for one in releases:
        block = one.block or {}
        if "private" in block:
            values = private.setdefault(block["private"], {})
            (place,) = cells_of(block)
            values.setdefault(place, []).append(one.mechanism)
        elif "column" in block:
            parts.append(Parallel(Public(block["column"], block["values"]), one.mechanism))
        elif one.mechanism.records is not None:
            indexed.setdefault(one.mechanism.records, []).append(one.mechanism)
        else:
            parts.append(one.mechanism)
    for column, values in private.items():
        parts.append(Parallel(Private(column), *(_in_turn(group) for group in values.values())))
    if sum(map(len, indexed)) == len(frozenset[Any]().union(*indexed)) and indexed:
        groups = [_in_turn(group) for group in indexed.values()]
        parts.append(Parallel(Indexed(*indexed), *groups))
    else:
        parts += [one for group in indexed.values() for one in group]
    return _in_turn(parts)


def _in_turn(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequential(*parts)


def _sound(node: Node, question: Question, delta: float) -> tuple[float, str, Price | None]:
    """The proved level, why, and the DP cost where there is one."""
    try:
        priced = price(node)
    except Refusal:
        found = composed_level(
            node,
            question.population,
            adversary=question.adversary,
            seconds=question.seconds,
            deadline=question.deadline,
        )
        return found.bdp_epsilon, found.reason, None
    if delta == 0.0:
        if priced.rho > 0.0:
            raise InputError(
                "releases",
                "a zCDP cost",
                expected="pure costs for a level without delta",
                remedy="Add --delta, such as --delta 1e-6.",
            )
        found = composed_level(
            node,
            question.population,
            adversary=question.adversary,
            seconds=question.seconds,
            deadline=question.deadline,
        )
        return found.bdp_epsilon, found.reason, priced
    spends = [
        Spend("what if", "row", "all", "any", dp_epsilon=priced.dp_epsilon, rho=0.0)
        for _ in range(priced.dp_epsilon > 0.0)
    ] + [
        Spend("what if", "row", "all", "any", dp_epsilon=0.0, rho=priced.rho)
        for _ in range(priced.rho > 0.0)
    ]
    if not spends:
        return 0.0, "nothing is spent", priced
    spec = {k: v for k, v in question.population.spec().items() if k not in ("source", "covers")}
    reading = Reading("bdp", 1e9, spec, adversary=question.adversary, delta=delta)
    best = converted(reading, spends, fixed=True, search=question.deadline).best
    return best.epsilon, f"composed at the DP level, converted once by {best.theorem}", priced


def _naive(releases: Sequence[Planned]) -> float:
    """Levels added up, the largest of disjoint blocks: Zhao 2017, Theorems 1 and 2."""
    everywhere = Fraction(0)
    blocks: dict[frozenset[Cell], Fraction] = {}
    for one in releases:
        level = Fraction(one.bdp)
        if one.block is None:
            everywhere += level
            continue
        cells = cells_of(one.block)
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

    from ..populations.joint import joint_of

    channels = [one.channel for one in releases if one.channel is not None]
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
    found = tensor_leakage(joint, np.minimum(joined, 1.0)).levels[question.adversary]
    words = "" if found.attained is None else attack_words(question.population, found.attained)
    return found.bdp, words


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
