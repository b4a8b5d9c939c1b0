"""Brute force for the notions: posterior tables, and searches over beliefs and events.

Written from the definitions (theory 5.1); nothing here knows a formula for a level. A *game* is a
vector of likelihoods of one output, one entry for each point that a belief speaks about.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.optimize import linprog, minimize_scalar

from tests.oracles.finite import distances

Database = tuple[int, ...]
SEARCH_ERROR = 1e-8
"""How far a searched level may lie below the supremum: golden sections in the log-odds of a belief,
which end at log-odds of 30 (so a limit is missed by about e^-30)."""


# ------------------------------------------------------ posteriors of two games


def posterior(belief: np.ndarray, game: np.ndarray) -> np.ndarray:
    """Bayes' rule; NaN where the output is impossible under this belief."""
    weights = belief * game
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(len(weights), np.nan)


def distance(belief: np.ndarray, real: np.ndarray, compared: np.ndarray) -> float:
    """Total variation between the posteriors of two games; 1 where only the second is undefined."""
    first, second = posterior(belief, real), posterior(belief, compared)
    if np.isnan(first).any():
        return 0.0  # the output can't be: nothing is asked
    if np.isnan(second).any():
        return 1.0
    return float(np.abs(first - second).sum() / 2.0)


def two_point_search(real: np.ndarray, compared: np.ndarray) -> float:
    """The largest distance over beliefs on one or two points: a grid of log-odds, then refined."""
    points = range(len(real))
    best = 0.0
    for u in points:
        best = max(best, distance(np.eye(len(real))[u], real, compared))
    for u, v in itertools.combinations(points, 2):

        def at(odds: float, u: int = u, v: int = v) -> float:
            share = 1.0 / (1.0 + math.exp(-odds))
            belief = np.zeros(len(real))
            belief[u], belief[v] = share, 1.0 - share
            return distance(belief, real, compared)

        grid = np.linspace(-30.0, 30.0, 41)
        heights = [at(odds) for odds in grid]
        top = int(np.argmax(heights))
        low, high = grid[max(top - 1, 0)], grid[min(top + 1, 40)]
        refined = minimize_scalar(
            lambda odds, f=at: -f(odds),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-7},
        )
        best = max(best, heights[top], -float(refined.fun))
    return best


def program_search(real: np.ndarray, compared: np.ndarray) -> float:
    """The largest distance over all beliefs, for positive likelihoods.

    Scale a belief so that `sum b compared = 1`, and let `t = sum b real`. The distance is
    `sum over points of b max(real / t - compared, 0)`: at fixed `t` a linear program in `b`.
    """

    def at(log_t: float) -> float:
        t = math.exp(log_t)
        gain = np.maximum(real / t - compared, 0.0)
        solution = linprog(-gain, A_eq=np.stack([compared, real]), b_eq=[1.0, t], method="highs-ds")
        return -float(solution.fun) if solution.status == 0 else 0.0

    logs = np.log(real / compared)
    grid = np.linspace(logs.min(), logs.max(), 33)
    heights = [at(item) for item in grid]
    top = int(np.argmax(heights))
    low, high = grid[max(top - 1, 0)], grid[min(top + 1, 32)]
    if high - low < 1e-12:
        return heights[top]
    refined = minimize_scalar(
        lambda item: -at(item), bounds=(low, high), method="bounded", options={"xatol": 1e-7}
    )
    return max(heights[top], -float(refined.fun))


# ------------------------------------------------------ the games of each notion


def replaced(channel: np.ndarray, record: int, default: int) -> np.ndarray:
    """The channel run on the table with this record replaced by the default."""
    out = np.empty_like(channel)
    for x in itertools.product(*map(range, channel.shape[:-1])):
        out[x] = channel[(*x[:record], default, *x[record + 1 :])]
    return out


