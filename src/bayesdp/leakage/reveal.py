"""A bound on an attack from those on attacks by somebody who knows a record more (theory 3.3).

Let `C[i, K]` bound the ratios of the attacks `(i, K)`, without the record's own `e^eps`. Reveal an
unknown record `k`. Given `x_k` the ratio is at most `M(x_k) = C[i, K + k]`, and the average given
`x_i', x_k` changes with `x_k` by at most `c = e^eps C[k, K + i]`. So the ratio is at most

    sup { sum_k p(x_k) M(x_k) B(x_k) / sum_k q(x_k) B(x_k)  :  B > 0, B(v) <= c(v, w) B(w) },

`p` and `q` being the laws of `x_k` under both values of the attacked record. It needs no program
and no solver: anybody can compute it anew, from small sets of unknown records to large ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.numbers import UNIT

TableKey = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Compared:
    """The attacks of one `(i, K)`: which values they compare, given which known cell.

    They are consecutive in a longer list, from `start` on.
    """

    record: int
    known: tuple[int, ...]
    start: int
    value: Ints
    other: Ints
    column: Ints

    @property
    def places(self) -> slice:
        """Their positions in that list."""
        return slice(self.start, self.start + len(self.value))


class Reveal:
    """Tables `C[i, K]` of shape `(s_i, s_i, known cells)`, filled from few unknowns to many.

    Pairs of values that are not both possible have the entry `inf`.
    """

    def __init__(self, joint: Floats, dp_epsilon: float) -> None:
        self.joint = joint
        self.cost = math.exp(dp_epsilon)
        self.rounded = 1.0 + (64.0 + 8.0 * joint.size) * UNIT
        self.tables: dict[TableKey, Floats] = {}

    def put(self, part: Compared, ratios: Floats) -> None:
        """Store bounds on the attacks of one `(i, K)`, for larger ones to use."""
        size = self.joint.shape[part.record]
        cells = math.prod(self.joint.shape[j] for j in part.known)
        table = np.full((size, size, cells), np.inf)
        table[part.value, part.other, part.column] = ratios
        self.tables[part.record, part.known] = table

    def get(self, record: int, known: tuple[int, ...]) -> Floats:
        """Stored bounds; 1 where nothing is unknown."""
        key = (record, known)
        if key not in self.tables:
            size = self.joint.shape[record]
            if len(known) < self.joint.ndim - 1:  # never both possible
                cells = math.prod(self.joint.shape[j] for j in known)
                return np.full((size, size, cells), np.inf)
            possible = np.moveaxis(self.joint, record, 0).reshape(size, -1) > 0.0
            both = possible[:, None, :] & possible[None, :, :]
            self.tables[key] = np.where(both, 1.0, np.inf)
        return self.tables[key]

    def bound(self, record: int, known: tuple[int, ...]) -> Floats:
        """The least bound over the records that may be revealed, shape `(s_i, s_i, cells)`."""
        unknown = [k for k in range(self.joint.ndim) if k != record and k not in known]
        best = self._revealed(record, known, unknown[0])
        for k in unknown[1:]:
            best = np.minimum(best, self._revealed(record, known, k))
        return best

    def _revealed(self, record: int, known: tuple[int, ...], k: int) -> Floats:
        """The bound by revealing record `k`."""
        shape = self.joint.shape
        states = shape[k]
        law = self._law(record, known, k)
        more = _spread(self.get(record, _with(known, k)), shape, known, k)
        change = _spread(self.get(k, _with(known, record)), shape, known, record)
        # change[v, w, column, x_i]: the pair of values of k; wanted at x_i' on axis 1 of the result
        change = np.moveaxis(change, -1, 2) * self.cost
        p = law[:, None] * np.where(law[:, None] > 0.0, more, 0.0)
        q = np.broadcast_to(law[None], p.shape)
        if states == 2:
            return _two(p, q, change[0, 1][None], change[1, 0][None]) * self.rounded
        alive = np.isfinite(change) & ~np.eye(states, dtype=bool)[:, :, None, None]
        largest = np.where(alive, change, 1.0).max(axis=(0, 1))
        return _threshold(p, q, np.broadcast_to(largest, p.shape[:-1])) * self.rounded

    def _law(self, record: int, known: tuple[int, ...], k: int) -> Floats:
        """The law of `x_k` given `x_i, x_K`, shape `(s_i, cells, s_k)`; 0 where impossible."""
        axes = (record, *known, k)
        rest = tuple(j for j in range(self.joint.ndim) if j not in axes)
        marginal = self.joint.sum(axis=rest)
        places = sorted(axes)
        moved = np.transpose(marginal, [places.index(j) for j in axes])
        flat = moved.reshape(moved.shape[0], -1, moved.shape[-1])
        mass = flat.sum(axis=-1, keepdims=True)
        law: Floats = flat / np.where(mass > 0.0, mass, 1.0)
        return law


def _with(known: tuple[int, ...], k: int) -> tuple[int, ...]:
    return tuple(sorted((*known, k)))


def _spread(table: Floats, shape: tuple[int, ...], known: tuple[int, ...], k: int) -> Floats:
    """A table whose known cells are those of `known` and `k`, with the axis of `k` last."""
    everybody = _with(known, k)
    known_axes = table.reshape(*table.shape[:2], *(shape[j] for j in everybody))
    moved = np.moveaxis(known_axes, 2 + everybody.index(k), -1)
    return moved.reshape(*table.shape[:2], -1, shape[k])


def _two(p: Floats, q: Floats, first: Floats, second: Floats) -> Floats:
    """The sup for two values: `B(0) / B(1)` at either end. `first` bounds B(0) / B(1)."""
    # An infinite cost stands for an impossible value, which has weight 0 on both sides.
    first, second = (np.where(np.isfinite(cost), cost, 1.0) for cost in (first, second))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        best: Floats = np.maximum(
            (p[..., 0] * first + p[..., 1]) / (q[..., 0] * first + q[..., 1]),
            (p[..., 0] + p[..., 1] * second) / (q[..., 0] + q[..., 1] * second),
        )
    best[np.isnan(best)] = np.inf
    return best


def _threshold(p: Floats, q: Floats, cost: Floats) -> Floats:
    """The sup where every change costs the same, in the best set of values against the others."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(p > 0.0, p / q, np.where(q > 0.0, 0.0, -1.0))
    order = np.argsort(-ratio, axis=-1)
    up_p = np.cumsum(np.take_along_axis(p, order, -1), axis=-1)
    up_q = np.cumsum(np.take_along_axis(q, order, -1), axis=-1)
    excess = cost[..., None] - 1.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = (up_p[..., -1:] + excess * up_p) / (up_q[..., -1:] + excess * up_q)
        plain = up_p[..., -1] / up_q[..., -1]
    best: Floats = np.nan_to_num(np.maximum(ratios.max(axis=-1), plain), nan=np.inf, posinf=np.inf)
    return best
