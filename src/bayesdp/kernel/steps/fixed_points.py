"""Fixed points from above: whoever found a witness, one step in balls checks it.

The quantities are logarithms, none below 0, and the step is increasing. Where it raises none of
them, they are above everything that the step makes of 0, however often it is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, ball, check_clock, exact, require

FARTHEST = 100_000
"""More than the logarithm of any ratio of two doubles."""

_INFLATIONS = (50, 46, 42, 36, 30)
"""A witness is raised by so many bits less than itself: it was rounded when it was written."""


def logarithms(given: Any, count: int, what: str, farthest: Fraction | int = FARTHEST) -> list[arb]:
    """A witness as it stands on a certificate: `count` numbers from 0 to `farthest`."""
    require(
        isinstance(given, list) and len(given) == count, f"the witness is not {count} numbers", what
    )
    numbers = [exact(entry, what) for entry in given]
    within = all(0 <= number <= farthest for number in numbers)
    require(within, "a number is not the logarithm of a ratio", what)
    return [ball(number) for number in numbers]


def raised(guess: Sequence[arb], bits: int) -> list[arb]:
    """Points a little above the guess, and above 0. Points, so that radii don't pile up."""
    factor, least = 1 + arb(2) ** -bits, arb(2) ** -140
    return [(entry * factor + least).upper() for entry in guess]


def super_solution(
    guess: Sequence[arb], step: Callable[[list[arb]], Sequence[arb]], what: str
) -> list[arb]:
    """The guess, raised by as little as makes `step(y) <= y`; `InvalidError` where nothing does."""
    for bits in _INFLATIONS:
        trial = raised(guess, bits)
        following = step(trial)
        if all(bool(new <= old) for new, old in zip(following, trial, strict=True)):
            return trial
    raise InvalidError("a step raises it, so it is not above the fixed point", what)


_HAIR = 1e-13
"""Each step is raised by this share, so that a plain step, in balls, then raises nothing."""
_MOST_UPDATES = 1_200_000
"""Messages times rounds: beyond it the search ends, and the rule proves a larger level."""


def ascended(
    step: Callable[[list[float]], Sequence[float]], caps: Sequence[float]
) -> list[float] | None:
    """A guess at a super-solution of `min(step(y), caps)`, in doubles: it proves nothing.

    From 0 up, each round a hair above the step, until half a hair would raise nothing. `None` where
    that would take too long.
    """
    y = [0.0] * len(caps)
    for _ in range(min(2000, _MOST_UPDATES // max(len(caps), 1))):
        check_clock()
        following = step(y)
        raised = zip(following, y, caps, strict=True)
        if all(old >= min(new * (1 + _HAIR / 2), cap) for new, old, cap in raised):
            return y
        raised = zip(following, y, caps, strict=True)
        y = [max(old, min(new * (1 + _HAIR), cap)) for new, old, cap in raised]
    return None
