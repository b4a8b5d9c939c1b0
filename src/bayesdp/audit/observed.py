"""What an attacker sees, as he sees it: mechanisms with the law of their noise.

A `SumWithNoise` is one number, a `Responses` an answer for each record. The noise is that of a
release, and is drawn by OpenDP.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.audit.laws import Evidence
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace, RandomizedResponse

MOST_OUTCOMES = 4_000_000
"""The most outcomes whose probabilities are listed."""

_REACH = 12.0
"""Gaussian noise beyond so many standard deviations has less than 1e-32 of the mass."""


@dataclass(frozen=True)
class SumWithNoise:
    """A whole number for each record, added up, plus noise: a count, a cell, a sum on its grid.

    `adds[x]` is what a record in state `x` adds, the same for all records; or one such row for each
    record. `noise` is `DiscreteLaplace` or `DiscreteGaussian`, in the same steps.
    """

    adds: Sequence[int] | Sequence[Sequence[int]]
    noise: DiscreteLaplace | DiscreteGaussian

    def evidence(self, sizes: Sequence[int]) -> Evidence:
        """What records of these numbers of states contribute, before a release is seen.

        Raises `InputError` unless there is a whole number for each state of each record.
        """
        return Evidence([np.ones(size) for size in sizes], self._rows(sizes))

    def _rows(self, sizes: Sequence[int]) -> list[Ints]:
        raw = list(self.adds)
        rows = raw if raw and isinstance(raw[0], Sequence | np.ndarray) else [raw] * len(sizes)
        outcomes = [np.asarray(row) for row in rows]
        sound = [len(row) for row in outcomes] == list(sizes)
        if not sound or any(row.dtype.kind not in "iub" for row in outcomes):
            raise InputError(
                "adds",
                expected=f"a whole number for each state of a record: {list(sizes[:8])} states",
                shown=False,
            )
        return [row.astype(np.int64) for row in outcomes]

    def densities(self, distances: Ints) -> Floats:
        """The probability of noise of these sizes, up to one factor for all of them."""
        masses: Floats = np.exp(self.logarithms(distances))
        return masses

    def logarithms(self, distances: Ints) -> Floats:
        """The logarithm of `densities`; 0 for no noise."""
        return log_density(self.noise, distances)


@dataclass(frozen=True)
class Responses:
    """An answer for each record, perturbed on its own: `RandomizedResponse`, or any channel.

    `channel[x][y]` is the probability of the answer `y` of a record in state `x`.
    """

    channel: Sequence[Sequence[float]]

    @classmethod
    def by(cls, response: RandomizedResponse) -> Responses:
        """The answers of a `RandomizedResponse` about its states, in their order."""
        return cls(response.channel())

    def evidence(self, sizes: Sequence[int], answers: Sequence[int]) -> Evidence:
        """What the `answers` say of records of these `sizes`; -1 stands for no answer.

        Raises `InputError` for answers that don't fit the channel.
        """
        table = np.asarray(self.channel, dtype=float)
        codes = np.asarray(answers)
        if codes.shape != (len(sizes),) or codes.dtype.kind not in "iu":
            raise InputError(
                "release", expected=f"{len(sizes)} answers, one for each record", shown=False
            )
        sound = table.ndim == 2 and set(sizes) == {table.shape[0]}
        if not sound or (codes < -1).any() or (codes >= table.shape[-1]).any():
            raise InputError(
                "release",
                expected="answers of the channel, about records that have its states",
                shown=False,
            )
        unseen = np.ones(table.shape[0])
        rows = [table[:, answer] if answer >= 0 else unseen for answer in codes.tolist()]
        return Evidence(rows, [np.zeros(size, dtype=np.int64) for size in sizes])


def log_density(noise: DiscreteLaplace | DiscreteGaussian, distances: Ints | Floats) -> Floats:
    """The logarithm of the mass of the `noise` at these `distances` in steps; 0 at 0."""
    scaled = np.abs(np.asarray(distances, dtype=float)) / noise.scale
    logs: Floats = -scaled if isinstance(noise, DiscreteLaplace) else -0.5 * scaled**2
    return logs


def outcomes(masses: Floats, noise: DiscreteLaplace | DiscreteGaussian) -> Floats:
    """The law of a sum with noise: `masses[x, s]` smeared along its last axis.

    Of Laplace noise the columns are the sums themselves, and before and after them one that stands
    for all smaller, and for all larger outcomes: there the ratio of two rows is the same for all.
    Of Gaussian noise the columns reach as far as its mass does. Raises `UnsupportedError` for more
    than `MOST_OUTCOMES` of them.
    """
    if isinstance(noise, DiscreteLaplace):
        return _by_laplace(masses, noise.scale)
    reach = math.ceil(_REACH * noise.scale) + 1
    if masses.shape[1] + 2 * reach > MOST_OUTCOMES:
        raise UnsupportedError(
            "noise.scale",
            noise.scale,
            expected=f"at most {MOST_OUTCOMES} outcomes, for the exact law of a release",
            remedy="Take coarser steps.",
        )
    kernel = np.exp(log_density(noise, np.arange(-reach, reach + 1)))
    kernel /= kernel.sum()
    return np.stack([np.convolve(row, kernel) for row in masses])


def _by_laplace(masses: Floats, scale: float) -> Floats:
    """In linear time: what comes from the left, and what comes from the right."""
    from scipy.signal import lfilter

    decay = math.exp(-1.0 / scale)
    peak = -math.expm1(-1.0 / scale) / (1.0 + decay)
    left = lfilter([1.0], [1.0, -decay], masses, axis=1)
    right = lfilter([1.0], [1.0, -decay], masses[:, ::-1], axis=1)[:, ::-1]
    inside = peak * (left + right - masses)
    tail = peak / -math.expm1(-1.0 / scale) * decay
    below, above = tail * right[:, :1], tail * left[:, -1:]
    law: Floats = np.concatenate([below, inside, above], axis=1)
    return law
