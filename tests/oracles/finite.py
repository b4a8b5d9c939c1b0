"""Brute force over all mechanisms on a small finite population: the second route to every level.

Nothing here knows a theorem of the package. The worst case over all eps-DP mechanisms is, by the
definition of leakage, the largest `E[g(X) | x_i, x_K] / E[g(X) | x_i', x_K]` over functions `g > 0`
with `g(x) <= e^eps g(x')` for adjacent databases (such a `g`, scaled down, is one outcome's
probability in a two-outcome eps-DP mechanism).

Two facts keep the search small; both are elementary.

* *Restriction.* Only the values `x_K`, `x_i`, `x_i'` and the unknowns `x_U` enter the ratio. A
  `g` on those cells extends to the whole domain as `g(r(x))`, where `r` replaces every other
  value of a record by an admitted one: `r` acts record by record, so adjacent databases stay
  adjacent or become equal. Cells of probability zero stay in, since the mechanism must be private
  there too. Given `g` at `x_i'`, the largest admissible `g` at `x_i` is `e^eps` times it, so the
  level is `eps` plus the sup over functions `h` of `x_U`. (`reduced=False` keeps both halves, and
  a test compares the two.)
* *Vertices.* The admissible `h` with `E[h | x_i'] = 1` form a compact polytope. A vertex has as
  many independent tight constraints as cells, so tight constraints `h(x) = e^eps h(x')` connect
  all cells, and `h = C e^(eps k)` with an integer function `k` that changes by at most one
  between adjacent cells. Small domains are enumerated (exact up to rounding); larger ones go to
  HiGHS, whose answer is rounded to such a `k` and evaluated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix

ADVERSARIES = ("any", "uninformed", "informed")
EMPTY: tuple[int, ...] = ()


@dataclass(frozen=True)
class Attack:
    """Who attacks what: record `i`, the known records and values, and the two compared values."""

    record: int
    known: tuple[int, ...]
    known_values: tuple[int, ...]
    value: int
    other: int


@dataclass(frozen=True)
class Worst:
    """A level that some mechanism attains, a bound that none exceeds, and the attack.

    The attack is None where there is nothing to tell apart.
    """

    level: float
    upper: float
    attack: Attack | None


def known_sets(n: int, record: int, adversary: str) -> Iterator[tuple[int, ...]]:
    """The sets of records that an adversary of this class may know when attacking `record`."""
    others = [j for j in range(n) if j != record]
    if adversary == "uninformed":
        yield EMPTY
    elif adversary == "informed":
        yield tuple(others)
    elif adversary == "any":
        for size in range(n):
            yield from itertools.combinations(others, size)
    else:
        raise ValueError(f"adversary must be one of {ADVERSARIES}, got {adversary!r}")


def _grouped(array: np.ndarray, record: int, known: tuple[int, ...]) -> np.ndarray:
    """Reorder the first axes as (record, known cells, unknown cells); later axes stay last."""
    n = array.ndim
    unknown = [j for j in range(n) if j != record and j not in known]
    moved = np.transpose(array, (record, *known, *unknown))
    return moved.reshape(
        array.shape[record],
        math.prod(array.shape[j] for j in known),
        math.prod(array.shape[j] for j in unknown),
    )


def _checked(joint: np.ndarray) -> np.ndarray:
    joint = np.asarray(joint, dtype=float)
    if joint.ndim < 1 or joint.min() < 0 or not np.isclose(joint.sum(), 1.0, atol=1e-6):
        raise ValueError("the joint law must be a non-negative array with sum 1")
    return joint


# ------------------------------------------------------ the polytope of log-Lipschitz functions


@cache
def adjacent_pairs(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """All ordered pairs of cells of this product domain that differ in exactly one record."""
    cells = np.array(list(itertools.product(*map(range, shape)))).reshape(
        math.prod(shape), len(shape)
    )
    differing = (cells[:, None, :] != cells[None, :, :]).sum(axis=2)
    first, second = np.nonzero(differing == 1)
    return first, second


@cache
def distances(shape: tuple[int, ...]) -> np.ndarray:
    """Number of records in which two cells differ."""
    cells = np.array(list(itertools.product(*map(range, shape)))).reshape(
        math.prod(shape), len(shape)
    )
    return (cells[:, None, :] != cells[None, :, :]).sum(axis=2)


def enumerable(shape: tuple[int, ...]) -> bool:
    """Whether listing the vertices of this domain is cheap."""
    cells = math.prod(shape)
    return cells <= 12 or (max(shape) == 2 and len(shape) <= 4) or shape == (4, 4)


@cache
def vertices(shape: tuple[int, ...]) -> np.ndarray:
    """Every `k`, 0 in the first cell, whose tight pairs `|k(x) - k(x')| = 1` connect all cells."""
    n = math.prod(shape)
    apart = distances(shape)
    actual = np.zeros((1, 1), dtype=np.int8)
    # in a bipartite domain, "connected by tight pairs" means that every pair is tight
    smallest = 1 if max(shape, default=1) <= 2 else 0
    for cell in range(1, n):
        near = [d for d in range(cell) if apart[cell, d] == 1]
        grown = []
        for value in range(-len(shape), len(shape) + 1):
            step = np.abs(actual[:, near] - value)
            fits = ((step >= smallest) & (step <= 1)).all(axis=1)
            grown.append(
                np.hstack([actual[fits], np.full((int(fits.sum()), 1), value, dtype=np.int8)])
            )
        actual = np.vstack(grown)
    reached = np.zeros((len(actual), n), dtype=bool)
    reached[:, 0] = True
    first, second = adjacent_pairs(shape)
    for _ in range(n):
        before = reached.sum()
        for a, b in zip(first, second, strict=True):
            reached[:, a] |= reached[:, b] & (actual[:, a] != actual[:, b])
        if reached.sum() == before:
            break
    return actual[reached.all(axis=1)]


def ratio_by_enumeration(p: np.ndarray, q: np.ndarray, shape: tuple[int, ...], eps: float) -> float:
    """sup of `E_p[h] / E_q[h]` over log-Lipschitz `h`, as the best of all vertices."""
    weights = np.exp(eps * vertices(shape).astype(float))
    return float(np.max((weights @ p) / (weights @ q)))


def _lipschitz_integers(h: np.ndarray, shape: tuple[int, ...], eps: float) -> np.ndarray:
    """The integers nearest to `ln h / eps`, lowered where they change by more than one."""
    logs = np.log(np.maximum(h, 1e-300)) / eps
    top = int(np.argmax(h))
    k = np.rint(logs - logs[top])
    return np.min(k[None, :] + distances(shape), axis=1)


def ratio_by_program(
    p: np.ndarray, q: np.ndarray, shape: tuple[int, ...], eps: float, rounds: int = 6
) -> tuple[float, float]:
    """The same sup by linear programming: an attained value, and a bound from the rescaled dual.

    Each round rescales the variables by the last solution, so that everything is of order one near
    the optimum and the tolerances of the solver don't matter.
    """
    n = math.prod(shape)
    first, second = adjacent_pairs(shape)
    k = np.zeros(n)
    best, upper = 0.0, math.inf
    rows = np.arange(len(first))
    for _ in range(rounds):
        scale = np.exp(eps * k)
        scale = scale / (scale @ q)
        cost, mass = p * scale, q * scale
        bound = np.exp(eps * (1.0 + k[second] - k[first]))
        matrix = coo_matrix(
            (np.r_[np.ones(len(first)), -bound], (np.r_[rows, rows], np.r_[first, second])),
            shape=(len(first), n),
        ).tocsr()
        unit = max(float(cost.sum()), 1e-300)
        solution = linprog(
            -cost / unit,
            A_ub=matrix,
            b_ub=np.zeros(len(first)),
            A_eq=mass[None, :],
            b_eq=[1.0],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solution.status != 0:
            raise RuntimeError(f"HiGHS: {solution.message}")
        upper = min(upper, _dual_bound(solution, matrix, cost, mass, unit, shape, eps, k))
        k = _lipschitz_integers(solution.x * np.exp(eps * (k - k.max())), shape, eps)
        weights = np.exp(eps * k)
        value = float((weights @ p) / (weights @ q))
        if value <= best * (1 + 1e-13):
            break
        best = value
    return best, max(upper, best)


def _dual_bound(solution, matrix: csr_matrix, cost, mass, unit, shape, eps, k) -> float:
    """Weak duality with feasible multipliers: a residual is paid at the cell's largest value."""
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0) * unit
    level = -float(solution.eqlin.marginals[0]) * unit
    residual = np.maximum(cost - matrix.T @ multipliers - level * mass, 0.0)
    # h(x) <= e^(eps d(x, x')) h(x') and E_q h = 1 bound the scaled variable at x from above
    reach = np.exp(eps * (distances(shape) + k[None, :] - k[:, None]))
    largest = 1.0 / np.sum(mass[None, :] / reach, axis=1)
    return level + float(residual @ largest)


