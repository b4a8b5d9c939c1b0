"""The exact leakage of one finite channel under a finite law, for all adversaries (theory 3.9 a).

Every record's axis gets one more slot, the sum over the axis. In the extended tensor of `pi(x)
P[y | x]` a cell whose slot `i` holds a value, slots `K` hold values and all others are sums is
`P[y, x_i, x_K]`; so one tensor holds these for all `(i, K)`, and divided by the extended tensor of
`pi` it holds `P[y | x_i, x_K]`. The leakage of record `i` is the largest difference of logarithms
along axis `i`. Cost: `n (|W| + 1)^n |Y|` simple operations, streamed through the processor's cache.

### 3.9 Exact leakage of a given mechanism

`L` is about the worst mechanism of a DP cost. A given one may leak less, never more.

#### a. A finite channel and a finite law

**Statement** (`tensor_leakage`). Give each record's axis one more slot, for the sum over the axis,
and extend the tensor `pi(x) P[y | x]` by all these sums. The cell whose slot `i` is a value, whose
slots `K` are values and whose other slots are sums is `P[y, x_i, x_K]`. So one tensor with the
product of `|W_j| + 1` over the records as its number of cells, for each outcome, holds these
for *all* adversaries; divided by the same tensor for `pi` it holds `P[y | x_i, x_K]`, and the
leakage of record `i` is the largest difference of logarithms along axis `i`. Cells in which no
other slot is a sum give the class `informed`, those in which all are give `uninformed`.

**Proof.** The definition in section 1. The cost is `n (|W| + 1)^n |Y|` operations. Sums of
non-negative numbers keep relative errors within a few units in the last place. An outcome that is
possible under `x_i` and not under `x_i'` makes the level infinite; one that is possible under
neither says nothing. ∎

*Example.* `bayesdp leakage POP --mechanism FILE`, where FILE holds `{"channel": [...]}`, shows this
number beside the bounds for all mechanisms of the same DP level.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.notions import ADVERSARIES, Adversary
from bayesdp.numbers import UNIT, Exact

MEMORY = 2 * 2**30
"""The most bytes that the engine takes at a time, by default."""

ROW_TOLERANCE = 1e-9
"""How far from 1 the sum of the outcomes' probabilities may be."""

_CHUNK = 2**15
"""The numbers of a piece that fits into a processor's cache. Speed only."""
_SMALLEST = 1e-280
"""Smaller probabilities of possible outcomes are refused: doubles might take them for 0."""


@dataclass(frozen=True, slots=True)
class Attained:
    """An attack, and the outcome at which it learns most.

    `known` and `known_values` say what the adversary knows; `value` is more likely than `other`.
    """

    record: int
    known: tuple[int, ...]
    known_values: tuple[int, ...]
    value: int
    other: int
    outcome: int

    def to_dict(self) -> dict[str, Any]:
        """The attack as plain data, as `bayesdp leakage --mechanism --json` prints it."""
        return {
            "record": self.record,
            "known": list(self.known),
            "known_values": list(self.known_values),
            "value": self.value,
            "other": self.other,
            "outcome": self.outcome,
        }


@dataclass(frozen=True, slots=True)
class AdversaryLevel:
    """The level of a class of adversaries: the largest, its attack, and that of each record."""

    bdp: Exact
    attained: Attained | None
    by_record: tuple[Exact, ...]


@dataclass(frozen=True, slots=True)
class TensorLeakage:
    """What a channel leaks. Levels in nats, possibly infinite, each right up to `error`.

    `dp` is the channel's level under differential privacy, on all databases, possible or not.
    Where the channel is the same for all databases, every level is 0 without error.
    """

    levels: dict[Adversary, AdversaryLevel]
    dp: Exact
    error: float


def channel_of(raw: Any, shape: tuple[int, ...], key: str = "channel") -> Floats:
    """A nested array as a channel: one axis for each record, and the last for outcomes.

    `shape` holds the records' numbers of values. Raises `InputError` about `key` for another shape,
    for what is not a probability, and for rows that don't sum to 1 within 1e-9.
    """
    try:
        channel = np.asarray(raw, dtype=float)
    except (ValueError, TypeError, OverflowError):
        channel = np.zeros(0)
    axes = " x ".join(map(str, shape))
    if channel.ndim != len(shape) + 1 or channel.shape[:-1] != shape or channel.shape[-1] < 1:
        raise InputError(
            key,
            f"an array of shape {channel.shape}" if channel.size else "no array of numbers",
            expected=f"a nested array of shape {axes} x outcomes: one axis for each record and "
            "the last for outcomes",
        )
    wrong = ~((channel >= 0.0) & (channel <= 1.0 + ROW_TOLERANCE))
    if wrong.any():
        place = np.unravel_index(int(np.argmax(wrong)), channel.shape)
        raise InputError(
            key + "".join(f"[{i}]" for i in place), float(channel[place]), expected="a probability"
        )
    off = np.abs(channel.sum(axis=-1) - 1.0)
    if off.max() > ROW_TOLERANCE:
        place = np.unravel_index(int(np.argmax(off)), shape)
        raise InputError(
            key + "".join(f"[{i}]" for i in place),
            f"a law with sum {float(channel[place].sum()):.12g}",
            expected=f"probabilities of the outcomes that sum to 1 within {ROW_TOLERANCE:g}",
        )
    return channel


