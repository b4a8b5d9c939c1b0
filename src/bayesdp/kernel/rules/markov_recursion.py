"""Markov chains: the sharp recursion (theory 3.5), and on tuples of an order-k chain (3.5k)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import (
    MOST_WORK,
    BallRow,
    Matrix,
    ProgramKey,
    Recursion,
    chain_of,
    check_stationary,
    closing,
    stationary,
)
from bayesdp.kernel.models.orders import exact_rows, tuple_kernel
from bayesdp.kernel.steps.fixed_points import super_solution
from bayesdp.kernel.steps.ratios import Edges, ratio_bound
from bayesdp.statements.chains import MarkovChain


def bound(conversion: Conversion) -> arb:
    """`eps` and the largest `ln C_left + ln C_right`; verified duals bound each linear program."""
    population = chain_of(conversion)
    if population.order > 1:
        require(conversion.adversary == "uninformed", "for order k: uninformed adversaries only")
        return _tuples(conversion, population)
    recursion = Recursion(population, uninformed=conversion.adversary == "uninformed")
    level = recursion.level(conversion.total, _Programs(), conversion.details)
    return ball(conversion.total) + level


class _Programs:
    """The ratio by `ratio_bound`; each program starts from the tree of the one before it."""

    def __init__(self) -> None:
        self.trees: dict[ProgramKey, Edges] = {}

    def __call__(self, key: ProgramKey, p: BallRow, q: BallRow, cost: Matrix) -> arb:
        place = key if key[0] == "tail" else key[1:]
        value, tree = ratio_bound(p, q, cost, self.trees.get(place))
        if tree is not None:
            self.trees[place] = tree
        return value


def _tuples(conversion: Conversion, chain: MarkovChain) -> arb:
    """Every length of a stationary chain, from matrices that close both sides: the witness."""
    check_stationary(chain)
    rows, order = exact_rows(chain), chain.order
    count, states = len(rows), len(rows[0])
    # A tuple leads to as many others as there are states, so a program has twice that many.
    if 2 * count**2 * 2 * states > MOST_WORK:
        raise UnknownError(f"the ratios of {count} tuples would take too long")
    kernel = tuple_kernel(rows)
    law = stationary(kernel)
    require(min(law) > 0, "some tuples can't occur")
    digits = list(product(range(states), repeat=order))
    factor = ball(conversion.total).exp()
    forward = [[ball(entry) for entry in row] for row in kernel]
    backward = [[ball(kernel[w][u] * law[w] / law[u]) for w in range(count)] for u in range(count)]
    guesses = closing(conversion.details, count)
    right = _closed(forward, [digit[-1] for digit in digits], factor, guesses[0])
    left = _closed(backward, [digit[0] for digit in digits], factor, guesses[1])
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
    targets = [_target(law, digits, value) for value in range(states)]
    for p, q in permutations(targets, 2):
        worst = worst.max(ratio_bound(p, q, cost)[0])
    return worst.log()


def _target(law: list[Fraction], digits: list[tuple[int, ...]], value: int) -> BallRow:
    """The law of the tuple that starts at the target, given the target's value."""
    weights = [w if digit[0] == value else 0 * w for w, digit in zip(law, digits, strict=True)]
    total = sum(weights)
    return [ball(weight / total) for weight in weights]


def _closed(kernel: Matrix, newest: list[int], factor: arb, guess: list[arb]) -> Matrix:
    """`C` with `F(C) <= C`, `F` one more record; `guess` has its logarithms, row by row."""
    size = range(len(kernel))
    programs = _Programs()

    def squared(logs: list[arb]) -> Matrix:
        flat = [arb(1) if n // len(size) == n % len(size) else x.exp() for n, x in enumerate(logs)]
        return [flat[u * len(size) : (u + 1) * len(size)] for u in size]

    def step(logs: list[arb]) -> list[arb]:
        inner = squared(logs)
        cost = [
            [c if newest[u] == newest[v] else factor * c for v, c in enumerate(row)]
            for u, row in enumerate(inner)
        ]
        return [
            arb(0) if u == v else programs(("closed", u, v), kernel[u], kernel[v], cost).log()
            for u, v in product(size, repeat=2)
        ]

    return squared(super_solution(guess, step, "closed"))
