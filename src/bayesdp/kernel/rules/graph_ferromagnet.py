"""Grids of two values: the sum of correlations without fields (theory 3.7r).

Turning the values of every second record makes every cross ratio of a pair `e^(4 J) >= 1`. Then the
level is at most `eps max_i chi_i`, `chi_i = sum_v <s_i s_v>` in the Ising model of coupling `J`
without fields. With a box around each record that is as large as the stated `radius` and the grid
allow, `chi_i <= S_i + phi_i max_v chi_v`: `S_i` is the sum within the box, `phi_i` the sum of
`<s_i s_a> tanh J` over the pairs of a record `a` of the box and one outside. A box that the border
cuts has smaller sums. The box is summed a column of records at a time, in balls.
"""

from __future__ import annotations

from itertools import product

from flint import arb, arb_mat

from bayesdp.kernel.arithmetic import UnknownError, ball, largest, require, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.graphs import read_table
from bayesdp.statements.graphs import GraphGrid

MOST_RADIUS = 5
"""Certificates with a larger box are UNKNOWN."""
MOST_WORK = 1_200_000
"""The most sums, about, with the record anywhere in the box. Else it is one of a larger grid."""


def bound(conversion: Conversion) -> arb:
    """`eps max_i S_i / (1 - phi_i)`, all `phi_i` below 1."""
    grid = conversion.declared(GraphGrid, "the population is not a grid")
    table = read_table(grid.table)
    require(table.sizes == (2, 2), "the records have other than the two values it speaks of")
    require(min(table.weights) > 0, "the table has a zero")
    ratio = table.weights[0] * table.weights[3] / (table.weights[1] * table.weights[2])
    root = ball(max(ratio, 1 / ratio)).sqrt()  # e^(2 J)
    return _susceptibility(grid, conversion.details["radius"], root) * ball(conversion.total)


def _susceptibility(grid: GraphGrid, radius: int, root: arb) -> arb:
    """At least `chi_i` for every record: in the middle of the box where the grid goes on.

    Where the box is as wide as the grid, the record may be anywhere in it, up to reflections. If
    this takes too long, a larger grid stands in its place: its correlations are larger.
    """
    if radius > MOST_RADIUS:
        raise UnknownError(f"a box of a radius of more than {MOST_RADIUS}")
    side, (short, long) = 2 * radius + 1, sorted(grid.grid)
    rows, columns = min(short, side), min(long, side)
    places = (rows if rows == short else 1) * (columns if columns == long else 1)
    if (rows * columns << rows) * places > MOST_WORK:
        rows, columns, short, long = side, side, side + 1, side + 1
    at = range((rows + 1) // 2) if rows == short else [radius]
    along = range((columns + 1) // 2) if columns == long else [radius]
    mirrored = {place for y in along for place in (y, columns - 1 - y)}
    sweep = _Sweep(rows, columns, root)
    onward = {place: sweep.correlations(*place) for place in product(at, mirrored)}
    bounds = []
    for x, y in product(at, along):
        of_columns = onward[x, columns - 1 - y][:0:-1] + onward[x, y]
        crossing = arb(0)
        if rows < short:
            crossing += sum((column[0] + column[-1] for column in of_columns), arb(0))
        if columns < long:
            crossing += sum(of_columns[0] + of_columns[-1], arb(0))
        passed_on = crossing * (root - 1) / (root + 1)
        require(bool(passed_on < 1), "the box does not show that influence dies out")
        bounds.append(sum((sum(column, arb(0)) for column in of_columns), arb(0)) / (1 - passed_on))
    return largest(bounds)


class _Sweep:
    """Weights of the states of a column of records, numbers whose bits are the spins.

    Equal neighbours have the weight `root`, others 1. `before[c]` has the weights of all columns
    before `c`, by the state of `c`; the box is symmetric, so those behind `c` have the same.
    """

    def __init__(self, rows: int, columns: int, root: arb) -> None:
        self.rows, self.columns = rows, columns
        self.tie = arb_mat(2, 2, [root, 1, 1, root])
        powers = [root**equal for equal in range(rows)]
        pairs = 2 ** (rows - 1) - 1
        self.inner = [
            powers[rows - 1 - ((state ^ state >> 1) & pairs).bit_count()]
            for state in range(2**rows)
        ]
        self.before = [[arb(1)] * 2**rows]
        for _ in range(columns - 1):
            self.before.append(self.stepped(_times(self.before[-1], self.inner)))

    def stepped(self, weights: list[arb]) -> list[arb]:
        """From the states of a column to those of the next: every row in turn, the first bit first.

        The first bit becomes the last one, so that all are in place in the end.
        """
        for _ in range(self.rows):
            watched()
            halves = arb_mat(2, len(weights) // 2, weights)
            weights = (self.tie * halves).transpose().entries()
        return weights

    def correlations(self, row: int, column: int) -> list[list[arb]]:
        """Of the record there with those of its column and of the later ones, by columns."""
        both = _times(self.before[column], self.inner)
        total = sum(_times(both, self.before[self.columns - 1 - column]), arb(0))
        signed, columns = _turned(both, row), []
        for later in range(column, self.columns):
            seen = _times(signed, self.before[self.columns - 1 - later])
            columns.append([sum(_turned(seen, k), arb(0)) / total for k in range(self.rows)])
            signed = _times(self.stepped(signed), self.inner)
        return columns


def _times(first: list[arb], second: list[arb]) -> list[arb]:
    return [a * b for a, b in zip(first, second, strict=True)]


def _turned(weights: list[arb], row: int) -> list[arb]:
    """The weights by the spin of a row: with a minus where it is -1."""
    return [weight if state >> row & 1 else -weight for state, weight in enumerate(weights)]