def tensor_leakage(
    joint: Floats,
    channel: Floats,
    *,
    memory: int = MEMORY,
    progress: Callable[[float], None] | None = None,
) -> TensorLeakage:
    """The leakage of a channel to all adversaries at once.

    `joint` has one axis for each record; `channel` the same and a last one for outcomes. Outcomes
    are taken in blocks so that no more than `memory` bytes are in use. `progress` is called with
    the share that is done, from the first second on. Raises `InputError` for an array that
    is not a channel; `UnsupportedError` where one outcome needs more than `memory`, or where
    probabilities are below 1e-280, which double precision would take for 0.
    """
    channel = channel_of(channel, joint.shape)
    report = _Progress(progress, joint.ndim)
    joint = joint / joint.max()
    with np.errstate(divide="ignore"):
        log_mass = np.log(extended(joint[..., None])[..., 0])
        informed = np.where(joint[..., None] > 0.0, np.log(channel), np.nan)
        dp = max((_spread(np.log(channel), i)[0] for i in range(joint.ndim)), default=0.0)
    worst_by_adversary = {name: _Worst(joint.shape, name) for name in ADVERSARIES}
    for i in range(joint.ndim):
        worst_by_adversary["informed"].take(i, informed, 0)
    outcomes = channel.shape[-1]
    block = _block(log_mass.size, outcomes, memory)
    for start in range(0, outcomes, block):
        report.block(start / outcomes, block / outcomes)
        log_ratio = conditional(joint, channel[..., start : start + block], log_mass)
        for i in range(joint.ndim):
            worst_by_adversary["any"].take(i, log_ratio, start)
            sums = tuple(slice(None) if j == i else slice(-1, None) for j in range(joint.ndim))
            worst_by_adversary["uninformed"].take(i, log_ratio[sums], start)
            report.record(i)
    error = tensor_error(joint.shape)
    # Else a level of 0 may be a small one that is lost in the logarithms.
    constant = bool((channel == channel.reshape(-1, outcomes)[0]).all())
    off = 0.0 if constant else error
    levels = {name: worst.level(off) for name, worst in worst_by_adversary.items()}
    return TensorLeakage(levels, Exact(dp, off), error)


def tensor_error(sizes: Sequence[int]) -> float:
    """How far levels of records with these numbers of values may be off: sums, and logarithms."""
    return (8.0 * (sum(sizes) + 16) + 2800.0) * UNIT  # logarithms up to 700


def _block(cells: int, outcomes: int, memory: int) -> int:
    """The outcomes of a block: memory holds the tensor, and a copy while a sum is attached."""
    fixed, varying = 24 * cells, 20 * cells
    block = (memory - fixed) // varying
    if block < 1:
        raise UnsupportedError(
            "channel",
            f"an extended tensor of {cells} cells",
            expected=f"at most {memory // 2**20} MiB; it needs {(fixed + varying) // 2**20 + 1}",
            remedy="Fewer records, or fewer values; theorems need no channel.",
        )
    return min(outcomes, int(block))


def extended(array: Floats) -> Floats:
    """Each axis but the last gets a slot for its sum."""
    shape = array.shape
    out = np.empty((*(size + 1 for size in shape[:-1]), shape[-1]))
    out[tuple(slice(0, size) for size in shape)] = array
    # Axes that are done have all their slots, later axes only their values so far.
    for axis in range(len(shape) - 1):
        filled = [slice(None)] * axis
        rest = [slice(0, size) for size in shape[axis + 1 : -1]]
        source = out[(*filled, slice(0, shape[axis]), *rest)]
        np.sum(source, axis=axis, out=out[(*filled, shape[axis], *rest)])
    return out


