"""Super-solutions of an increasing step: matrices `C` with `F(C) <= C` (theory 3.5, tail).

Iterating from below approaches the least fixed point as slowly as the chain forgets. So every few
rounds the rest of the way is guessed: in the end, distances shrink by a common factor. A guess that
the step does not raise is a super-solution, however it was made. A step maps a super-solution to a
lower super-solution, and the rest of that way down is guessed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.leakage.deadline import OutOfTimeError

StepMap = Callable[[Floats], Floats]
"""From `C` to the `C` of one more record, rounded up."""

_GUESS_EVERY = 8
"""A limit is guessed once in so many steps; guesses are checked. Speed only."""
_LARGEST = 1e250
"""A tail above it is given up: the level is refused."""
_FARTHEST = 600.0
"""Guesses with a logarithm above it are not made."""
_CLOSE = 1e-10
"""The way down ends where a step changes the logarithms by less than this share: stopping earlier
leaves the level higher."""
_MATTERS = 1e-3
"""Entries that move by less than this share of the largest move have no say in a guess, which is
checked."""
_MARGIN = 1e-12
"""Steps up go further by this share, so that they arrive: the level is higher by about as much."""


def closed(least: Floats, step: StepMap, rounds: int, largest: float = _LARGEST) -> Floats | None:
    """A matrix of at least `least` that the step does not raise; `None` where none was found.

    `least` has ones on its diagonal, and nothing below 1.
    """
    current = before = least
    for count in range(1, rounds + 1):
        following = step(current)
        if (following <= current).all():
            return lowered(current, least, step, rounds - count)
        if count % _GUESS_EVERY == 0:
            guess = _guess(before, current, following)
            if guess is not None and guess.max() < largest and (step(guess) <= guess).all():
                return lowered(guess, least, step, rounds - count)
        before, current = current, np.maximum(current, following * (1.0 + _MARGIN))
        if not np.isfinite(current).all() or current.max() > largest:
            return None
    return None


def lowered(pair: Floats, least: Floats, step: StepMap, rounds: int) -> Floats:
    """A super-solution below `pair` and of at least `least`, after steps until nothing changes.

    When the time runs out, the super-solution that was reached by then.
    """
    with suppress(OutOfTimeError):
        for lower in _descent(pair, least, step, rounds):
            pair = lower
    return pair


def _descent(pair: Floats, least: Floats, step: StepMap, rounds: int) -> Iterator[Floats]:
    before = pair
    for count in range(1, rounds + 1):
        following = np.minimum(pair, np.maximum(step(pair), least))
        if float(np.log(pair / following).max()) <= _CLOSE * float(np.log(pair).max()):
            yield following
            return
        before, pair, last = pair, following, before
        yield pair
        if count % _GUESS_EVERY == 0:
            guess = _guess(last, before, pair)
            if guess is not None:
                guess = np.maximum(np.minimum(guess, pair), least)
                if (step(guess) <= guess).all():
                    before = pair = guess
                    yield pair


def _guess(first: Floats, second: Floats, third: Floats) -> Floats | None:
    """Slightly above the limit of entries whose steps shrink by a common factor from now on."""
    earlier, later = np.log(second / first), np.log(third / second)
    size = np.abs(earlier)
    if not size.max() > 0.0:
        return None
    moves = size > _MATTERS * size.max()
    rate = float(np.max(later[moves] / earlier[moves]))
    if not 0.0 < rate < 1.0:
        return None
    onward = later * (rate / (1.0 - rate))
    above = 1e-3 * np.abs(onward) + 2.0 * _MARGIN / (1.0 - rate)
    logs = np.log(third) + onward + above
    if not logs.max() < _FARTHEST:
        return None
    guess: Floats = np.exp(logs)
    diagonal = np.arange(guess.shape[-1])
    guess[..., diagonal, diagonal] = 1.0
    return guess
