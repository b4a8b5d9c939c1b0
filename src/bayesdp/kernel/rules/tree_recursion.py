"""Trees, adversaries who know no record: the recursion along edges (theory 3.5r).

For neighbours `i` and `k`, `C_(k -> i)[u, u']` is the largest ratio of the means of a function
with `g(v) <= c(v, v') g(v')` under the laws of `x_k` given `x_i = u` and `u'`, where `c` is `e^eps`
times the product of what the other neighbours of `k` pass on. One pass up, one pass down.
"""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import Matrix
from bayesdp.kernel.models.graphs import Forest, read_tree
from bayesdp.kernel.steps.ratios import ratio_bound


def bound(conversion: Conversion) -> arb:
    """`eps + max_i max_(u, u') sum_k ln C_(k -> i)[u, u']`, over possible `u`, `u'`."""
    require(conversion.adversary == "uninformed", "it speaks of adversaries who know no record")
    tree = read_tree(conversion.population)
    laws = _laws(tree)
    own = ball(conversion.total).exp()
    nodes = range(len(tree.parents))
    total = [_filled(tree.size(node), own) for node in nodes]
    sent: list[Matrix] = [[] for _ in nodes]
    for node in reversed(tree.order):
        parent = tree.parents[node]
        if parent is not None:
            rows = [[ball(entry) for entry in row] for row in tree.rows[node]]
            sent[node] = _passed(rows, laws[parent], laws[node], total[node])
            total[parent] = _times(total[parent], sent[node])
    for node in tree.order:
        parent = tree.parents[node]
        if parent is not None:
            rows = _reversed(tree, node, laws)
            without = _over(total[parent], sent[node])
            total[node] = _times(total[node], _passed(rows, laws[node], laws[parent], without))
    best = own
    for node in nodes:
        possible = [u for u, weight in enumerate(laws[node]) if not weight.is_zero()]
        for u in possible:
            for v in possible:
                if u != v:
                    best = best.max(total[node][u][v])
    return best.log()


def _laws(tree: Forest) -> list[list[arb]]:
    """The law of each record; exactly 0 for impossible values."""
    laws: list[list[arb]] = [[] for _ in tree.parents]
    for node in tree.order:
        parent, rows = tree.parents[node], tree.rows[node]
        if parent is None:
            laws[node] = [ball(entry) for entry in rows[0]]
            continue
        laws[node] = [
            sum(
                (w * ball(row[v]) for w, row in zip(laws[parent], rows, strict=True) if row[v]),
                arb(0),
            )
            for v in range(tree.size(node))
        ]
    return laws


def _reversed(tree: Forest, node: int, laws: list[list[arb]]) -> list[list[arb]]:
    """The law of the parent for each possible value of the node."""
    above = laws[tree.parents[node] or 0]
    return [
        [
            weight * ball(row[v]) / here if row[v] and not here.is_zero() else arb(0)
            for weight, row in zip(above, tree.rows[node], strict=True)
        ]
        for v, here in enumerate(laws[node])
    ]


def _passed(rows: list[list[arb]], onto: list[arb], own: list[arb], cost: Matrix) -> Matrix:
    """`C` for each pair of values; 1 for impossible ones, which no law gives any weight.

    `onto` is the law of the record passed on to, `own` that of the one with the costs.
    """
    size = len(onto)
    passed = _filled(size, arb(1))
    states = [v for v, weight in enumerate(own) if not weight.is_zero()]
    inner = [[cost[v][w] for w in states] for v in states]
    laws = [[row[v] for v in states] for row in rows]
    values = [u for u, weight in enumerate(onto) if not weight.is_zero()]
    tree = None
    for u in values:
        for v in values:
            if u != v:
                ratio, tree = ratio_bound(laws[u], laws[v], inner, tree)
                passed[u][v] = ratio.max(arb(1))
    return passed


def _filled(size: int, value: arb) -> Matrix:
    return [[arb(1) if u == v else value for v in range(size)] for u in range(size)]


def _times(left: Matrix, right: Matrix) -> Matrix:
    return [[a * b for a, b in zip(*rows, strict=True)] for rows in zip(left, right, strict=True)]


def _over(above: Matrix, below: Matrix) -> Matrix:
    return [[a / b for a, b in zip(*rows, strict=True)] for rows in zip(above, below, strict=True)]
