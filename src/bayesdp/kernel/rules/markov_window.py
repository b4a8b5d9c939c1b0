"""Order-k chains, any adversary: one changed record and its window (theory 3.5w)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import ball, contracted, require
from bayesdp.kernel.fixed_points import logarithms, super_solution
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.orders import exact_rows
from bayesdp.kernel.rules.markov_contraction import blocks, cross_ratio
from bayesdp.statements.chains import STATIONARY, MarkovChain


def bound(conversion: Conversion) -> arb:
    """The statement of the theorem. Its three fixed points are the witness: blocks, right, left."""
    population = conversion.population
    of_order = isinstance(population, MarkovChain) and population.order > 1
    require(of_order, "the population is not a chain of higher order")
    require(population.initial == STATIONARY, "another start")
    order, rows = population.order, exact_rows(population)
    require(min(map(min, rows)) > 0, "a transition probability is 0")
    table = blocks(rows, order)
    whole_block = ball(cross_ratio(table, table))
    right = [ball(_ratio(rows, order, 2 * order - j, order - 1 - j, True)) for j in range(order)]
    left = [ball(_ratio(rows, order, 2 * order - j, order, False)) for j in range(order)]
    around = ball(_ratio(rows, order, 2 * order + 1, order, None))
    epsilon = ball(conversion.total)
    guesses = conversion.details.get("closed", [None] * 3)
    require(isinstance(guesses, list) and len(guesses) == 3, "not three numbers", "closed")
    block = _fixed([whole_block], order * epsilon, guesses[0])
    if block is None:
        block = whole_block.log()
    ahead = _single(right, epsilon, block, guesses[1])
    behind = _single(left, epsilon, block, guesses[2])
    inside = arb(0)
    for age in range(order):
        inside = inside.max(ahead[age] + behind[order - 1 - age])
    step = inside
    for _ in range(order - 1):
        step = contracted(epsilon + step, around) + step
    at_once = contracted((order - 1) * epsilon + 2 * block, around) + inside
    return epsilon + step.min(at_once)


def _single(ratios: list[arb], epsilon: arb, block: arb, guess: Any) -> list[arb]:
    """`ln E_j` for each age."""
    order = len(ratios)
    newest = contracted(order * epsilon + block, ratios[0])
    found = _fixed(ratios, epsilon, guess)
    if found is not None:
        newest = newest.min(found)
    reach = [arb(0)] * (order + 1)
    for age in reversed(range(order)):
        one = contracted(epsilon + newest, ratios[age]) + reach[age + 1]
        reach[age] = one.min(contracted((order - age) * epsilon + block, ratios[age]))
    return reach


def _fixed(ratios: list[arb], epsilon: arb, guess: Any) -> arb | None:
    """`E >= sum_j ln f(e^(eps + E); R_j)`, in logarithms; `None` where no guess is given."""
    if guess is None:
        return None

    def step(reached: list[arb]) -> list[arb]:
        return [sum((contracted(epsilon + reached[0], ratio) for ratio in ratios), arb(0))]

    return super_solution(logarithms([guess], 1, "closed"), step, "closed")[0]


def _ratio(
    rows: list[list[Fraction]], order: int, length: int, place: int, ahead: bool | None
) -> Fraction:
    """The largest cross ratio of the record at `place` with those ahead, behind, or all others."""
    states = len(rows[0])
    weights = {}
    for values in product(range(states), repeat=length):
        index = 0
        for value in values[:order]:
            index = index * states + value
        weight = Fraction(1)
        for new in values[order:]:
            weight *= rows[index][new]
            index = (index * states + new) % len(rows)
        weights[values] = weight
    if ahead is None:
        others = [i for i in range(length) if i != place]
    else:
        others = list(range(order, length) if ahead else range(length - order))
    rest = [i for i in range(length) if i != place and i not in others]
    worst = Fraction(1)
    for fixed in product(range(states), repeat=len(rest)):
        lines = []
        for value in range(states):
            line = []
            for free in product(range(states), repeat=len(others)):
                chosen = dict(zip(rest, fixed, strict=True)) | dict(zip(others, free, strict=True))
                chosen[place] = value
                line.append(weights[tuple(chosen[i] for i in range(length))])
            lines.append(line)
        worst = max(worst, cross_ratio(lines, lines))
    return worst
