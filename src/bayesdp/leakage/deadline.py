"""Time limits: a deadline is passed down to every engine, which asks it inside its loops.

An engine that is stopped says nothing: `OutOfTimeError` leaves it, and its theorem is listed as
refused. Only where a proven bound is at hand already (messages that come from above) may an engine
return it instead.
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
    """A moment after which engines stop: `seconds` from now on, by `clock`.

    All deadlines are equal, and have one hash: what a cache keeps does not depend on when it had to
    be ready, and what ran out of time is an error, which no cache keeps.

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
        """The seconds until then; 0 where it has passed, infinite where there is none."""
        return math.inf if self._end == math.inf else max(0.0, self._end - self._clock())

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return self.left <= 0.0

    def check(self) -> None:
        """Raise `OutOfTimeError` if the time is over."""
        if self.passed:
            raise OutOfTimeError(self.seconds)

    def within(self, seconds: float) -> Deadline:
        """A deadline for a part of the work: so many seconds from now, but not beyond this one."""
        return Deadline(min(seconds, self.left), self._clock)


NEVER = Deadline(math.inf)
"""For callers who wait as long as it takes."""
