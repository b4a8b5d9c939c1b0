"""The largest ratio of two averages of a log-Lipschitz function, proved from below and above.

For laws `p` and `q` on the same states and costs `c(v, w) >= 1`,

    sup { p . g / q . g  :  g > 0,  g(v) <= c(v, w) g(w) for all v, w }.

A linear program. Any flows `y >= 0` prove, by weak duality, that it is at most

    max over v of ( p(v) - sum_w y(v, w) + sum_w c(w, v) y(w, v) ) / q(v).

The best flows run along a tree of edges `v -> w` on which `g(v) = c(v, w) g(w)`. A primal network
simplex in doubles finds the tree; its flows are then computed in balls, which proves the bound
whatever the doubles did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball, watched

Edges = tuple[tuple[int, int], ...]
"""A tree: pairs `(v, w)` of states with `g(v) = c(v, w) g(w)`."""

Costs = Sequence[Sequence[arb]]
_LARGEST_LOG = 600.0
_ROUNDING = 1e-14


def ratio_bound(
    p: Sequence[arb | Fraction],
    q: Sequence[arb | Fraction],
    cost: Costs,
    hint: Edges | None = None,
) -> tuple[arb, Edges]:
    """A ball that is at least the ratio, and the tree that proves it, to hint the next call with.

    `p` and `q` are laws; `cost` is as in the definition, its diagonal is not looked at. States of
    probability 0 under both don't matter.
    """
    watched()
    p, q = _balls(p), _balls(q)
    alive = [v for v in range(len(p)) if not (p[v].is_zero() and q[v].is_zero())]
    if len(alive) == 1:
        return arb(1), ()
    if len(alive) == 2:
        v, w = alive
        return _two([p[v], p[w]], [q[v], q[w]], cost[v][w], cost[w][v]), ()
    tree, found = _search(p, q, cost, alive, hint)
    bound = _proved(p, q, cost, alive, tree)
    if not (found and bound.is_finite()):
        by_set = threshold_bound(p, q, cost)
        bound = bound.min(by_set) if bound.is_finite() else by_set
    return bound, tree


def threshold_bound(p: Sequence[arb], q: Sequence[arb], cost: Costs) -> arb:
    """The same with every cost replaced by the largest, `c`: a set of states against the others.

    With `phi(t) = 1 - t + (c - 1) sum_v max(p_v - t q_v, 0)`, `t` is a bound if `phi(t) <= 0`. The
    slope of `phi` is at most -1, so `t + max(phi(t), 0)` is one for any `t`.
    """
    states = range(len(p))
    excess = arb(0)
    for v in states:
        for w in states:
            if v != w:
                excess = excess.max(cost[v][w] - 1)
    up_p, up_q, best, highest = arb(0), arb(0), arb(1), 1.0
    for v in sorted(states, key=lambda v: -_quotient(float(p[v]), float(q[v]))):
        up_p, up_q = up_p + p[v], up_q + q[v]
        value = (1 + excess * up_p) / (1 + excess * up_q)
        if float(value) > highest:
            best, highest = value, float(value)
    trial = best.mid()
    rest = sum(((p[v] - trial * q[v]).max(arb(0)) for v in states), arb(0))
    return trial + (1 - trial + excess * rest).max(arb(0))


def _balls(law: Sequence[arb | Fraction]) -> list[arb]:
    return [ball(x) if isinstance(x, Fraction) else x for x in law]


def _quotient(first: float, second: float) -> float:
    return first / second if second > 0.0 else math.inf


def _two(p: list[arb], q: list[arb], up: arb, down: arb) -> arb:
    """Two states: the ratio is monotone in `g(0) / g(1)`, which lies in `[1 / down, up]`."""
    return ((p[0] * up + p[1]) / (q[0] * up + q[1])).max(
        (p[0] + p[1] * down) / (q[0] + q[1] * down)
    )


# -- the proof, in balls ----------------------------------------------------------------


def _proved(p: list[arb], q: list[arb], cost: Costs, alive: list[int], tree: Edges) -> arb:
    """What the flows of a tree prove. Infinite, or no number, where they prove nothing."""
    root, order = _rooted(alive, tree)
    weight = {root: arb(1)}
    for state, above, edge in order:
        watched()
        v, w = edge
        weight[state] = weight[above] * cost[v][w] if state == v else weight[above] / cost[v][w]
    value = _sum(p[v] * weight[v] for v in alive) / _sum(q[v] * weight[v] for v in alive)
    # In units of `weight` a flow arrives as it left, so each is what its branch has in excess.
    mass = {v: (p[v] - value * q[v]) * weight[v] for v in alive}
    flows: list[tuple[tuple[int, int], arb]] = []
    for state, above, edge in reversed(order):
        mass[above] = mass[above] + mass[state]
        flows.append((edge, mass[state] if state == edge[0] else -mass[state]))
    if all(bool(flow >= 0) for _, flow in flows):
        return value
    return _with_flows(p, q, cost, alive, [(e, f.max(arb(0)) / weight[e[0]]) for e, f in flows])


def _with_flows(
    p: list[arb],
    q: list[arb],
    cost: Costs,
    alive: list[int],
    flows: list[tuple[tuple[int, int], arb]],
) -> arb:
    """The weak-duality bound of any non-negative flows."""
    need = {v: p[v] for v in alive}
    for (v, w), flow in flows:
        need[v] = need[v] - flow
        need[w] = need[w] + cost[v][w] * flow
    paying = [v for v in alive if bool(q[v] > 0)]
    for v in alive:
        if v not in paying:  # it must need nothing, so another state takes what it needs
            w = min(paying, key=lambda w: float(cost[v][w] / q[w]))
            need[w] = need[w] + cost[v][w] * need[v].max(arb(0))
    bound = arb(1)
    for v in paying:
        bound = bound.max(need[v] / q[v])
    return bound


def _sum(terms: Iterable[arb]) -> arb:
    return sum(terms, arb(0))


def _rooted(
    alive: Sequence[int], tree: Edges, root: int | None = None
) -> tuple[int, list[tuple[int, int, tuple[int, int]]]]:
    """The tree from its root outwards: each state, the one above it, and the edge between them."""
    beside: dict[int, list[tuple[int, tuple[int, int]]]] = {v: [] for v in alive}
    for edge in tree:
        beside[edge[0]].append((edge[1], edge))
        beside[edge[1]].append((edge[0], edge))
    start = alive[0] if root is None else root
    seen, reached, order = {start}, [start], []
    for above in reached:  # grows while it is walked
        for state, edge in beside[above]:
            if state not in seen:
                seen.add(state)
                reached.append(state)
                order.append((state, above, edge))
    return start, order


# -- the search, in doubles -------------------------------------------------------------


def _search(
    p: list[arb], q: list[arb], cost: Costs, alive: list[int], hint: Edges | None
) -> tuple[Edges, bool]:
    """A tree, and whether it looks optimal."""
    fp, fq = {v: float(p[v]) for v in alive}, {v: float(q[v]) for v in alive}
    log = {
        (v, w): min(math.log(max(float(cost[v][w]), 1.0)), _LARGEST_LOG)
        for v in alive
        for w in alive
        if v != w
    }
    tree = _usable(hint, alive, log) if hint is not None else None
    if tree is None:
        tree = _start(fp, fq, log, alive)
    for _ in range(8 * len(alive) ** 2):
        height = _heights(alive, tree, log)
        edge = _leaving(fp, fq, alive, tree, height)
        if edge is None:
            return tuple(tree), True
        tree = _pivot(alive, tree, edge, height, log)
    return tuple(tree), False


Logs = dict[tuple[int, int], float]


def _start(fp: dict[int, float], fq: dict[int, float], log: Logs, alive: list[int]) -> Edges:
    """Everybody as high above the lowest as the costs allow: shortest paths to it."""
    lowest = min(alive, key=lambda v: _quotient(fp[v], fq[v]))
    distance = {v: math.inf for v in alive} | {lowest: 0.0}
    after: dict[int, int] = {}
    todo = list(alive)
    while todo:
        w = min(todo, key=lambda v: distance[v])
        todo.remove(w)
        for v in todo:
            if distance[w] + log[v, w] < distance[v]:
                distance[v], after[v] = distance[w] + log[v, w], w
    return tuple(after.items())


def _usable(hint: Edges, alive: list[int], log: Logs) -> Edges | None:
    """The hint, if it is a tree of these states that obeys the costs."""
    if len(hint) != len(alive) - 1 or any(edge not in log for edge in hint):
        return None
    if len(_rooted(alive, hint)[1]) != len(hint):
        return None
    height = _heights(alive, hint, log)
    obeys = all(height[v] <= log[v, w] + height[w] + 1e-9 for v, w in log)
    return hint if obeys else None


def _heights(alive: list[int], tree: Edges, log: Logs) -> dict[int, float]:
    root, order = _rooted(alive, tree)
    height = {root: 0.0}
    for state, above, edge in order:
        height[state] = height[above] + (log[edge] if state == edge[0] else -log[edge])
    return height


def _leaving(
    fp: dict[int, float],
    fq: dict[int, float],
    alive: list[int],
    tree: Edges,
    height: dict[int, float],
) -> tuple[int, int] | None:
    """The edge with the most negative flow, if there is one."""
    top = max(height.values())
    weight = {v: math.exp(height[v] - top) for v in alive}
    below = math.fsum(fq[v] * weight[v] for v in alive)
    if below <= 0.0:
        return None
    value = math.fsum(fp[v] * weight[v] for v in alive) / below
    size = {v: (fp[v] + value * fq[v]) * weight[v] for v in alive}
    mass = {v: (fp[v] - value * fq[v]) * weight[v] for v in alive}
    # From the heaviest state, so that branches are sums of small terms and nothing cancels.
    _, order = _rooted(alive, tree, max(alive, key=lambda v: size[v]))
    worst, found = 0.0, None
    for state, above, edge in reversed(order):
        flow = mass[state] if state == edge[0] else -mass[state]
        mass[above] += mass[state]
        size[above] += size[state]
        if flow < -_ROUNDING * size[state] and flow / size[state] < worst:
            worst, found = flow / size[state], edge
    return found


def _pivot(
    alive: list[int], tree: Edges, edge: tuple[int, int], height: dict[int, float], log: Logs
) -> Edges:
    """Lower the branch at the edge's tail until the next cost binds."""
    rest = tuple(other for other in tree if other != edge)
    branch = {edge[0]} | {state for state, _, _ in _rooted(alive, rest, edge[0])[1]}
    entering = min(
        ((x, y) for x in alive if x not in branch for y in branch),
        key=lambda pair: log[pair] + height[pair[1]] - height[pair[0]],
    )
    return (*rest, entering)