def _crude_ratio(p: np.ndarray, q: np.ndarray, oscillation: float) -> float:
    """sup over all functions whose largest ratio is `oscillation` (used to skip programs)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(
            -np.where(q > 0, p / np.where(q > 0, q, 1.0), np.where(p > 0, np.inf, -1.0))
        )
    high_p, high_q = np.r_[0.0, np.cumsum(p[order])], np.r_[0.0, np.cumsum(q[order])]
    return float(np.max((1 + (oscillation - 1) * high_p) / (1 + (oscillation - 1) * high_q)))


# ------------------------------------------------------ the worst case over mechanisms


def _comparisons(
    joint: np.ndarray, adversary: str
) -> Iterator[tuple[Attack, np.ndarray, np.ndarray, tuple[int, ...]]]:
    """Every attack whose two sides are possible, with the two laws of the unknown records."""
    n = joint.ndim
    for record in range(n):
        for known in known_sets(n, record, adversary):
            shape = tuple(joint.shape[j] for j in range(n) if j != record and j not in known)
            blocks = _grouped(joint, record, known)
            mass = blocks.sum(axis=2)
            settings = list(itertools.product(*(range(joint.shape[j]) for j in known)))
            for column, setting in enumerate(settings):
                for value, other in itertools.permutations(
                    np.flatnonzero(mass[:, column] > 0).tolist(), 2
                ):
                    attack = Attack(record, known, setting, value, other)
                    p = blocks[value, column] / mass[value, column]
                    q = blocks[other, column] / mass[other, column]
                    yield attack, p, q, shape


def worst_case(
    joint: np.ndarray,
    eps: float,
    adversary: str = "any",
    *,
    method: str = "auto",
    reduced: bool = True,
) -> Worst:
    """`L_pi(eps)`: the largest leakage that an eps-DP mechanism can have here, and who attains it.

    `joint` has one axis per record. `method` is "auto" (vertices where they are few, else linear
    programs), "enumerate" or "program". `reduced=False` solves for `g` on both compared values
    instead of for `h`. The level is attained up to rounding; `upper` is proved by duality (equal to
    the level for enumerated cells).
    """
    joint = _checked(joint)
    if eps <= 0:
        return Worst(0.0, 0.0, None)
    actual = Worst(0.0, 0.0, None)
    waiting = []
    for attack, p, q, shape in _comparisons(joint, adversary):
        if not reduced:
            shape, p, q = (2, *shape), np.r_[p, np.zeros_like(p)], np.r_[np.zeros_like(q), q]
        offset = eps if reduced else 0.0
        if not shape:
            actual = _better(actual, eps, eps, attack)
        elif method == "enumerate" or (method == "auto" and enumerable(shape)):
            level = offset + math.log(ratio_by_enumeration(p, q, shape, eps))
            actual = _better(actual, level, level, attack)
        else:
            crude = offset + math.log(_crude_ratio(p, q, math.exp(eps * len(shape))))
            waiting.append((crude, offset, attack, p, q, shape))
    for crude, offset, attack, p, q, shape in sorted(waiting, key=lambda item: -item[0]):
        if crude <= actual.level:
            break
        low, high = ratio_by_program(p, q, shape, eps)
        actual = _better(actual, offset + math.log(low), offset + math.log(high), attack)
    return actual


def _better(worst: Worst, level: float, upper: float, attack: Attack) -> Worst:
    upper = max(upper, worst.upper)
    if worst.attack is None or level > worst.level:
        return Worst(level, upper, attack)
    return Worst(worst.level, upper, worst.attack)


def delta_violation(
    joint: np.ndarray,
    eps: float,
    delta: float,
    eps_out: float,
    delta_out: float,
    adversary: str = "any",
) -> tuple[float, Attack | None]:
    """Largest `P[Y in S | x_i, x_K] - e^eps_out P[Y in S | x_i', x_K] - delta_out`, and the attack.

    Over all events of (eps, delta)-DP mechanisms: `S` has probability `g(x)` in [0, 1], the event
    and its complement obey (eps, delta)-DP, and the two-outcome mechanism with such a `g` is
    (eps, delta)-DP. So the answer is exact (up to the solver's tolerance).
    """
    joint = _checked(joint)
    worst, who = -math.inf, None
    for attack, p, q, rest in _comparisons(joint, adversary):
        shape = (2, *rest)
        first, second = adjacent_pairs(shape)
        rows = np.arange(len(first))
        ones, factor = np.ones(len(first)), np.full(len(first), math.exp(eps))
        index = (np.r_[rows, rows], np.r_[first, second])
        size = (len(first), math.prod(shape))
        event = coo_matrix((np.r_[ones, -factor], index), shape=size)
        complement = coo_matrix((np.r_[-ones, factor], index), shape=size)
        limits = np.r_[np.full(len(first), delta), np.full(len(first), math.expm1(eps) + delta)]
        gain = np.r_[p, -math.exp(eps_out) * q]
        solution = linprog(
            -gain,
            A_ub=csr_matrix(np.vstack([event.toarray(), complement.toarray()])),
            b_ub=limits,
            bounds=(0.0, 1.0),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solution.status != 0:
            raise RuntimeError(f"HiGHS: {solution.message}")
        if -solution.fun - delta_out > worst:
            worst, who = -solution.fun - delta_out, attack
    return worst, who


# ------------------------------------------------------ one given mechanism


def leakage(
    joint: np.ndarray, channel: np.ndarray, adversary: str = "any"
) -> tuple[float, Attack | None, int | None]:
    """BDP level of a channel (axes: records, then the outcome), with attack and outcome."""
    joint, channel = _checked(joint), np.asarray(channel, dtype=float)
    if channel.shape[:-1] != joint.shape:
        raise ValueError(
            "the channel needs one axis per record, of the same sizes, and the last for outcomes"
        )
    n, outcomes = joint.ndim, channel.shape[-1]
    best, who, where = 0.0, None, None
    for record in range(n):
        for known in known_sets(n, record, adversary):
            mass = _grouped(joint, record, known).sum(axis=2)
            hits = np.stack(
                [
                    _grouped(joint * channel[..., y], record, known).sum(axis=2)
                    for y in range(outcomes)
                ]
            )
            settings = list(itertools.product(*(range(joint.shape[j]) for j in known)))
            for column, setting in enumerate(settings):
                for value, other in itertools.permutations(
                    np.flatnonzero(mass[:, column] > 0).tolist(), 2
                ):
                    top = hits[:, value, column] / mass[value, column]
                    bottom = hits[:, other, column] / mass[other, column]
                    for y in np.flatnonzero(top > 0).tolist():
                        loss = math.log(top[y] / bottom[y]) if bottom[y] > 0 else math.inf
                        if who is None or loss > best:
                            best, where = loss, y
                            who = Attack(record, known, setting, value, other)
    return best, who, where


def dp_level(channel: np.ndarray) -> float:
    """DP level of a channel: the largest log ratio between adjacent databases, all domain."""
    channel = np.asarray(channel, dtype=float)
    first, second = adjacent_pairs(channel.shape[:-1])
    flat = channel.reshape(-1, channel.shape[-1])
    top, bottom = flat[first], flat[second]
    if np.any((top > 0) & (bottom == 0)):
        return math.inf
    return float(np.max(np.log(top[top > 0] / bottom[top > 0]), initial=0.0))


def product_channel(*channels: np.ndarray) -> np.ndarray:
    """Independent runs side by side, as one channel."""
    joined = np.asarray(channels[0], dtype=float)
    for channel in channels[1:]:
        joined = (joined[..., :, None] * np.asarray(channel)[..., None, :]).reshape(
            *joined.shape[:-1], -1
        )
    return joined
