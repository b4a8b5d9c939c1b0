"""A finite channel under a finite law, and the forms that the evaluators share.

Axes of records come in the order of the population, the last axis of a channel is for outcomes. An
*extended* axis has one more slot for "unknown" (theory 3.9 a). NaN stands for a condition that
the population excludes; `-inf` for an outcome of probability zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.leakage.tensor import channel_of, conditional, extended, tensor_error
from bayesdp.numbers import Exact

Index = tuple[int, ...]

MOST_CELLS = 2**22
"""The largest extended tensor, in cells times outcomes, that all notions are evaluated on."""


@dataclass(frozen=True)
class Witness:
    """What attains a level. Only fields that the notion needs are set.

    `likely` and `unlikely` are values of `records`: the outcome speaks for the first against the
    second. `belief` is the probability of `likely` in the comparison posterior (`sp`, `bsp`).
    `record` is the attacked one, `default` what replaces it, `known` the records that the adversary
    knows, with `known_values`. `secrets` names a pair. `member` is the number of a family's member.
    `limit` says that the level is approached and not reached.
    """

    outcome: int
    record: int | None = None
    default: int | None = None
    known: Index = ()
    known_values: Index = ()
    records: Index = ()
    likely: Index = ()
    unlikely: Index = ()
    secrets: tuple[str, str] | None = None
    belief: float | None = None
    member: int | None = None
    limit: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the fields that are set."""
        plain: dict[str, Any] = {"outcome": self.outcome}
        for name in ("record", "default", "belief", "member"):
            if getattr(self, name) is not None:
                plain[name] = getattr(self, name)
        for name in ("known", "known_values", "records", "likely", "unlikely"):
            if getattr(self, name) or (name.startswith("known") and self.known):
                plain[name] = list(getattr(self, name))
        if self.secrets is not None:
            plain["secrets"] = list(self.secrets)
        if self.limit:
            plain["limit"] = True
        return plain


@dataclass(frozen=True)
class AttainedLevel:
    """A level in its notion's unit, and what attains it (`None` where nothing differs)."""

    level: Exact
    by: Witness | None = None


NOTHING = AttainedLevel(Exact(0.0, 0.0))


def larger(first: AttainedLevel, second: AttainedLevel) -> AttainedLevel:
    """The larger level; of equal levels the first if it has a witness."""
    if second.level > first.level or (first.by is None and second.level == first.level):
        return second
    return first


def worse(level: float, than: AttainedLevel) -> bool:
    """Whether a level is larger than `than`; -1 stands for nothing to compare."""
    return level > than.level or (than.by is None and level >= 0.0)


@dataclass(frozen=True, eq=False)
class LawAndChannel:
    """A law and a channel for the same records. Only `of` checks them.

    `joint` sums to 1; `channel` has one axis for each record and a last one for outcomes.
    """

    joint: Floats
    channel: Floats

    @classmethod
    def of(cls, joint: Any, channel: Any, key: str = "channel") -> LawAndChannel:
        """A law and a channel of its shape, checked.

        `joint` has one axis for each record, `channel` one more for outcomes. Raises `InputError`
        for what is not a law or not a channel for it, `UnsupportedError` where the records have too
        many values for all notions.
        """
        law = np.asarray(joint, dtype=float)
        total = float(law.sum()) if law.ndim and law.size else math.nan
        if not (law.ndim and law.size and law.min() >= 0.0 and abs(total - 1.0) <= 1e-9):
            raise InputError(
                "joint", f"sum {total:.12g}", expected="probabilities that sum to 1 within 1e-9"
            )
        checked = channel_of(channel, law.shape, key)
        require_small(law.shape, checked.shape[-1])
        return cls(law / total, checked)

    @property
    def sizes(self) -> Index:
        """The number of values of each record."""
        return tuple(int(size) for size in self.joint.shape)

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.joint.ndim

    @property
    def error(self) -> float:
        """How far a level may be off: sums along the axes, logarithms up to 700 (theory 3.9 a)."""
        return 2.0 * tensor_error(self.sizes)

    def attained(self, level: float, by: Witness | None) -> AttainedLevel:
        """A computed level with its error; a level of 0 has none where no two values compare."""
        return AttainedLevel(Exact(level, 0.0 if by is None else self.error), by)

    @cached_property
    def mass(self) -> Floats:
        """`P[x_K]` for all sets K: the extended law."""
        return extended(self.joint[..., None])[..., 0]

    @cached_property
    def logs(self) -> Floats:
        """`ln P[y | x_K]` for all K at once, up to a constant for each outcome."""
        scaled = self.joint / self.joint.max()
        with np.errstate(divide="ignore"):
            log_mass = np.log(extended(scaled[..., None])[..., 0])
        return conditional(scaled, self.channel, log_mass)

    @cached_property
    def log_channel(self) -> Floats:
        """`ln P[y | x]` for all databases, possible or not."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.channel))

    def values_of(self, logs: Floats, record: int) -> Floats:
        """An extended array without the "unknown" slot of one record."""
        inner = [slice(None)] * logs.ndim
        inner[record] = slice(0, self.sizes[record])
        return logs[tuple(inner)]

    def known_at(self, place: Index, record: int) -> tuple[Index, Index]:
        """The known records and their values at a place of an extended array, `record` apart."""
        known = tuple(j for j in range(self.records) if j != record and place[j] < self.sizes[j])
        return known, tuple(place[j] for j in known)


def require_small(sizes: Index, outcomes: int) -> None:
    """Raises `UnsupportedError` where the extended tensor is too large for all notions."""
    cells = math.prod(size + 1 for size in sizes) * outcomes
    if cells > MOST_CELLS:
        raise UnsupportedError(
            "model",
            f"{len(sizes)} records and {outcomes} outcomes, an extended tensor of {cells:.3g} "
            "cells",
            expected=f"at most {MOST_CELLS} cells: the product of (values + 1) over the records, "
            "times the outcomes",
            remedy="Fewer records, values or outcomes; `bayesdp leakage --mechanism` goes further "
            "for BDP alone, and its theorems need no channel.",
        )


def gap(high: Floats, low: Floats) -> Floats:
    """`high - low`, infinite where nothing bounds it, and -1 where there is nothing to compare.

    Of two equal infinities `+inf` (every comparison is unbounded) gives infinity, `-inf` (the
    outcome is impossible) gives -1.
    """
    with np.errstate(invalid="ignore"):
        out = np.asarray(high - low)
    out = np.where(np.isposinf(high), np.inf, out)
    return np.where(np.isnan(out), -1.0, out)


def extremes(logs: Floats, axis: int) -> tuple[Floats, Floats]:
    """The largest and the smallest along an axis, without NaN."""
    with np.errstate(invalid="ignore"):
        return np.fmax.reduce(logs, axis=axis), np.fmin.reduce(logs, axis=axis)


def pick(array: Floats) -> Index:
    """The position of the largest entry."""
    return tuple(int(a) for a in np.unravel_index(int(np.argmax(array)), array.shape))


def pick_high(array: Floats) -> Index:
    """The position of the largest entry that is not NaN."""
    return tuple(int(a) for a in np.unravel_index(int(np.nanargmax(array)), array.shape))


def pick_low(array: Floats) -> Index:
    """The position of the smallest entry that is not NaN."""
    return tuple(int(a) for a in np.unravel_index(int(np.nanargmin(array)), array.shape))
