"""Smooth functions that are dear to compute, as cubic pieces that are as short as it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

    WithSlope = Callable[[Floats], tuple[Floats, Floats]]
    """A function's values and derivatives at some points."""

TOLERANCE = 1e-9
"""How far a piece may lie off in its middle, within 100 of the largest value; further down more."""

_ROUNDS = 40
_FIRST = 96
_MOST = 60_000


@dataclass(frozen=True, eq=False)
class Pieces:
    """Cubic Hermite pieces between points `x`. Outside it goes on as a line.

    `error` is the largest difference to the function that was seen in the middle of a piece, over
    what is allowed there.
    """

    x: Floats
    values: Floats
    slopes: Floats
    error: float

    def __call__(self, at: Floats) -> Floats:
        """The values there."""
        return self.with_slopes(at)[0]

    def with_slopes(self, at: Floats) -> tuple[Floats, Floats]:
        """The values and derivatives there."""
        place = np.clip(np.searchsorted(self.x, at) - 1, 0, len(self.x) - 2)
        left, width = self.x[place], (self.x[1:] - self.x[:-1])[place]
        low, high = self.values[place], self.values[place + 1]
        rise, slope = (high - low) / width, self.slopes[place]
        bend = (3 * rise - 2 * slope - self.slopes[place + 1]) / width
        twist = (slope + self.slopes[place + 1] - 2 * rise) / width**2
        inside = np.clip(at, self.x[0], self.x[-1])
        z = inside - left
        value = low + z * (slope + z * (bend + z * twist))
        steep = slope + z * (2 * bend + 3 * z * twist)
        return value + steep * (at - inside), steep


def interpolated(function: WithSlope, low: float, high: float, *points: float) -> Pieces:
    """The function between `low` and `high`, in pieces that are halved until they fit.

    `points` are places where the function bends: pieces begin there.
    """
    inner = [point for point in points if low < point < high]
    x = np.unique(np.concatenate((np.linspace(low, high, _FIRST + 1), inner)))
    values, slopes = function(x)
    worst, open_ = 0.0, np.ones(len(x) - 1, dtype=bool)
    for _ in range(_ROUNDS):
        place = np.flatnonzero(open_)
        if not len(place) or len(x) > _MOST:
            break
        left, right = x[place], x[place + 1]
        middle, width = (left + right) / 2, right - left
        value, slope = function(middle)
        guess = (values[place] + values[place + 1]) / 2
        guess = guess + width * (slopes[place] - slopes[place + 1]) / 8
        top = max(values.max(), value.max())
        off = np.abs(guess - value) / (TOLERANCE * np.maximum(1.0, (top - value) / 100))
        fits = (off <= 1.0) | (width <= 1e-13 * np.maximum(np.abs(middle), 1.0))
        worst = max([worst, *off[fits].tolist()])
        # What was computed is kept; both halves of a piece that doesn't fit are asked again.
        x = np.insert(x, place + 1, middle)
        values, slopes = np.insert(values, place + 1, value), np.insert(slopes, place + 1, slope)
        open_ = np.zeros(len(x) - 1, dtype=bool)
        first = place + np.arange(len(place))
        open_[first[~fits]] = open_[first[~fits] + 1] = True
    else:
        worst = np.inf
    return Pieces(x, values, slopes, float(worst))
