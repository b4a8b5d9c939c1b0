"""Order-k chains, any adversary: one changed record and its window (theory 3.5w)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, contracted, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import chain_of_higher_order, check_stationary
from bayesdp.kernel.models.orders import blocks, cross_ratio, exact_rows, window_ratio, windows
from bayesdp.kernel.steps.fixed_points import logarithms, super_solution


def bound(conversion: Conversion) -> arb:
    """The level of the theorem's statement; the witness has the logs of its three fixed points.

    These are of blocks, of the right side and of the left one.
    """
    population = chain_of_higher_order(conversion)
    check_stationary(population)
    order, rows = population.order, exact_rows(population)
    require(min(map(min, rows)) > 0, "a transition probability is 0")
    table = blocks(rows, order)
    whole_block = ball(cross_ratio(table, table))
    inner = [windows(rows, order, 2 * order - age) for age in range(order)]
    right = [
        ball(window_ratio(w, order - 1 - j, range(order, 2 * order - j)))
        for j, w in enumerate(inner)
    ]
    left = [ball(window_ratio(w, order, range(order - j))) for j, w in enumerate(inner)]
    widest = windows(rows, order, 2 * order + 1)
    around = ball(window_ratio(widest, order, range(2 * order + 1)))
    epsilon = ball(conversion.total)
    guesses = conversion.details.get("closed", [None] * 3)
    require(
        isinstance(guesses, list) and len(guesses) == 3,
        "the witness is not three numbers",
        "closed",
    )
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


def _single(ratios: list[arb], epsilon: arb, block: arb, guess: object) -> list[arb]:
    """`ln E_j` for each age."""
    order = len(ratios)
    newest = contracted(order * epsilon + block, ratios[0])
    closed = _fixed(ratios, epsilon, guess)
    if closed is not None:
        newest = newest.min(closed)
    reach = [arb(0)] * (order + 1)
    for age in reversed(range(order)):
        next_first = contracted(epsilon + newest, ratios[age]) + reach[age + 1]
        reach[age] = next_first.min(contracted((order - age) * epsilon + block, ratios[age]))
    return reach


def _fixed(ratios: list[arb], epsilon: arb, guess: object) -> arb | None:
    """`E >= sum_j ln f(e^(eps + E); R_j)`, in logarithms; `None` where no guess is given."""
    if guess is None:
        return None

    def step(reached: list[arb]) -> list[arb]:
        return [sum((contracted(epsilon + reached[0], ratio) for ratio in ratios), arb(0))]

    return super_solution(logarithms([guess], 1, "closed"), step, "closed")[0]
