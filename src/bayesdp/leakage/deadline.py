"""Time limits: a deadline is passed to every numerical method, which checks it inside its loops.

A method that is stopped has no result: it raises `OutOfTimeError`, and its theorem is listed as
refused. Only a method that has a proven bound already (messages that come from above) may return
that instead.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class OutOfTimeError(Exception):
    """A deadline has passed. `seconds` is what was allowed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"more than {seconds:g} s")
        self.seconds = seconds


class Deadline:
    """A moment after which methods stop: `seconds` from now on, by `clock`.

    All deadlines are equal and have the same hash, so they don't matter to caches: a cached result
    was ready in time, and a method that ran out of time raises an error, which no cache keeps.

    >>> ticks = iter([0.0, 0.9, 1.1])
    >>> deadline = Deadline(1.0, clock=lambda: next(ticks))
    >>> deadline.passed, deadline.passed
    (False, True)
    """

    __slots__ = ("_clock", "_end", "seconds")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds if seconds < math.inf else math.inf

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deadline)

    def __hash__(self) -> int:
        return 0

    @property
    def left(self) -> float:
        """The seconds until the deadline; 0 if it has passed, infinite for `NEVER`."""
        return math.inf if self._end == math.inf else max(0.0, self._end - self._clock())

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return self.left <= 0.0

    def check(self) -> None:
        """Raises `OutOfTimeError` if the time is over."""
        if self.passed:
            raise OutOfTimeError(self.seconds)

    def within(self, seconds: float) -> Deadline:
        """A deadline for part of the work: `seconds` from now, but not after this deadline."""
        return Deadline(min(seconds, self.left), self._clock)


NEVER = Deadline(math.inf)
"""For callers who wait as long as it takes."""
