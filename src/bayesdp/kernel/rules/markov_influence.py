"""Order-k chains, any adversary: the influence matrix (theory 3.7k)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, arb_mat

from bayesdp.kernel.arithmetic import InvalidError, ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import chain_of_higher_order
from bayesdp.kernel.models.orders import exact_rows, first_law, window_ratio, windows

WINDOW = 120
"""Records to each side whose influence is solved; a wider one proves a slightly lower level."""


def bound(conversion: Conversion) -> arb:
    """`eps (1 + sum x)`, `x` a verified solution of `x >= kappa_Ui + kappa_UU x`."""
    population = chain_of_higher_order(conversion)
    order, rows = population.order, exact_rows(population)
    require(min(map(min, rows)) > 0, "a transition probability is 0: resampling is undefined")
    start = first_law(population, rows)
    require(min(start) > 0, "some first records can't occur: resampling is undefined")
    kappa = [_influence(rows, start, order, distance) for distance in range(1, order + 1)]
    return ball(conversion.total) * _total(kappa, max(population.length, order))


def _influence(rows: list[list[Fraction]], start: list[Fraction], order: int, distance: int) -> arb:
    """`tanh(ln R / 4)`, `R` the largest cross ratio of two records, over all positions."""
    worst = Fraction(1)
    for kept in range(1, order - distance + 2):
        inside = windows(rows, order, order + kept)
        worst = max(worst, window_ratio(inside, order - distance, {order}))
    for place in range(order - distance):
        for kept in range(place + 2):
            first = windows(rows, order, order + kept, start)
            worst = max(worst, window_ratio(first, place, {place + distance}))
    return (ball(worst).log() / 4).tanh()


def _total(kappa: list[arb], length: int) -> arb:
    """`1 + sum x` on a window around the target, raised so that it holds on the whole line."""
    reach = min(length - 1, WINDOW)
    places = [place for place in range(-reach, reach + 1) if place != 0]
    if not places:
        return arb(1)
    count = len(places)

    def weight(distance: int) -> arb:
        return kappa[distance - 1] if 1 <= distance <= len(kappa) else arb(0)

    matrix = arb_mat([[(1 if i == j else 0) - weight(abs(i - j)) for j in places] for i in places])
    source = arb_mat([[weight(abs(i))] for i in places])
    try:
        solved = matrix.solve(source)
    except ZeroDivisionError:
        raise InvalidError("the influences do not die out") from None
    room = 1 - 2 * sum(kappa, arb(0))
    if not bool(room > 0) and length - 1 <= reach:
        # The whole line was solved: a solution that is not negative anywhere is the least one.
        positive = all(bool(solved[i, 0] >= 0) for i in range(count))
        require(positive, "the influences do not die out")
        return 1 + sum((solved[i, 0] for i in range(count)), arb(0))
    solution = [solved[i, 0].upper().max(arb(0)) for i in range(count)]
    missing = arb(0)
    for i, place in enumerate(places):
        near = range(max(0, i - len(kappa) - 1), min(count, i + len(kappa) + 2))
        due = weight(abs(place))
        for j in near:
            due += weight(abs(place - places[j])) * solution[j]
        missing = missing.max((due - solution[i]).upper())
    inside = 1 + sum(solution, arb(0))
    if length - 1 <= reach:
        return inside + missing / room * length
    beyond = sum(solution[: len(kappa)] + solution[-len(kappa) :], arb(0))
    missing = missing.max(beyond)
    fading = _fading(kappa, missing, room, reach + len(kappa))
    return inside + fading.min(missing / room * length)


def _fading(kappa: list[arb], missing: arb, room: arb, reach: int) -> arb:
    """The sum over a line of `r theta^|j|`, which makes up for what is missing up to `reach`.

    `grown` is never below 0. Where it is at most half of the room, so that there is room, each
    record keeps `r theta^|j| room / 2` of its own after what its neighbours take.
    """
    for power in range(8, 64):
        theta = 1 - arb(2) ** -power
        steps = enumerate(kappa, start=1)
        grown = sum((weight * (theta**d + theta**-d - 2) for d, weight in steps), arb(0))
        if bool(2 * grown <= room):
            largest = 2 * missing / (room * theta**reach)
            return 2 * largest * arb(2) ** power
    raise InvalidError("the influences die out too slowly")
