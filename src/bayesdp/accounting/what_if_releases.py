"""The list of releases that `compose` reads: each one checked, with the level that it has alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError, did_you_mean
from ..leakage.channel import channel_leakage
from ..leakage.tensor import Floats
from ..notions import Kind
from ..populations.files import read_json
from ..theorems import Question
from .expressions import Mechanism
from .what_if_answer import Planned
from .what_if_blocks import check_together, checked_block
from .what_if_deltas import has_deltas, own_level, shares
from .what_if_kinds import has_vectors, read_lipschitz
from .what_if_levels import proved

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


def checked_list(raw: object) -> list[Any]:
    """The list of releases as it stands in the document, or `InputError`."""
    if not isinstance(raw, list) or not raw:
        raise InputError("releases", raw, expected="a list of releases")
    if len(raw) > MOST_RELEASES:
        raise InputError(
            "releases", f"a list of {len(raw)}", expected=f"at most {MOST_RELEASES} releases"
        )
    return raw


def planned_releases(raw: list[Any], question: Question, delta: float) -> tuple[Planned, ...]:
    """The releases, each with its own level; `InputError` naming the one that is wrong.

    Each own level has a part of `delta`, so that all of them together are levels at `delta`.
    """
    approximate = has_deltas(raw)
    if approximate and delta == 0.0:
        raise InputError(
            "releases",
            "a delta",
            expected="pure costs for a level without delta",
            remedy="Add --delta, such as --delta 1e-6.",
        )
    parts = shares(raw, delta) if approximate else [delta / len(raw)] * len(raw)
    levels: Levels = {}
    releases = tuple(
        _planned(release, position, question, parts[position], levels, approximate)
        for position, release in enumerate(raw)
    )
    check_together([release.block for release in releases])
    return releases


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
            levels[known], _, _ = proved(alone, question, 0.0 if approximate else delta)
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