def conditional(joint: Floats, channel: Floats, log_mass: Floats) -> Floats:
    """`ln P[y | x_i, x_K]`, up to a constant for each outcome; NaN where the condition can't be.

    Scaling an outcome changes no ratio, and keeps small probabilities away from underflow. Raises
    `UnsupportedError` for a product that is so small that double precision would take it for 0.
    """
    largest = channel.reshape(-1, channel.shape[-1]).max(axis=0)
    product = channel / np.where(largest > 0.0, largest, 1.0)
    possible = (product > 0.0) & (joint[..., None] > 0.0)
    product *= joint[..., None]
    if bool(np.any(possible & (product < _SMALLEST))):
        raise UnsupportedError(
            "channel",
            "a probability so small",
            expected=f"probabilities of outcomes times databases above {_SMALLEST:g}, relative to "
            "the largest",
            remedy="Double precision would take it for 0.",
        )
    tensor = extended(product)
    flat = tensor.reshape(-1, tensor.shape[-1])
    mass = log_mass.reshape(-1)
    impossible = np.isneginf(mass)
    rows = max(1, _CHUNK // flat.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, len(flat), rows):
            part = flat[start : start + rows]
            np.log(part, out=part)
            part -= mass[start : start + rows, None]
    if impossible.any():
        flat[impossible] = np.nan
    return tensor


class _Worst:
    """The largest difference so far, for one class of adversaries."""

    def __init__(self, shape: tuple[int, ...], adversary: Adversary) -> None:
        self.shape = shape
        self.adversary = adversary
        self.by_record = [0.0] * len(shape)
        self.best = -1.0
        self.attained: Attained | None = None

    def take(self, record: int, logs: Floats, first_outcome: int) -> None:
        """Compare along the axis of a record; the last axis of `logs` is for outcomes."""
        values = self.shape[record]
        inner = logs[
            tuple(slice(0, values) if j == record else slice(None) for j in range(logs.ndim))
        ]
        largest, place = _spread(inner, record)
        self.by_record[record] = max(self.by_record[record], largest)
        if place is None or largest <= self.best:
            return
        self.best = largest
        self.attained = self._attack(record, inner, place, first_outcome)

    def _attack(
        self, record: int, inner: Floats, place: tuple[int, ...], first_outcome: int
    ) -> Attained:
        """The attack at a cell of `inner` without the record's axis."""
        *others, outcome = place
        line: Any = (*others[:record], slice(None), *others[record:], outcome)
        column = inner[line]
        known, values = [], []
        for j, slot in zip((j for j in range(len(self.shape)) if j != record), others, strict=True):
            if self.adversary != "uninformed" and slot < self.shape[j]:
                known.append(j)
                values.append(int(slot))
        return Attained(
            record,
            tuple(known),
            tuple(values),
            int(np.nanargmax(column)),
            int(np.nanargmin(column)),
            first_outcome + int(outcome),
        )

    def level(self, error: float) -> AdversaryLevel:
        """The largest differences as a level; 0 without error where no two values compare."""
        exact = Exact(0.0, 0.0) if self.attained is None else Exact(self.best, error)
        by_record = tuple(Exact(largest, error) for largest in self.by_record)
        return AdversaryLevel(exact, self.attained, by_record)


def _spread(logs: Floats, axis: int) -> tuple[float, tuple[int, ...] | None]:
    """The largest difference along an axis, without NaN, and where (without that axis).

    An outcome with `-inf` everywhere is impossible and counts as 0; `-inf` beside anything finite
    makes the difference infinite.
    """
    size = logs.shape[axis]
    best, place = -1.0, None
    if size < 2:
        return 0.0, None
    moved = np.moveaxis(logs, axis, 0)
    for index, part in _pieces(moved):
        gap = _gaps(part)
        largest = float(gap.max())
        if math.isnan(largest):
            largest = float(np.fmax.reduce(gap, axis=None, initial=-1.0))
        if largest > best:
            best = largest
            inside = np.unravel_index(int(np.nanargmax(gap)), gap.shape)
            place = tuple(int(a) + b for a, b in zip(inside, index, strict=True))
    return max(best, 0.0), place


def _gaps(part: Floats) -> Floats:
    """The largest difference along the first axis, in every other place."""
    gap: Floats
    with np.errstate(invalid="ignore"):
        if len(part) == 2:
            gap = part[0] - part[1]
            return np.abs(gap, out=gap)
        high = np.fmax(part[0], part[1])
        low = np.fmin(part[0], part[1])
        for slab in part[2:]:
            np.fmax(high, slab, out=high)
            np.fmin(low, slab, out=low)
        gap = np.subtract(high, low, out=high)
    return gap


def _pieces(moved: Floats) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Pieces that fit into the cache, and where they start on the axes after the first."""
    shape = moved.shape[1:]
    budget = max(1, _CHUNK // moved.shape[0])
    # The last axes stay whole as far as they fit, the axis before is cut, the first are looped.
    inner, axis = 1, len(shape)
    while axis > 0 and inner * shape[axis - 1] <= budget:
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield (0,) * len(shape), moved
        return
    step = max(1, budget // inner)
    for lead in np.ndindex(*shape[: axis - 1]):
        whole = (slice(None), *(slice(i, i + 1) for i in lead))
        for start in range(0, shape[axis - 1], step):
            index = (*lead, start, *(0,) * (len(shape) - axis))
            yield index, moved[(*whole, slice(start, start + step))]


class _Progress:
    """Calls back, once a second has passed, with the share that is done."""

    def __init__(self, callback: Callable[[float], None] | None, records: int) -> None:
        self.callback = callback
        self.records = records
        self.began = time.monotonic()
        self.done, self.share = 0.0, 1.0

    def block(self, done: float, share: float) -> None:
        """Report that a block of outcomes begins."""
        self.done, self.share = done, share

    def record(self, record: int) -> None:
        """Report that a record of the block is done."""
        if self.callback is not None and time.monotonic() - self.began > 1.0:
            part = (record + 1) / max(1, self.records)
            self.callback(min(1.0, self.done + self.share * part))
