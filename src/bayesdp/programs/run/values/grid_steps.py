"""Whole numbers of steps, which noise is added to: a private value on its own grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bayesdp.programs.run.values.private import (
    MOST,
    RESOLUTION,
    PrivateValue,
    power_of_two,
)


@dataclass(frozen=True, repr=False)
class Steps:
    """A private value in whole steps of `unit`.

    One record may move it by at most `slack` (in the value's unit, l1) beyond the checker's bound.
    """

    whole: tuple[int, ...]
    unit: Fraction
    offsets: tuple[Fraction, ...]
    slack: Fraction

    def __repr__(self) -> str:
        return "<a private value in steps>"

    def value(self, noisy: tuple[int, ...]) -> tuple[Fraction, ...]:
        """The released numbers."""
        return tuple(
            self.unit * number + offset for number, offset in zip(noisy, self.offsets, strict=True)
        )


FINEST = 2**40
"""The most steps that one record's move may have."""


def in_steps(amount: PrivateValue, sensitivity: Fraction, unit: Fraction | None = None) -> Steps:
    """The value in steps: of its own lattice where that isn't too fine, else of a coarser grid.

    Rounding to a coarser grid lets a neighbour's value be one step farther in each entry. The steps
    are so coarse that the largest value that there can be fits 2^61 of them, unless `unit` says
    otherwise, for which `fits` has been asked. More private rows than `MOST_PRIVATE_ROWS` are held
    there, and no move gets larger by it.
    """
    slack = amount.slack
    if unit is None:
        unit = amount.lattice if amount.lattice else sensitivity
        if sensitivity / unit > FINEST:
            unit = Fraction(2) ** (power_of_two(sensitivity) - RESOLUTION)
        if not fits(amount, unit):
            unit *= Fraction(2) ** (power_of_two(amount.largest / (unit * MOST)) + 1)
    assert fits(amount, unit), "a value beyond 2^61 steps"
    exact = not amount.lattice or (amount.lattice / unit).denominator == 1
    if not exact:
        slack += unit * len(amount.values)
    whole = tuple(max(-MOST, min(MOST, round(value / unit))) for value in amount.values)
    return Steps(whole, unit, amount.offsets, slack)


def fits(amount: PrivateValue, unit: Fraction) -> bool:
    """Whether the largest possible value has at most 2^61 steps of this unit."""
    return amount.largest <= MOST * unit
