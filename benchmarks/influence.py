"""An influence curve for chains, to compare with. Not part of the package.

    python benchmarks/influence.py       the curve of a few chains, and what noise it asks for

Bai, He, Gu, Kifer and Maeng ("Composition for Pufferfish Privacy", arXiv 2602.02718, 2026) turn
DP mechanisms into mechanisms with a promise about dependent records through "the a(b)-influence
curve". **We could read their abstract and the start of their introduction only.** The definition
below and everything computed from it are ours, and the numbers must not be taken for theirs.

*Definition.* Let `P_u` be the law of all other records given `x_i = u`. The influence of record
`i` is at most `a` at `b` if a record that changes from `u` to `v` changes at most `b` of the
others, up to a factor `e^a`: some `(y, y')` has `y` from `P_u`, `y'` from a measure of at most
`e^a P_v`, and differs in at most `b` places. That is so (Strassen) if and only if for every event

    P_u(A) <= e^a P_v(A_b),        A_b: everything within b changes of A.

The curve `a(b)` is the least such `a` over all records and pairs `u`, `v`. An eps-DP mechanism
then leaks at most `a(b) + (b + 1) eps`, for every `b`, to an adversary who knows no record (class
`uninformed`): `eps` for record `i`, `eps` for each of the `b` places, `a` for the factor. A Markov
quilt is the special case in which the `b` places are fixed beforehand.

*What is computed is the least that the curve can be:* `a(b)` for the events "at most c of the
records from `i - l` to `i + r` are not u" only, for the record in the middle. Other events and
records can only raise it. So `scale` is at most the noise by any curve of this definition: it
favours them. For short chains of two states that tend to stay it is close to the whole curve
(tests/benchmarks/).

Whatever a curve is and however it is found: if its promise holds for every eps-DP mechanism, it
can't be below an exact level, and ours is exact for chains of order 1 with two states.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
from mqm import Floats, stationary, tuple_kernel

FIRST_REACH = 16
LAST_REACH = 512


def scale(transition: Any, length: int, epsilon: float) -> float:
    """A noise scale that no curve can undercut, for a query that changes by 1 with a record."""
    table = np.asarray(transition, dtype=float)
    values, reach = (table.tobytes(), table.shape), FIRST_REACH
    while True:
        influences = _cached_curve(values, length, reach)
        budgets = (epsilon - influences) / np.arange(1, len(influences) + 1)
        # A larger window raises a(b) only where b is within reach of it.
        if reach >= min(length, LAST_REACH) or 2 * int(budgets.argmax()) < reach:
            return float(1.0 / budgets.max())
        reach *= 2


@cache
def _cached_curve(values: tuple[bytes, tuple[int, ...]], length: int, reach: int) -> Floats:
    """One curve serves all levels."""
    return curve(np.frombuffer(values[0]).reshape(values[1]), length, reach)


def curve(table: Floats, length: int, reach: int) -> Floats:
    """Lower bounds of `a(0), a(1), ...`, down to the first 0.

    The windows reach `reach` records to each side of the tuple of the middle record, or to the
    ends of the chain. Order = axes - 1.
    """
    order, states = table.ndim - 1, len(table)
    if length <= order:
        raise ValueError(f"length: {length} records; a chain of order {order} needs more")
    kernel = tuple_kernel(table)
    law = stationary(kernel)
    tuples = np.array(list(np.ndindex((states,) * order)))
    newest = tuples[:, -1]
    place = max(order, (length + 1) // 2)
    left, right = min(reach, place - order), min(reach, length - place)
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where(law[:, None] > 0.0, law[None, :] * kernel.T / law[:, None], 0.0)
    given = [np.where(newest == v, law, 0.0) / law[newest == v].sum() for v in range(states)]
    highest = np.zeros(left + right + order)
    for u in range(states):
        differs = (tuples != u).sum(axis=1) - (newest != u)
        before = _distances(back, tuples[:, 0] != u, left)
        after = _distances(kernel, newest != u, right)
        for a, b in _windows(left, right):
            size = a + b + order  # distances 0 .. a + b + order - 1
            laws = np.zeros((states, size))
            for s in range(len(law)):
                sides = np.convolve(before[a][s], after[b][s])
                for v in range(states):
                    laws[v, differs[s] : differs[s] + len(sides)] += given[v][s] * sides
            within = laws.cumsum(axis=1)
            for v in range(states):
                if v != u:
                    ratios = _largest_ratios(within[u], within[v])
                    highest[:size] = np.maximum(highest[:size], ratios)
    return highest[: int(np.argmax(highest <= 0.0)) + 1]


def _largest_ratios(mine: Floats, other: Floats) -> Floats:
    """For each b: the largest `ln(mine[c] / other[c + b])`, or 0."""
    size = len(mine)
    with np.errstate(divide="ignore"):
        above = np.log(mine)
        below = np.concatenate([np.log(other), np.full(size, np.inf)])
    # Row b of `shifted` is below[b : b + size].
    shifted = np.lib.stride_tricks.sliding_window_view(below, size)[:size]
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isneginf(above), 0.0, above - shifted)
    return ratios.max(axis=1).clip(0.0)


def _distances(kernel: Floats, differs: Any, steps: int) -> list[Floats]:
    """For 0..steps new records: `[s, d]`, the chance given tuple s that d of them differ."""
    now = np.ones((len(kernel), 1))
    actual = [now]
    for _ in range(steps):
        same = np.pad(now, ((0, 0), (0, 1)))
        other = np.pad(now, ((0, 0), (1, 0)))
        now = kernel @ np.where(differs[:, None], other, same)
        actual.append(now)
    return actual


def _windows(left: int, right: int) -> list[tuple[int, int]]:
    """Reaches to both sides that are about equal, or end with the chain."""
    pairs = []
    for step in range(max(left, right) + 1):
        for a, b in ((step, step), (step + 1, step), (step, step + 1)):
            pairs.append((min(a, left), min(b, right)))
    return sorted(set(pairs))


def main() -> int:
    """Stationary chains of 1,000 records that stay with one probability."""
    for stay in (0.6, 0.7, 0.9):
        table = np.array([[stay, 1.0 - stay], [1.0 - stay, stay]])
        values = ", ".join(f"{value:.3f}" for value in curve(table, 1000, 2 * FIRST_REACH))
        print(f"stay {stay:g}: a(0), a(1), ... at least {values}")
        noise = ", ".join(f"{scale(table, 1000, t):.3f} at {t:g}" for t in (0.5, 1.0, 5.0, 10.0))
        print(f"  noise scale at least {noise}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
