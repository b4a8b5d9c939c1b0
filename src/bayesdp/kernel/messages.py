"""Messages of the contraction through factors: a search in doubles, a proof in balls (theory 3.7).

`y_(a -> i) = ln F_(a -> i)` is a bound on how far factor `a` passes a change of record `i` on, for
all factors at once, if `Phi(y) <= y`: `Phi(y) = ln f(e^s; R)`, `s` the sum over the other members
of the factor of `eps` and of what their other factors pass on; nowhere more than `eps` for each
other record of the component. Doubles come down to such `y` from above, and balls check it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import ball, contracted
from bayesdp.kernel.graphs import Model, components, cross_ratio, live_cells, rows_of

_WORK = 300_000
_HUGE = 10**200
_INFLATIONS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4)


class Messages:
    """One message for each factor and member, numbered; factors of ratio 1 have none."""

    def __init__(self, model: Model, epsilon: Fraction) -> None:
        self.epsilon = epsilon
        self.component = components(model.records, [tie for tie, _ in model.factors])
        self.record: list[int] = []
        self.ratio: list[Fraction | None] = []
        self.others: list[list[int]] = []
        self.into: list[list[int]] = [[] for _ in range(model.records)]
        known: dict[Any, list[Fraction | None]] = {}
        for tie, table in model.factors:
            key = (id(table), *(model.possible[record] for record in tie))
            if key not in known:
                cells = live_cells(tie, table, model.possible) if len(tie) > 1 else []
                known[key] = [cross_ratio(rows_of(cells, place)) for place in range(len(tie))]
            if any(ratio != 1 for ratio in known[key]):
                first = len(self.record)
                numbers = range(first, first + len(tie))
                self.record += tie
                self.ratio += known[key]
                self.others += [[n for n in numbers if n != m] for m in numbers]
                for number, record in zip(numbers, tie, strict=True):
                    self.into[record].append(number)
        self.caps = [ball((self.component[record] - 1) * epsilon) for record in self.record]

    def most(self) -> tuple[int, int]:
        """The most messages, and the most records, that a message sums over."""
        degree = [len(into) for into in self.into]
        sums = (sum(degree[self.record[o]] - 1 for o in others) for others in self.others)
        return max(sums, default=0), max(map(len, self.others), default=0)

    def uniform(self) -> arb:
        """One number that is above all messages."""
        return uniform(self.ratio, *self.most(), self.epsilon, max(self.component))

    def search(self) -> list[float]:
        """Messages that look large enough, by steps downwards from what certainly is."""
        eps, start = float(self.epsilon), float(self.uniform()) if self.record else 0.0
        roots = [_root(ratio) for ratio in self.ratio]
        y = [
            min(float(cap), start if root is None else min(start, 2.0 * math.log(root)))
            for cap, root in zip(self.caps, roots, strict=True)
        ]
        for sweep in range(max(2, _WORK // max(len(y), 1))):
            total = [eps + math.fsum(y[m] for m in into) for into in self.into]
            change, numbers = 0.0, range(len(y))
            for m in numbers if sweep % 2 == 0 else reversed(numbers):
                s = sum(total[self.record[o]] - y[o] for o in self.others[m])
                following = min(y[m], _contracted(s, roots[m]))
                if following < y[m]:
                    change = max(change, 1.0 - following / y[m])
                    total[self.record[m]] += following - y[m]
                    y[m] = following
            if change < 1e-15:
                break
        return y

    def proved(self, guess: list[float]) -> list[arb]:
        """The guess, raised until balls find `Phi(y) <= y`; else what certainly holds."""
        for inflation in _INFLATIONS:
            y = [
                arb(value * (1.0 + inflation)).min(cap)
                for value, cap in zip(guess, self.caps, strict=True)
            ]
            if self.holds(y):
                return y
        return [
            cap if ratio is None else ball(ratio).log().min(cap)
            for cap, ratio in zip(self.caps, self.ratio, strict=True)
        ]

    def holds(self, y: list[arb]) -> bool:
        """Whether `Phi(y) <= y`, certainly."""
        total = [ball(self.epsilon) + sum((y[m] for m in into), arb(0)) for into in self.into]
        for m, others in enumerate(self.others):
            if self.ratio[m] == 1 or bool(y[m] >= self.caps[m]):
                continue
            ratio = self.ratio[m]
            s = sum((total[self.record[o]] - y[o] for o in others), arb(0))
            if not contracted(s, None if ratio is None else ball(ratio)) <= y[m]:
                return False
        return True


def _root(ratio: Fraction | None) -> float | None:
    """`sqrt R` in doubles; `None` where it is infinite, or might as well be."""
    return None if ratio is None or ratio > _HUGE else math.sqrt(ratio)


def _contracted(s: float, root: float | None) -> float:
    """`ln f(e^s; R)` in doubles."""
    if root is None:
        return s
    return 2.0 * math.log1p(-math.expm1(-s / 2) * (root - 1.0) / (1.0 + root * math.exp(-s / 2)))


def uniform(
    ratios: list[Fraction | None], most: int, records: int, epsilon: Fraction, component: int
) -> arb:
    """`y >= ln f(e^(most y + records eps); R)` for the largest `R`, so it is above all messages."""
    cap = ball((component - 1) * epsilon)
    finite = [ratio for ratio in ratios if ratio is not None]
    if len(finite) < len(ratios) or not ratios:
        return cap
    ratio, eps = max(finite), float(epsilon)
    ceiling, root = ball(ratio).log().min(cap), _root(ratio)
    y = float(ceiling)
    for _ in range(5000):
        y, before = min(y, _contracted(most * y + records * eps, root)), y
        if y >= before * (1.0 - 1e-15):
            break
    for inflation in _INFLATIONS:
        trial = arb(y * (1.0 + inflation))
        if bool(contracted(most * trial + records * ball(epsilon), ball(ratio)) <= trial):
            return trial.min(ceiling)
    return ceiling
