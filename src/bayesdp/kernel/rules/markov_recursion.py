"""Markov chains: the sharp recursion (theory 3.5), and on tuples of an order-k chain (3.5k)."""

from __future__ import annotations

from itertools import product
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, ball, require
from bayesdp.kernel.chains import MOST_WORK, Matrix, Recursion, Row, moebius, stationary
from bayesdp.kernel.core import Conversion
from bayesdp.kernel.orders import exact_rows, tuple_kernel
from bayesdp.kernel.ratios import Edges, ratio_bound
from bayesdp.statements.chains import STATIONARY, MarkovChain

MOST_ROUNDS = 5000


def bound(conversion: Conversion) -> arb:
    """Each step's linear program is bounded by a dual that is verified in balls."""
    population = conversion.population
    if isinstance(population, MarkovChain) and population.order > 1:
        require(conversion.adversary == "uninformed", "for order k: uninformed adversaries only")
        return _tuples(conversion, population)
    recursion = Recursion(population, uninformed=conversion.adversary == "uninformed")
    ratio = moebius if recursion.size == 2 else _Programs()
    return ball(conversion.total) + recursion.level(conversion.total, ratio, conversion.details)


class _Programs:
    """The ratio by `ratio_bound`; each program starts from the tree of the one before it."""

    def __init__(self) -> None:
        self.trees: dict[tuple[Any, ...], Edges] = {}

    def __call__(self, key: tuple[Any, ...], p: Row, q: Row, cost: Matrix) -> arb:
        place = ("tail", key[1], *key[3:]) if key[0] == "tail" else key[1:]
        value, tree = ratio_bound(p, q, cost, self.trees.get(place))
        if tree is not None:
            self.trees[place] = tree
        return value


def _tuples(conversion: Conversion, chain: MarkovChain) -> arb:
    """Every length of a stationary chain, from closed matrices for both sides."""
    require(chain.initial == STATIONARY, "another start")
    rows, order = exact_rows(chain), chain.order
    kernel = tuple_kernel(rows)
    law = stationary(kernel)
    require(min(law) > 0, "some tuples can't occur")
    count, states = len(kernel), len(rows[0])
    digits = list(product(range(states), repeat=order))
    factor = ball(conversion.total).exp()
    forward = [[ball(entry) for entry in row] for row in kernel]
    backward = [[ball(kernel[w][u] * law[w] / law[u]) for w in range(count)] for u in range(count)]
    right = _closed(forward, [digit[-1] for digit in digits], factor)
    left = _closed(backward, [digit[0] for digit in digits], factor)
    cost = [
        [
            factor ** sum(a != b for a, b in zip(digits[u], digits[v], strict=True))
            * right[u][v]
            * left[u][v]
            for v in range(count)
        ]
        for u in range(count)
    ]
    worst = arb(1)
    for one, other in product(range(states), repeat=2):
        if one != other:
            p, q = (_target(law, digits, value) for value in (one, other))
            worst = worst.max(ratio_bound(p, q, cost, None)[0])
    return worst.log()


def _target(law: list[Any], digits: list[tuple[int, ...]], value: int) -> Row:
    """The law of the tuple that starts at the target, given the target's value."""
    weights = [w if digit[0] == value else 0 * w for w, digit in zip(law, digits, strict=True)]
    total = sum(weights)
    return [ball(weight / total) for weight in weights]


def _closed(kernel: Matrix, newest: list[int], factor: arb) -> Matrix:
    """`C` with `F(C) <= C` for the step that adds one record."""
    count = len(kernel)
    programs = _Programs()
    current = [[arb(1)] * count for _ in range(count)]
    # Half of the work is for the other side.
    affordable = MOST_WORK // (2 * count**3 * (count - 1))
    for done in range(MOST_ROUNDS):
        if done >= affordable:
            raise UnknownError(f"more than {affordable} rounds would be needed to close a side")
        cost = [
            [
                current[u][v] if newest[u] == newest[v] else factor * current[u][v]
                for v in range(count)
            ]
            for u in range(count)
        ]
        following = [[arb(1)] * count for _ in range(count)]
        for u, v in product(range(count), repeat=2):
            if u != v:
                value = programs(("closed", u, v), kernel[u], kernel[v], cost)
                following[u][v] = value.max(arb(1)).upper()
        if all(bool(following[u][v] <= current[u][v]) for u in range(count) for v in range(count)):
            return current
        widen = arb(1) + arb(2) ** -60
        current = [
            [
                current[u][v].max((following[u][v] * widen).upper()) if u != v else arb(1)
                for v in range(count)
            ]
            for u in range(count)
        ]
        require(bool(current[0][1] < arb(10) ** 120), "the recursion on tuples does not close")
    require(False, "the recursion on tuples does not close")
    return current
