"""The search for messages whose step is increasing, but not concave (theory 3.7c).

A guess scaled up proves nothing there. So the search goes up from 0 and raises each round by a
hair, until a step without it raises nothing: that is a proof. Where this does not end, it goes down
from messages that are a proof at each round.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.leakage.deadline import NEVER, Deadline

HAIR = 1e-12
"""Each round up is raised by so much of itself."""

_HAIR_OF_LARGE = 1e-8
"""The same for large graphs, which take few rounds."""

MOST_ROUNDS = 1500
"""So often all messages are updated; then the search gives up, and a larger level is proved."""
_LARGE = 50_000
"""With so many messages the hair is larger and the rounds are fewer: a larger level, sooner."""
_MOST_ROUNDS_OF_LARGE = 60
"""`MOST_ROUNDS` for so many messages."""


class RisingMessages(ABC):
    """Messages of a step that rises with them.

    Remembers solutions, and larger costs start there. Each answer is a proof, but which proof it
    is, in its last digits, may depend on what was asked before.
    """

    size: int
    """How many messages there are."""

    def __init__(self) -> None:
        self._solved: list[tuple[float, Floats]] = []

    @abstractmethod
    def step(self, y: Floats, dp_epsilon: float, ceiling: Floats) -> Floats:
        """`min(Phi(y), ceiling)`, rounded up."""

    @abstractmethod
    def ceiling(self, dp_epsilon: float) -> Floats:
        """Messages that are a super-solution for certain."""

    @abstractmethod
    def levels(self, y: Floats, dp_epsilon: float) -> Floats:
        """For each record the level that these messages prove, rounded up."""

    def above(self, dp_epsilon: float, ceiling: Floats) -> Floats:
        """The super-solution from which the way down begins."""
        return ceiling

    def solve(self, dp_epsilon: float, deadline: Deadline = NEVER) -> tuple[Floats, int]:
        """Verified messages for this cost, and the rounds that they took.

        At the deadline what the way down has reached: it is proven, only not the least.
        """
        ceiling = self.ceiling(dp_epsilon)
        y, rounds = self._ascend(dp_epsilon, ceiling, deadline.within(deadline.left / 2.0))
        if y is not None:
            self._solved = [
                *(old for old in self._solved if old[0] != dp_epsilon),
                (dp_epsilon, y),
            ][-4:]
            return y, rounds
        y, more = self._descend(self.above(dp_epsilon, ceiling), dp_epsilon, deadline)
        return y, rounds + more

    def _ascend(
        self, dp_epsilon: float, ceiling: Floats, deadline: Deadline
    ) -> tuple[Floats | None, int]:
        """From 0, or the solution for a lower cost, up to where a plain step raises nothing."""
        below = [old for old in self._solved if old[0] <= dp_epsilon]
        y = max(below, key=lambda old: old[0])[1] if below else np.zeros(self.size)
        for rounds in range(self._most_rounds):
            following = self.step(y, dp_epsilon, ceiling)
            if bool((following <= y).all()):
                return y, rounds
            if deadline.passed:
                return None, rounds
            following *= 1.0 + (HAIR if self.size < _LARGE else _HAIR_OF_LARGE)
            y = np.minimum(np.maximum(y, following), ceiling)
        return None, MOST_ROUNDS

    def _descend(self, y: Floats, dp_epsilon: float, deadline: Deadline) -> tuple[Floats, int]:
        """Lower super-solutions, each from the last, until the level stands still; the rounds."""
        level, still, rounds = math.inf, 0, 0
        while rounds < self._most_rounds:
            if deadline.passed:
                break
            rounds += 1
            y = np.minimum(self.step(y, dp_epsilon, y), y)
            before, level = level, float(np.max(self.levels(y, dp_epsilon)))
            still = still + 1 if level >= before * (1.0 - 1e-10) else 0
            if still >= 4:
                break
        return y, rounds

    @property
    def _most_rounds(self) -> int:
        return MOST_ROUNDS if self.size < _LARGE else _MOST_ROUNDS_OF_LARGE
