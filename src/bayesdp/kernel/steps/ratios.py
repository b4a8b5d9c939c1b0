"""The largest ratio of two averages of a log-Lipschitz function, proved from above.

For laws `p` and `q` on the same states and costs `c(v, w) >= 1`,

    sup { p . g / q . g  :  g > 0,  g(v) <= c(v, w) g(w) for all v, w }.

A linear program. Any flows `y >= 0` prove, by weak duality, that it is at most

    max over v of ( p(v) - sum_w y(v, w) + sum_w c(w, v) y(w, v) ) / q(v).

The best flows run along a tree of edges `v -> w` on which `g(v) = c(v, w) g(w)`. From tree to tree
(a network simplex, all in balls) each edge with a negative flow gives way to the next cost that
binds; whichever tree is the last, its flows are a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import arb

from bayesdp.kernel.arithmetic import largest, watched

RatioRow = Sequence[arb]
Costs = Sequence[RatioRow]
Edge = tuple[int, int]
Edges = tuple[Edge, ...]
"""A tree: pairs `(v, w)` of states with `g(v) = c(v, w) g(w)`."""

MOST_PIVOTS = 8
"""Times the square of the number of states: from one tree to the best."""
_NEARLY = 1 + arb(2) ** -30
"""By what factor the function of a tree that is used again may go beyond a cost."""


def ratio_bound(
    p: RatioRow, q: RatioRow, cost: Costs, hint: Edges | None = None
) -> tuple[arb, Edges]:
    """A ball that is at least the ratio, and the tree that proves it, to hint the next call with.

    `p` and `q` are laws; `cost` is as in the definition, its diagonal is not looked at. States of
    probability 0 under both don't matter.
    """
    watched()
    alive = [v for v in range(len(p)) if not (p[v].is_zero() and q[v].is_zero())]
    if len(alive) < 3:
        return (two_states(p, q, cost, *alive) if len(alive) == 2 else arb(1)), ()
    tree = hint if hint is not None and _usable(hint, alive, cost) else _start(p, q, cost, alive)
    for left in reversed(range(1 + MOST_PIVOTS * len(alive) ** 2)):
        weight, value, flows = _solved(p, q, cost, alive, tree)
        negative = [edge for edge, flow in flows.items() if bool(flow < 0)]
        if not (negative and left):
            break
        tree = _pivot(alive, tree, min(negative, key=flows.__getitem__), weight, cost)
    if all(bool(flow >= 0) for flow in flows.values()):
        return value, tree
    bound = _with_flows(p, q, cost, alive, weight, flows)
    if negative or not bound.is_finite():
        by_set = threshold(p, q, cost)
        bound = bound.min(by_set) if bound.is_finite() else by_set
    return bound, tree


def two_states(p: RatioRow, q: RatioRow, cost: Costs, v: int = 0, w: int = 1) -> arb:
    """The ratio for two states, exact.

    It is monotone in `g(v) / g(w)`, which lies in `[1 / cost[w][v], cost[v][w]]`.
    """
    up, down = cost[v][w], cost[w][v]
    first = (p[v] * up + p[w]) / (q[v] * up + q[w])
    return first.max((p[v] + p[w] * down) / (q[v] + q[w] * down))


def threshold(p: RatioRow, q: RatioRow, cost: Costs) -> arb:
    """A bound on the ratio: that with every cost replaced by the largest."""
    off = (entry for v, row in enumerate(cost) for w, entry in enumerate(row) if v != w)
    return one_cost(p, q, largest([arb(1), *off]))


def one_cost(p: RatioRow, q: RatioRow, cost: arb) -> arb:
    """The ratio with one cost `c` for all pairs of states: a set of states against the others.

    With `phi(t) = 1 - t + (c - 1) sum_v max(p_v - t q_v, 0)`, `t` is a bound if `phi(t) <= 0`. The
    slope of `phi` is at most -1, so `t + max(phi(t), 0)` is a bound for any `t`.
    """
    excess = cost - 1
    up_p, up_q, best = arb(0), arb(0), arb(1)
    for v in sorted(range(len(p)), key=lambda v: -_quotient(p[v], q[v])):
        up_p, up_q = up_p + p[v], up_q + q[v]
        best = best.max((1 + excess * up_p) / (1 + excess * up_q))
    trial = best.mid()
    rest = sum(((a - trial * b).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))
    return trial + (1 - trial + excess * rest).max(arb(0))


def _quotient(first: arb, second: arb) -> float:
    above, below = float(first), float(second)
    return above / below if below > 0.0 else math.inf


# -- what a tree proves -----------------------------------------------------------------


def _solved(
    p: RatioRow, q: RatioRow, cost: Costs, alive: list[int], tree: Edges
) -> tuple[dict[int, arb], arb, dict[Edge, arb]]:
    """The function that a tree stands for, its ratio, and the flows that would prove it.

    In units of the function a flow arrives as it left, so each is what its branch has in excess.
    """
    weight = _weights(cost, alive, tree)
    value = sum((p[v] * weight[v] for v in alive), arb(0)) / sum(
        (q[v] * weight[v] for v in alive), arb(0)
    )
    mass = {v: (p[v] - value * q[v]) * weight[v] for v in alive}
    # From the heaviest state, so that branches are sums of small terms and nothing cancels.
    heaviest = max(alive, key=lambda v: ((p[v] + value * q[v]) * weight[v]).mid())
    flows: dict[Edge, arb] = {}
    for state, above, edge in reversed(_rooted(alive, tree, heaviest)):
        watched()
        mass[above] += mass[state]
        flows[edge] = mass[state] if state == edge[0] else -mass[state]
    return weight, value, flows


def _with_flows(
    p: RatioRow,
    q: RatioRow,
    cost: Costs,
    alive: list[int],
    weight: dict[int, arb],
    flows: dict[Edge, arb],
) -> arb:
    """The weak-duality bound, negative flows left out. Infinite, or no number, where it fails."""
    need = {v: p[v] for v in alive}
    for (v, w), flow in flows.items():
        leaving = flow.max(arb(0)) / weight[v]
        need[v] -= leaving
        need[w] += cost[v][w] * leaving
    paying = [v for v in alive if bool(q[v] > 0)]
    for v in alive:
        if v not in paying:  # it must need nothing, so another state takes what it needs
            w = min(paying, key=lambda w: float(cost[v][w] / q[w]))
            need[w] = need[w] + cost[v][w] * need[v].max(arb(0))
    return largest([arb(1), *(need[v] / q[v] for v in paying)])


def _weights(cost: Costs, alive: list[int], tree: Edges) -> dict[int, arb]:
    """The function that a tree stands for, 1 at the first state."""
    weight = {alive[0]: arb(1)}
    for state, above, (v, w) in _rooted(alive, tree, alive[0]):
        weight[state] = weight[above] * cost[v][w] if state == v else weight[above] / cost[v][w]
    return weight


def _rooted(alive: list[int], tree: Edges, root: int) -> list[tuple[int, int, Edge]]:
    """The tree from its root outwards: each state, the state above it, the edge between them."""
    beside: dict[int, list[tuple[int, Edge]]] = {v: [] for v in alive}
    for edge in tree:
        beside[edge[0]].append((edge[1], edge))
        beside[edge[1]].append((edge[0], edge))
    seen, reached, order = {root}, [root], []
    for above in reached:  # grows while it is walked
        for state, edge in beside[above]:
            if state not in seen:
                seen.add(state)
                reached.append(state)
                order.append((state, above, edge))
    return order


# -- from tree to tree ------------------------------------------------------------------


def _start(p: RatioRow, q: RatioRow, cost: Costs, alive: list[int]) -> Edges:
    """All states as high above the lowest as the costs allow: shortest paths to it."""
    lowest = min(alive, key=lambda v: _quotient(p[v], q[v]))
    height, after = {lowest: arb(1)}, dict[int, int]()
    todo = list(alive)
    while todo:
        w = min((v for v in todo if v in height), key=lambda v: height[v])
        todo.remove(w)
        for v in todo:
            through = (height[w] * cost[v][w]).mid()
            if v not in height or through < height[v]:
                height[v], after[v] = through, w
    return tuple(after.items())


def _usable(hint: Edges, alive: list[int], cost: Costs) -> bool:
    """Whether the hint is a tree of these states whose function nearly obeys the costs."""
    states = set(alive)
    if len(hint) != len(alive) - 1 or not all(v != w and {v, w} <= states for v, w in hint):
        return False
    weight = _weights(cost, alive, hint)
    if len(weight) != len(alive):
        return False
    above = {v: weight[v] * _NEARLY for v in alive}
    return all(bool(weight[v] <= cost[v][w] * above[w]) for v in alive for w in alive if v != w)


def _pivot(alive: list[int], tree: Edges, edge: Edge, weight: dict[int, arb], cost: Costs) -> Edges:
    """Lower the branch at the edge's tail until the next cost binds."""
    rest = tuple(other for other in tree if other != edge)
    branch = {edge[0]} | {state for state, _, _ in _rooted(alive, rest, edge[0])}
    entering = min(
        ((v, w) for v in alive if v not in branch for w in branch),
        key=lambda pair: cost[pair[0]][pair[1]] * weight[pair[1]] / weight[pair[0]],
    )
    return (*rest, entering)
