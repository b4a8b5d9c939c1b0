"""What a relation is: one notion's level bounds another's, under named hypotheses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from bayesdp.notions import Adversary
from bayesdp.notions.catalogue import NotionKey
from bayesdp.numbers import ZERO, UpperBound, times_above, up

Map = Callable[[UpperBound, int], UpperBound]
"""From the premise's level and a group's size to the conclusion's level, rounded up.

Monotone in both.
"""

Constant = Callable[[float, int], float]
"""From the same to what somebody else's statement gives: a number to compare with.

It is not a bound that bayesdp claims, and its last digits may be rounded either way.
"""


@dataclass(frozen=True, slots=True)
class Published:
    """The literature's constant for the same implication.

    `level` gives a number to compare with what the relation's own map gives: 1 (a probability) or
    infinity (nats) where the published statement says nothing. `valid` says where it says
    something.
    """

    formula: str
    level: Constant
    valid: str
    source: str


@dataclass(frozen=True, slots=True)
class Relation:
    """`premise` at a level implies `conclusion` at `level(premise level, group size)`.

    `hypotheses` are names from `HYPOTHESES`: each is derived from a population or declared by
    whoever uses the relation. `formula` is the level map in words, `e` the premise's level (`s`
    where that is a probability). `converts` names the adversary of a conversion of DP by the
    population's theorems instead; then `level` is not used. `test` is where brute force tries to
    break it.
    """

    name: str
    premise: NotionKey
    conclusion: NotionKey
    statement: str
    source: str
    level: Map
    formula: str
    hypotheses: tuple[str, ...] = ()
    published: Published | None = None
    converts: Adversary | None = None
    test: str = field(default="tests/theorems/test_relations.py")

    @property
    def anchor(self) -> str:
        """The place in docs/theory.md that proves it."""
        return self.name


def same(level: UpperBound, size: int) -> UpperBound:
    """The level itself."""
    return level


def times_size(level: UpperBound, size: int) -> UpperBound:
    """`size * level`, rounded up."""
    return times_above(size, level)


def distance(level: UpperBound, size: int) -> UpperBound:
    """`tanh(level / 2)`, rounded up: of two weights that differ by the factor `e^(2 level)`."""
    return UpperBound(min(1.0, up(math.tanh(level / 2.0), 8))) if level > 0.0 else ZERO


def from_distance(level: UpperBound, size: int) -> UpperBound:
    """`4 artanh(level)`, rounded up; infinite at 1."""
    if level <= 0.0:
        return ZERO
    return UpperBound(up(4.0 * math.atanh(level), 8) if level < 1.0 else math.inf)


def zhao_distance(level: float, size: int) -> float:
    """`e^(2 level) - 1`, at most 1: Zhao's constant for what `distance` gives."""
    return min(1.0, math.expm1(min(2.0 * level, 1.0)))


def zhao_from_distance(level: float, size: int) -> float:
    """The `e` at which `1/2 - 1/(e^e + 1)` is the level; infinite from 1/2 on."""
    return up(2.0 * math.atanh(2.0 * level), 8) if level < 0.5 else math.inf


ZHAO = "Zhao 2019"
ZHAO_DISTANCE = Published(
    "e^(2e) - 1", zhao_distance, "e below 0.3466 (it exceeds 1 from there)", ZHAO
)
ZHAO_FROM_DISTANCE = Published(
    "the e with s = 1/2 - 1/(e^e + 1)", zhao_from_distance, "s below 1/2", ZHAO
)
