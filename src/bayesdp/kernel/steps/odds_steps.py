"""The step of a change whose odds are bounded (theory 3.7c): what a cost becomes behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from flint import arb

from bayesdp.kernel.arithmetic import watched

Bound = arb | None
"""The end of an interval; `None` where it is unbounded."""

Number = TypeVar("Number", arb, float)
"""A ball, which proves, or a double, which guesses."""


@dataclass(frozen=True, eq=False)
class Step:
    """The step of a change: from the log cost `s` of the records behind it to what is passed on.

    `t` is as near to 0 as `least + s / 2 <= t <= most + s / 2` allows.

    It is `ln(1 + weight (1 - e^-s) / (factor e^-s + rest + 2 e^(-(s + rho) / 2) cosh t))`: the
    fraction of the rule with both parts multiplied by `2 e^(-(s + rho) / 2)`. The last term is not
    there where `rho` is infinite.
    """

    weight: arb
    factor: arb
    rest: arb
    rho: Bound
    least: Bound
    most: Bound

    @classmethod
    def of(cls, high: Bound, low: Bound, least: Bound, most: Bound) -> Step:
        """For `r(u) = high` and `r(u') = low`, `L` in `[least, most]`; `None` is infinite."""
        if high is not None and low is not None:
            rho, middle = high - low, (high + low) / 2
            ends = (None if end is None else end + middle for end in (least, most))
            return cls(-(-rho).expm1(), arb(1), (-rho).exp(), rho, *ends)
        # The value is certain for one of u and u': the least or the largest L is the worst.
        rest = arb(0) if low is None or least is None else (least + low).exp()
        factor = arb(1) if high is None or most is None else 1 + (-most - high).exp()
        return cls(arb(1), factor, rest, None, None, None)

    def passed(self, s: Number) -> Number:
        """What is passed on at `s`: for a ball a ball, for a double a guess."""
        if isinstance(s, float):
            return self._guessed(s)
        watched()
        below = (-s).exp() * self.factor + self.rest
        if self.rho is not None:
            t, half = arb(0), (s + self.rho) / 2
            if self.least is not None:
                t = t.max(self.least + s / 2)
            if self.most is not None:
                t = t.max(-self.most - s / 2)
            below += (t - half).exp() + (-t - half).exp()
        return (-(-s).expm1() * self.weight / below).log1p()

    @cached_property
    def _doubles(self) -> tuple[float, ...]:
        unbounded = (0.0, 0.0, 0.0, math.inf, -math.inf, math.inf)
        parts = (self.weight, self.factor, self.rest, self.rho, self.least, self.most)
        return tuple(
            float(part.mid()) if part is not None else end
            for part, end in zip(parts, unbounded, strict=True)
        )

    def _guessed(self, s: float) -> float:
        if s > _FARTHEST:
            return s
        weight, factor, rest, rho, least, most = self._doubles
        t, half = max(0.0, least + s / 2, -most - s / 2), (s + rho) / 2
        below = math.exp(-s) * factor + rest + math.exp(min(t - half, _FARTHEST))
        return math.log1p(-math.expm1(-s) * weight / (below + math.exp(-t - half)))


_FARTHEST = 600.0
"""In guesses, which prove nothing, nats beyond it are taken as it: doubles would overflow."""
