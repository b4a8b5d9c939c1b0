"""Graphical models: influences through factors, contracted by cross ratios (theory 3.7)."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.graphs import cross_ratio, live_cells, read_model, read_table, rows_of
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.messages import Messages, uniform
from bayesdp.statements.graphs import GraphGrid

LARGEST = 20_000
"""With more messages than this, or records on a grid, one number must serve for all of them."""


def bound(conversion: Conversion) -> arb:
    """`eps + max_i sum_a y_(a -> i)`, never more than `eps` for each record of the component."""
    epsilon, population = conversion.total, conversion.population
    if isinstance(population, GraphGrid) and math.prod(population.grid) > LARGEST:
        return _large_grid(population, epsilon)
    messages = Messages(read_model(population), epsilon)
    if len(messages.record) > LARGEST:
        uniform = messages.uniform()
        degree = max(map(len, messages.into))
        whole_graph = ball(max(messages.component) * epsilon)
        return (ball(epsilon) + degree * uniform).min(whole_graph)
    values = messages.proved(messages.search())
    best = ball(epsilon)
    for record, into in enumerate(messages.into):
        total = ball(epsilon) + sum((values[m] for m in into), arb(0))
        best = best.max(total.min(ball(messages.component[record] * epsilon)))
    return best


def _large_grid(population: GraphGrid, epsilon: Fraction) -> arb:
    """A grid without going through its records; values that are impossible may raise ratios."""
    sides, table = population.grid, read_table(population.table)
    cells = live_cells((0, 1), table, [frozenset(range(table.sizes[0]))] * 2)
    ratios = [cross_ratio(rows_of(cells, place)) for place in (0, 1)]
    size, degree = math.prod(sides), sum(min(side - 1, 2) for side in sides)
    value = uniform(ratios, degree - 1, 1, epsilon, size)
    return (ball(epsilon) + degree * value).min(ball(size * epsilon))
