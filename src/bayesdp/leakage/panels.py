"""Panels: one message for each kind of pair (theory 3.7p), and whole steps (theory 3.7q).

A cluster has few kinds of pairs, and one message serves all pairs of a kind. The way to the least
messages leads down from `ln R` of each kind: every round makes a proof from a proof, so that it may
end anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import UpperBound, times_above, up
from bayesdp.populations import Panel

MESSAGES = (
    "own",
    "others later",
    "others now",
    "member to state",
    "state to member",
    "state to state",
)
"""The kinds of messages, in the order of a witness. What a change of a record passes on: to the
member's own neighbouring steps, to another member's, to another member at the same step, to the
shared state. And what a change of that state passes on: to a member, to its own neighbouring steps.
"""

_MOST_ROUNDS = 20_000
"""A search that ends after them has a level that is proved, only not the least."""
_STILL = 1e-15
"""Rounds end where no message falls by a larger share of itself."""


@dataclass(frozen=True, slots=True)
class PanelLevel:
    """A level, rounded up, and the messages that prove it, in the order of `MESSAGES`."""

    epsilon: UpperBound
    messages: tuple[float, ...]


def log_ratios(panel: Panel) -> tuple[float, ...] | None:
    """`ln R` of each kind of message, rounded up; `None` where one that is needed is left open."""
    if panel.others_now is None and panel.series > 1:
        return None
    if panel.shared_previous is not None and panel.shared_now is None:
        return None
    shared_now = panel.shared_now or 1.0
    ratios = (
        panel.own_previous,
        panel.others_previous or 1.0,
        panel.others_now or 1.0,
        shared_now,
        shared_now,
        panel.shared_previous or 1.0,
    )
    return tuple(up(math.log(ratio), 2) if ratio > 1.0 else 0.0 for ratio in ratios)


def pairs_level(panel: Panel, dp_epsilon: float, deadline: Deadline = NEVER) -> PanelLevel:
    """`eps` and all messages into a record (theory 3.7p), never above the cost of the cluster.

    `log_ratios` of the panel must be known. In nats; at the deadline by messages that are proven,
    only not the least.
    """
    logs = log_ratios(panel)
    assert logs is not None
    arriving = _arriving(panel)
    y = logs
    for _ in range(_MOST_ROUNDS):
        following = tuple(
            min(old, _passed(_summed(arriving[kind], y, dp_epsilon), logs[place]))
            for place, (kind, old) in enumerate(zip(MESSAGES, y, strict=True))
        )
        moved = any(new < old * (1.0 - _STILL) for new, old in zip(following, y, strict=True))
        y = following
        if not moved or deadline.passed:
            break
    whole = times_above(panel.group_size, dp_epsilon)
    return PanelLevel(UpperBound(min(_summed(arriving["record"], y, dp_epsilon), whole)), y)


def blocks_level(panel: Panel, dp_epsilon: float) -> UpperBound:
    """`4 asinh(sqrt(R) sinh(m eps / 4))`, `R` of whole steps, in nats, rounded up (theory 3.7q).

    Never above the cost of the cluster.
    """
    members = panel.series
    log_ratio = up(
        members * math.log(panel.own_previous)
        + float(members) * (members - 1) * math.log(panel.others_previous or 1.0)
        + math.log(panel.shared_previous or 1.0),
        12,
    )
    cost = times_above(members, dp_epsilon)
    whole = times_above(panel.group_size, dp_epsilon)
    # asinh(e^h sinh q) <= h + q, and nearly that where one of them is large.
    level = up(2.0 * log_ratio + cost, 2)
    if log_ratio / 2.0 + cost / 4.0 < 300.0:
        closed = 4.0 * math.asinh(math.exp(log_ratio / 2.0) * math.sinh(cost / 4.0))
        level = min(level, up(closed, 64 + round(2.0 * log_ratio)))
    return UpperBound(min(level, whole) if panel.length > 1 else whole)


def _arriving(panel: Panel) -> Mapping[str, tuple[float, ...]]:
    """What each message hands on: how often the cost, and each kind of message, arrives first.

    In the order of `MESSAGES` behind the cost; `record` is what arrives at a record in all. Where
    a cluster has no pair of a kind, its message counts nowhere.
    """
    near = 2  # also of a single step: a cluster may go on where no record is listed
    others = panel.series - 1
    shared = panel.shared_previous is not None
    own, later, now, state = near, near * others, others, int(shared)

    def without(kind: str) -> tuple[float, ...]:
        counts = dict(zip(MESSAGES, (own, later, now, state, 0, 0), strict=True))
        return (1.0, *(float(max(n - (name == kind), 0)) for name, n in counts.items()))

    # The mechanism does not read the state: it has no cost of its own.
    of_state = (0.0, 0.0, 0.0, 0.0, 0.0)
    return {
        "record": without(""),
        "own": without("own"),
        "others later": without("others later"),
        "others now": without("others now"),
        "member to state": (*of_state, float(others), float(near)),
        "state to member": without("member to state"),
        "state to state": (*of_state, float(panel.series), float(near - 1)),
    }


def _summed(counts: tuple[float, ...], y: tuple[float, ...], dp_epsilon: float) -> float:
    """The cost and the messages, as often as each arrives, rounded up."""
    parts = zip(counts, (dp_epsilon, *y), strict=True)
    return up(math.fsum(count * value for count, value in parts), 4)


def _passed(s: float, log_ratio: float) -> float:
    """`min(ln f(e^s; R), s, ln R)`, rounded up."""
    below = math.exp(-s / 2.0) + math.exp(-log_ratio / 2.0)
    if below < 1e-300:
        return min(s, log_ratio)
    gained = math.expm1(-s / 2.0) * math.expm1(-log_ratio / 2.0) / below
    return min(up(2.0 * math.log1p(gained), 64), s, log_ratio)