def semantic_games(
    channel: np.ndarray, default: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """SP: for each record, default and output, the likelihoods over all databases."""
    for record in range(channel.ndim - 1):
        for d in range(channel.shape[record]) if default is None else (default,):
            other = replaced(channel, record, d)
            for y in range(channel.shape[-1]):
                yield channel[..., y].ravel(), other[..., y].ravel()


def likelihood(joint: np.ndarray, channel: np.ndarray, known: dict[int, int], y: int) -> float:
    """`P[y | known records]`, NaN where that is impossible."""
    hits = mass = 0.0
    for x in itertools.product(*map(range, joint.shape)):
        if all(x[j] == v for j, v in known.items()):
            hits += joint[x] * channel[(*x, y)]
            mass += joint[x]
    return hits / mass if mass > 0.0 else math.nan


def bayesian_games(
    joint: np.ndarray, channel: np.ndarray, *, known: bool, default: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """BSP: for each record, set S, default and output, the likelihoods over `(x_i, x_S)`.

    With `known` one game for each value of `x_S`.
    """
    n = joint.ndim
    for record, size in itertools.product(range(n), range(n)):
        others = [j for j in range(n) if j != record]
        for chosen in itertools.combinations(others, size):
            settings = list(itertools.product(*(range(joint.shape[j]) for j in chosen)))
            for d in range(joint.shape[record]) if default is None else (default,):
                for y in range(channel.shape[-1]):
                    blocks = [
                        _block(joint, channel, record, d, dict(zip(chosen, s, strict=True)), y)
                        for s in settings
                    ]
                    for game in blocks if known else [[row for b in blocks for row in b]]:
                        if game:
                            real, compared = np.array(game).T
                            yield real, compared


def _block(joint, channel, record, default, setting, y) -> list[tuple[float, float]]:
    """The points of one value of `x_S`; none where the default is impossible beside it."""
    compared = likelihood(joint, channel, {record: default} | setting, y)
    if math.isnan(compared):
        return []
    rows = []
    for value in range(joint.shape[record]):
        real = likelihood(joint, channel, {record: value} | setting, y)
        if not math.isnan(real):
            rows.append((real, compared))
    return rows


def semantic(
    games: Iterator[tuple[np.ndarray, np.ndarray]],
    search: Callable[[np.ndarray, np.ndarray], float] = two_point_search,
) -> float:
    """The largest level over games."""
    return max((search(real, compared) for real, compared in games), default=0.0)


# ------------------------------------------------------ membership privacy


def membership_level(belief: np.ndarray, game: np.ndarray) -> float:
    """The smallest level of one belief on the values of a record, from its posterior table."""
    after = posterior(belief, game)
    if np.isnan(after).any():
        return 0.0
    worst = 0.0
    for value in np.flatnonzero(belief > 0.0):
        others = np.arange(len(belief)) != value
        if after[value] > 0.0:
            worst = max(worst, math.log(after[value] / belief[value]))
        if belief[others].sum() > 0.0:
            left = after[others].sum()
            change = math.log(belief[others].sum() / left) if left > 0.0 else math.inf
            worst = max(worst, change)
    return worst


def membership(joint: np.ndarray, channel: np.ndarray, rng: np.random.Generator) -> float:
    """The largest level over beliefs on two values, extreme ones too, and random ones on all."""
    best = 0.0
    for game in record_games(joint, channel):
        for u, v in itertools.permutations(range(len(game)), 2):
            for odds in (-30.0, -1.0, 0.0):
                belief = np.zeros(len(game))
                belief[u] = 1.0 / (1.0 + math.exp(-odds))
                belief[v] = 1.0 / (1.0 + math.exp(odds))
                best = max(best, membership_level(belief, game))
        best = max(best, membership_level(rng.dirichlet(np.ones(len(game))), game))
    return best


def record_games(joint: np.ndarray, channel: np.ndarray) -> Iterator[np.ndarray]:
    """For each record, known others and output: the likelihoods of the record's values."""
    for record in range(joint.ndim):
        others = [j for j in range(joint.ndim) if j != record]
        for setting in itertools.product(*((None, *range(joint.shape[j])) for j in others)):
            known = {j: v for j, v in zip(others, setting, strict=True) if v is not None}
            for y in range(channel.shape[-1]):
                rows = [
                    likelihood(joint, channel, {record: value} | known, y)
                    for value in range(joint.shape[record])
                ]
                game = np.array([row for row in rows if not math.isnan(row)])
                if len(game) > 1:
                    yield game


def membership_of_prior(joint: np.ndarray, channel: np.ndarray) -> float:
    """The level of the population's own beliefs, with any known others."""
    best = 0.0
    for record in range(joint.ndim):
        others = [j for j in range(joint.ndim) if j != record]
        for setting in itertools.product(*((None, *range(joint.shape[j])) for j in others)):
            known = {j: v for j, v in zip(others, setting, strict=True) if v is not None}
            belief = np.array(
                [chance(joint, {record: v} | known) for v in range(joint.shape[record])]
            )
            if belief.sum() == 0.0:
                continue
            belief = belief / belief.sum()
            for y in range(channel.shape[-1]):
                game = np.array(
                    [
                        likelihood(joint, channel, {record: v} | known, y) if belief[v] > 0 else 0.0
                        for v in range(joint.shape[record])
                    ]
                )
                best = max(best, membership_level(belief, game))
    return best


def chance(joint: np.ndarray, known: dict[int, int]) -> float:
    """`P[known records]`."""
    return float(
        sum(
            joint[x]
            for x in itertools.product(*map(range, joint.shape))
            if all(x[j] == v for j, v in known.items())
        )
    )


# ------------------------------------------------------ groups, interventions, secrets, delta


def ratio(top: float, bottom: float) -> float:
    """`ln top - ln bottom`; nothing where both are 0."""
    if top == 0.0:
        return -math.inf if bottom > 0.0 else 0.0
    return math.log(top) - math.log(bottom) if bottom > 0.0 else math.inf


def group_level(channel: np.ndarray, size: int) -> float:
    """The largest log ratio between databases that differ in at most `size` records."""
    flat = channel.reshape(-1, channel.shape[-1])
    apart = distances(channel.shape[:-1])
    pairs = zip(*np.nonzero((apart <= size) & (apart > 0)), strict=True)
    return max(ratio(flat[a, y], flat[b, y]) for a, b in pairs for y in range(flat.shape[1]))


def setting_level(joint: np.ndarray, channel: np.ndarray) -> float:
    """The effect of setting a record: the others drawn as if nothing had been set."""
    best = 0.0
    for record, y in itertools.product(range(joint.ndim), range(channel.shape[-1])):
        effects = []
        for value in range(joint.shape[record]):
            total = 0.0
            for x in itertools.product(*map(range, joint.shape)):
                total += joint[x] * channel[(*x[:record], value, *x[record + 1 :], y)]
            effects.append(total)
        best = max(best, *(ratio(a, b) for a in effects for b in effects))
    return best


Predicate = Callable[[Database], bool]


def secrets_level(
    joint: np.ndarray, channel: np.ndarray, pairs: Sequence[tuple[Predicate, Predicate]]
) -> float:
    """Pufferfish under one law, from predicates on databases."""
    best = 0.0
    databases = list(itertools.product(*map(range, joint.shape)))
    for first, second in pairs:
        a = [x for x in databases if first(x) and joint[x] > 0.0]
        b = [x for x in databases if second(x) and joint[x] > 0.0]
        if not a or not b:
            continue
        for y in range(channel.shape[-1]):
            sides = [
                sum(joint[x] * channel[(*x, y)] for x in s) / sum(joint[x] for x in s)
                for s in (a, b)
            ]
            best = max(best, abs(ratio(sides[0], sides[1])))
    return best


def largest_excess(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """The largest `P[S] - e^epsilon Q[S]` over all sets of outputs, listed."""
    sets = itertools.product((0.0, 1.0), repeat=len(first))
    return max(float(np.array(s) @ (first - math.exp(epsilon) * second)) for s in sets)


def delta_levels(joint: np.ndarray, channel: np.ndarray, epsilon: float) -> tuple[float, float]:
    """The smallest delta of DP, and of BDP for any adversary, at this epsilon."""
    flat = channel.reshape(-1, channel.shape[-1])
    apart = distances(channel.shape[:-1])
    dp = max(
        largest_excess(flat[a], flat[b], epsilon)
        for a, b in zip(*np.nonzero(apart == 1), strict=True)
    )
    bdp = 0.0
    for record in range(joint.ndim):
        others = [j for j in range(joint.ndim) if j != record]
        for setting in itertools.product(*((None, *range(joint.shape[j])) for j in others)):
            known = {j: v for j, v in zip(others, setting, strict=True) if v is not None}
            laws = []
            for value in range(joint.shape[record]):
                if chance(joint, {record: value} | known) > 0.0:
                    outputs = range(channel.shape[-1])
                    at = {record: value} | known
                    laws.append(np.array([likelihood(joint, channel, at, y) for y in outputs]))
            for a, b in itertools.permutations(laws, 2):
                bdp = max(bdp, largest_excess(a, b, epsilon))
    return dp, bdp
