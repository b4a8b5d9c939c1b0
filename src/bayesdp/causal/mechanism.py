"""What is published about the data points: a channel as a table, or a count or sum with noise.

As plain data: `{"channel": nested array}`, `{"count": "ill", "epsilon": 1}` or `{"sum": [0, 1, 5],
"epsilon": 1}`. Counts and sums get discrete Laplace noise; they depend on the data only through a
total, which is what makes many records feasible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesdp.arrays import Floats
from bayesdp.causal.elimination import MOST_CELLS
from bayesdp.errors import (
    InputError,
    UnsupportedError,
    closest,
    did_you_mean,
    explain_validation,
)
from bayesdp.leakage.tensor import channel_of

LARGEST_TOTAL = 2000
_LARGEST_EXPONENT = 650.0
_KEY = "mechanism"


class _Mechanism(BaseModel):
    """What is published, as data. Raises `InputError` naming the key, the value and the remedy."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise explain_validation(error, type(self), data, _KEY) from None

    def spec(self) -> dict[str, Any]:
        """The mechanism as plain data: what a model's file holds."""
        return self.model_dump(mode="json")


class Channel(_Mechanism):
    """A channel as a nested array: one axis for each data point, and the last for outcomes.

    Rows sum to 1 within 1e-9; they are checked when a model uses it.
    """

    channel: Any


class NoisyCount(_Mechanism):
    """How many data points have one of the values `count`, with noise of DP cost `epsilon`.

    The noise is discrete Laplace. The published number is taken into the range from 0 to the
    number of data points, which loses nothing (theory 5.3).
    """

    count: str | tuple[str, ...]
    epsilon: float = Field(gt=0.0)


class NoisySum(_Mechanism):
    """The sum of whole-number scores of the data points, with noise of DP cost `epsilon`.

    `sum` holds one score for each value, the same for all data points, or such a list for each of
    them. The noise is discrete Laplace, scaled to the largest difference of a data point's scores.
    """

    sum: tuple[int, ...] | tuple[tuple[int, ...], ...] = Field(min_length=1)
    epsilon: float = Field(gt=0.0)


CausalMechanism: TypeAlias = Channel | NoisyCount | NoisySum
KINDS: dict[str, type[CausalMechanism]] = {"channel": Channel, "count": NoisyCount, "sum": NoisySum}


@dataclass(frozen=True, slots=True)
class ChannelTable:
    """A checked channel; `dp_epsilon` is its level over all databases."""

    channel: Floats
    outcomes: tuple[str, ...]
    dp_epsilon: float


@dataclass(frozen=True, slots=True)
class OfTotal:
    """A channel that sees only a total: `scores` from 0 for each record, `kernel[total, y]`."""

    scores: tuple[tuple[int, ...], ...]
    kernel: Floats
    outcomes: tuple[str, ...]
    dp_epsilon: float


Compiled: TypeAlias = ChannelTable | OfTotal


def mechanism_of(raw: Any) -> CausalMechanism:
    """A mechanism from plain data, a nested array or a mechanism.

    Raises `InputError` for anything else.
    """
    if isinstance(raw, _Mechanism):
        assert isinstance(raw, Channel | NoisyCount | NoisySum)
        return raw
    if not isinstance(raw, Mapping):
        return Channel(channel=raw)
    for key, kind in KINDS.items():
        if key in raw:
            return kind(**raw)
    wrong = next(iter(raw), "nothing")
    raise InputError(
        _KEY,
        wrong,
        expected='{"channel": ...}, {"count": ..., "epsilon": ...} or {"sum": ..., "epsilon": ...}',
        remedy=closest(str(wrong), KINDS),
    )


def compiled(mechanism: CausalMechanism, labels: Sequence[Sequence[str]]) -> Compiled:
    """The mechanism for data points with these values: `labels` names those of each.

    Raises `InputError` where they don't fit, `UnsupportedError` for a channel on too many
    databases.
    """
    sizes = tuple(len(values) for values in labels)
    if isinstance(mechanism, Channel):
        if math.prod(sizes) > MOST_CELLS:
            raise UnsupportedError(
                f"{_KEY}.channel",
                f"a channel on {math.prod(sizes):.6g} databases",
                expected=f"at most {MOST_CELLS}",
                remedy="State a count or a sum as one.",
            )
        channel = channel_of(mechanism.channel, sizes, f"{_KEY}.channel")
        return ChannelTable(channel, _numbers(range(channel.shape[-1])), dp_level(channel))
    if isinstance(mechanism, NoisyCount):
        wanted = mechanism.count
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        known = {value for values in labels for value in values}
        for value in wanted:
            if value not in known:
                raise InputError(
                    f"{_KEY}.count",
                    value,
                    expected="a value of the data points",
                    remedy=did_you_mean(value, known),
                )
        scores = tuple(tuple(int(value in wanted) for value in values) for values in labels)
        return _of_total(scores, mechanism.epsilon)
    return _of_total(_scores(mechanism, sizes), mechanism.epsilon)


def dp_level(channel: Floats) -> float:
    """The largest log ratio between databases that differ in one data point; maybe infinite."""
    return max((log_range(channel, axis) for axis in range(channel.ndim - 1)), default=0.0)


def log_range(laws: Floats, axes: int | tuple[int, ...]) -> float:
    """The largest log ratio along axes, over all other places; outcomes of probability 0 aside."""
    high, low = laws.max(axis=axes), laws.min(axis=axes)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(high > 0.0, np.log(high) - np.log(low), 0.0)
    return float(gap.max(initial=0.0))


def _scores(mechanism: NoisySum, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    given = mechanism.sum
    lists = [scores for scores in given if isinstance(scores, tuple)]
    common = tuple(score for score in given if isinstance(score, int))
    rows = lists if lists else [common] * len(sizes)
    if len(rows) != len(sizes) or any(len(r) != s for r, s in zip(rows, sizes, strict=False)):
        raise InputError(
            f"{_KEY}.sum",
            given,
            expected=f"a score for each value; the data points have {', '.join(map(str, sizes))}",
            remedy="Where they differ, a list of scores for each data point.",
        )
    return tuple(rows)


def _of_total(scores: tuple[tuple[int, ...], ...], epsilon: float) -> OfTotal:
    """Discrete Laplace noise on the total, the result taken into the range of the total."""
    start = sum(min(row) for row in scores)
    shifted = tuple(tuple(score - min(row) for score in row) for row in scores)
    sensitivity = max(max(row) for row in shifted)
    top = sum(max(row) for row in shifted)
    if top == 0:
        return OfTotal(shifted, np.ones((1, 1)), (str(start),), 0.0)
    if top > LARGEST_TOTAL or epsilon * top / sensitivity > _LARGEST_EXPONENT:
        raise UnsupportedError(
            _KEY,
            f"a total with {top:.6g} steps",
            expected=f"at most {LARGEST_TOTAL} steps, and epsilon times the range of the total "
            f"over the sensitivity at most {_LARGEST_EXPONENT:g}",
            remedy="Use scores with fewer steps, or a smaller epsilon.",
        )
    rate = epsilon / sensitivity
    outcomes = _numbers(range(start, start + top + 1))
    steps = np.arange(top + 1)
    kernel = np.exp(-rate * np.abs(steps[:, None] - steps[None, :]))
    kernel[:, 1:-1] *= -math.expm1(-rate)
    return OfTotal(shifted, kernel / (1.0 + math.exp(-rate)), outcomes, epsilon)


def _numbers(values: range) -> tuple[str, ...]:
    return tuple(str(value) for value in values)
