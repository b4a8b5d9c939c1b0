"""The Markov quilt mechanism (MQMExact) for chains, to compare with. Not part of the package.

Song, Wang and Chaudhuri, SIGMOD 2017. A *quilt* of record `i` is a set of records that separates
it from the *remote* ones; what is left beside `i` is *nearby*. In a chain of order k the quilts
are k consecutive records that end `a` before `i`, k that begin `b` after it, both, or nothing at
all. The *max-influence* `e` of a quilt is the largest log ratio of its probability given two
values of record `i`; its score at level `epsilon` is

    (number of nearby records, i among them) / (epsilon - e)     where e < epsilon,

record `i` takes its best quilt, and the noise has the scale of the worst record: Laplace noise of
scale `s` for counts. Since nearby records are paid for one by one, any 1/s-DP mechanism will do.

**The adversary of this mechanism knows no record** (class `uninformed`): the max-influence is that
of a quilt nobody has seen. Compare it with `adversary="uninformed"` only.

The chain is stationary here, and one law is given (their class of distributions has one member).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FIRST_REACH = 32
REFERENCE = {0.5: 1.0, 0.7: 6.7236, 0.9: 31.738}


def scale(transition: Any, length: int, epsilon: float) -> float:
    """The noise scale for a query that changes by 1 with a record. Order = axes - 1."""
    table = np.asarray(transition, dtype=float)
    order = table.ndim - 1
    if length <= order:
        return length / epsilon
    reach = min(FIRST_REACH, length)
    while True:
        worst = _worst_record(Influences.of(table, reach), length, order, epsilon)
        # A quilt with more than s * epsilon nearby records scores above s: none was missed.
        if reach >= length or reach >= worst * epsilon:
            return worst
        reach = min(length, 2 * reach)


@dataclass(frozen=True)
class Influences:
    """Max-influences: `left[a-1]`, `right[b-1]`, and `both[a-1, b-1]` of the two together."""

    left: Floats
    right: Floats
    both: Floats

    @classmethod
    def of(cls, table: Floats, reach: int) -> Influences:
        """All quilts within `reach` records of `i`, by powers of the kernel on k-tuples."""
        order = table.ndim - 1
        kernel, states = tuple_kernel(table), len(table)
        law = stationary(kernel)
        last = law.reshape(-1, states).sum(axis=0)  # of one record
        # now[s, x] = 1 if the newest record of the tuple s is x.
        now = np.tile(np.eye(states), (len(law) // states, 1))
        steps = powers(kernel, reach + order - 1)
        before = [law[:, None] * steps[a] for a in range(1, reach + 1)]  # joint of L and s
        after = [steps[b + order - 1] for b in range(1, reach + 1)]  # R given s
        with np.errstate(divide="ignore"):
            left = [_oscillation(np.log(joint @ now / last)) for joint in before]
            right = [
                _oscillation(np.log((now * law[:, None] / last).T @ kernel_b).T)
                for kernel_b in after
            ]
        return cls(np.array(left), np.array(right), _both(before, after, now, last))


def _both(before: list[Floats], after: list[Floats], now: Floats, last: Floats) -> Floats:
    """Two-sided quilts. Given the tuple at `i` its sides are independent."""
    states = now.shape[1]
    forward = np.stack(after)  # (b, s, R)
    actual = np.empty((len(before), len(after)))
    for position, joint in enumerate(before):
        parts = []
        for x in range(states):
            at = np.flatnonzero(now[:, x])
            parts.append(np.einsum("ls,bsr->blr", joint[:, at], forward[:, at, :]) / last[x])
        with np.errstate(divide="ignore"):
            logs = np.log(np.stack(parts, axis=-1))  # (b, L, R, x)
        actual[position] = _oscillation(logs.reshape(len(after), -1, states))
    return actual


def _oscillation(logs: Floats) -> Floats:
    """The largest difference within a row; infinite if something is possible for one value only."""
    high, low = logs.max(axis=-1), logs.min(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(high), 0.0, high - low).max(axis=-1)


def _worst_record(influences: Influences, length: int, order: int, epsilon: float) -> float:
    """The largest best score. Records far from both ends are alike."""
    reach = len(influences.left)
    # Those close to the first, one in the middle, those close to the last.
    edge = min(length, 4 * reach)
    places = sorted({*range(1, edge + 1), length // 2 + 1, *range(length - edge + 1, length + 1)})
    near = np.arange(1, reach + 1)
    scores = _score(near[:, None] + near[None, :] - 1, influences.both, epsilon)
    best = np.minimum.accumulate(np.minimum.accumulate(scores, axis=0), axis=1)
    worst = 0.0
    for i in places:
        a = min(reach, i - order)  # the tuple must lie within the series
        b = min(reach, length - i - order + 1)
        options = [length / epsilon]
        if a >= 1:
            options.append(float(_score(length - i + near[:a], influences.left[:a], epsilon).min()))
        if b >= 1:
            options.append(float(_score(i + near[:b] - 1, influences.right[:b], epsilon).min()))
        if a >= 1 and b >= 1:
            options.append(float(best[a - 1, b - 1]))
        worst = max(worst, min(options))
    return worst


def _score(nearby: Any, influence: Floats, epsilon: float) -> Floats:
    room = epsilon - influence
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(room > 0.0, nearby / room, np.inf)


def tuple_kernel(table: Floats) -> Floats:
    """The chain on tuples of k records: from (x_1..x_k) to (x_2..x_{k+1})."""
    states, order = len(table), table.ndim - 1
    size = states**order
    rows = table.reshape(size, states)
    kernel = np.zeros((size, size))
    for s in range(size):
        for v in range(states):
            kernel[s, (s * states + v) % size] += rows[s, v]
    return kernel


def stationary(kernel: Floats) -> Floats:
    """The stationary law, from the linear system."""
    size = len(kernel)
    system = np.vstack([kernel.T - np.eye(size), np.ones(size)])
    law: Floats = np.linalg.lstsq(system, np.eye(size + 1)[-1], rcond=None)[0]
    return law.clip(0.0) / law.clip(0.0).sum()


def powers(kernel: Floats, highest: int) -> list[Floats]:
    """`kernel ** 0 .. kernel ** highest`."""
    actual = [np.eye(len(kernel))]
    for _ in range(highest):
        actual.append(actual[-1] @ kernel)
    return actual


def main() -> int:
    """Stationary chains of 100 records that stay with one probability, at level 1."""
    wrong = 0
    for stay, due in REFERENCE.items():
        actual = scale([[stay, 1.0 - stay], [1.0 - stay, stay]], 100, 1.0)
        agrees = abs(actual / due - 1.0) < 2e-5
        wrong += not agrees
        print(f"stay {stay:g}: scale {actual:.5g}, {'as' if agrees else 'NOT'} {due:g}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
