"""The exact integer grid (theory 6): values become whole steps, so that sums are exact.

Plain: `q(x) = floor((x - lo) * (2^k / (hi - lo)))`, clamped to `[0, 2^k]`; `n` rows with integer
sum `S` stand for `lo * n + step * S`. Masked, for a sum in which a row may count as exactly 0 (a
private predicate, records of several rows): the grid is anchored at 0,
`q(x) = floor(x * (2^k / width))`, `width = max(hi, 0) - min(lo, 0)`, clamped to `[q(lo), q(hi)]`.
All arithmetic is in doubles, in this order, in the data engine and here alike.

**The grid.** Values are clipped to `[a, b]` and put on a grid of `2^k` steps by rounding down; the
integers `0 ... 2^k` are summed in the data engine, exactly, and get integer noise from OpenDP's
samplers. Replacing a record changes the sum by at most `2^k`: the sensitivity is exact whatever the
values are. `k` is the largest for which `n 2^k` plus a far quantile of the noise stays below
`2^62`.

**Its price** (3.8). A record that moves by `d` steps before rounding down moves by less than `d +
1` after, and the attacked record never by more than `2^k`. So each *other* record that moves adds
at most one step, and one more for the rounding of the engine's own arithmetic: relative to the
width `2 * 2^-k` for each, for at most `m - 1` records of a cluster, or `n - 1` where all records
are dependent. This slack is counted in the level and shown on the certificate; above 1 % the study
is refused.

**Arithmetic in the engine** is prescribed, since engines differ: NaN and infinities are tested
first, literals are doubles, rounding is `floor` (engines round halves differently), and the integer
is clamped to `0 ... 2^k` last. If the spacing of doubles at `a` or `b` exceeds one step, the study
is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesdp.errors import InputError, finite_number, whole_number
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.tables.literals import literal

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_BITS = 40
ROOM = 2**62
MOST_SLACK = 0.01
_NOISE_CONFIDENCE = 1 - 1e-12


@dataclass(frozen=True)
class Grid:
    """A grid of `2**bits` steps on `[lo, hi]`, anchored at 0 where `masked`."""

    lo: float
    hi: float
    bits: int
    masked: bool = False

    @classmethod
    def plan(
        cls,
        lo: float,
        hi: float,
        n: int,
        *,
        dp_epsilon: float | None = None,
        dp_rho: float | None = None,
        masked: bool = False,
        dependents: int = 1,
        rows_per_record: int = 1,
        moves_between_groups: bool = False,
        squares: bool = False,
        moves: int = 1,
        key: str = "data.columns",
    ) -> Grid:
        """The finest grid with room for the sum of `n` records and its noise.

        `lo` and `hi` are in the column's unit. The noise is discrete Laplace at `dp_epsilon`, or
        discrete Gaussian at `dp_rho` (in zCDP). `dependents` is the number of records that move
        together (the cluster size, or `n`): each may add `slack` to the level, and more than 1 % in
        all is refused. With `moves_between_groups` sums have parts, and what leaves one may
        enter another. With `squares` there is room for sums of squared steps. Several sums move
        `moves` times as far as one in l1, or as far squared in l2. Raises `InputError` at `key`; no
        data is read.
        """
        if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
            raise InputError(key, [lo, hi], expected="finite bounds with lower < upper")
        n = whole_number("n", n)
        rows_per_record = whole_number("rows per record", rows_per_record)
        name, cost = ("dp_epsilon", dp_epsilon) if dp_rho is None else ("dp_rho", dp_rho)
        cost = finite_number(name, cost, expected="a finite number above 0")
        if masked:
            lo0, hi0 = min(lo, 0.0), max(hi, 0.0)
        else:
            lo0, hi0 = lo, hi
        for bits in range(MOST_BITS, -1, -1):
            grid = cls(lo, hi, bits, masked)
            scale = 2.0**bits / (hi0 - lo0)
            if not (math.isfinite(hi0 - lo0) and 0 < scale < math.inf):
                continue
            step = Fraction(hi0) - Fraction(lo0)
            if max(math.ulp(lo0), math.ulp(hi0)) * 2**bits > step:
                continue
            parts, power = (1 + moves_between_groups) * moves, 1 + squares
            if grid.sensitivity and grid._fits(
                n, rows_per_record, cost, dp_rho is not None, parts, power
            ):
                return grid._with_slack(n, dependents, key)
        raise InputError(
            key,
            [lo, hi],
            expected=f"room in 64-bit integers for the sum of {n} records and its noise, and "
            "bounds further apart than neighbouring doubles",
            remedy="Use fewer records, a larger budget, or other bounds or units.",
        )

    def _fits(
        self,
        n: int,
        rows_per_record: int,
        cost: float,
        gaussian: bool,
        parts: int,
        power: int,
    ) -> bool:
        largest = n * rows_per_record * 2 ** (power * self.bits)
        sensitivity = int(self.sensitivity**power) * rows_per_record
        try:
            if gaussian:
                check_noise(largest, DiscreteGaussian.for_cost(parts * sensitivity**2, cost))
            else:
                check_room(largest, parts * sensitivity, cost)
        except InputError:
            return False
        return True

    def _with_slack(self, n: int, dependents: int, key: str) -> Grid:
        total = self.slack * dependents
        if total > MOST_SLACK:
            raise InputError(
                key,
                [self.lo, self.hi],
                expected=f"room in 64-bit integers for the sum of {n} records and its noise on a "
                f"grid that adds at most 1 % to the level; only 2^{self.bits} steps fit, which add "
                f"{100 * total:.2g} % with {dependents} dependent records",
                remedy="Use fewer records, a larger budget, or other bounds.",
            )
        return self

    @property
    def factor(self) -> float:
        """Steps per unit of the column: the double that values are multiplied by."""
        if self.masked:
            return float(2.0**self.bits / (max(self.hi, 0.0) - min(self.lo, 0.0)))
        return float(2.0**self.bits / (self.hi - self.lo))

    @property
    def step(self) -> Fraction:
        """The length of a step in the column's unit, exactly `1 / factor`."""
        return 1 / Fraction(self.factor)

    @property
    def least(self) -> int:
        """The least integer that a value in the bounds can become."""
        return math.floor(self.lo * self.factor) if self.masked else 0

    @property
    def most(self) -> int:
        """The greatest integer that a value in the bounds can become."""
        return math.floor(self.hi * self.factor) if self.masked else int(2**self.bits)

    @property
    def sensitivity(self) -> int:
        """The most steps by which the sum moves if a row is replaced (or, if masked, leaves)."""
        least, most = self.least, self.most
        return max(abs(least), abs(most), most - least) if self.masked else most

    def ends(self, total_bounds: tuple[float, float]) -> tuple[int, int]:
        """The steps that totals between these bounds have, on a masked grid."""
        low, high = map(Fraction, total_bounds)
        return math.floor(low / self.step), math.floor(high / self.step)

    def move(self, rows: int, total_bounds: tuple[float, float] | None) -> int:
        """The most steps by which the sum moves if up to so many rows of a record are replaced.

        With `total_bounds` the record's total is clipped to them.
        """
        most = rows * self.sensitivity
        if total_bounds is None:
            return most
        low, high = self.ends(total_bounds)
        return max(1, min(high - low, most))

    @property
    def slack(self) -> float:
        """The rounding that each dependent record adds, relative to the width: two steps."""
        return float(2.0 * 2.0**-self.bits)

    def index(self, x: float) -> int:
        """The integer that one finite value becomes: the reference for the engine's arithmetic."""
        clipped = min(max(x, self.lo), self.hi)
        distance = clipped if self.masked else clipped - self.lo
        return min(max(math.floor(distance * self.factor), self.least), self.most)

    def value(self, total: int, rows: int) -> Fraction:
        """The exact sum in the column's unit that the steps `total` over `rows` rows stand for."""
        offset = Fraction(0) if self.masked else Fraction(self.lo) * rows
        return offset + self.step * total

    def to_ibis(self, x: ir.NumericValue) -> ir.IntegerValue:
        """The same arithmetic in the data engine, for values already clipped and finite."""
        import ibis

        distance = x if self.masked else x - literal(self.lo)
        steps = (distance * literal(self.factor)).floor().cast("int64")
        bounded: ir.IntegerValue = ibis.least(ibis.greatest(steps, self.least), self.most)
        return bounded


def check_room(largest: int, sensitivity: int, dp_epsilon: float, key: str = "data.n") -> None:
    """Refuse sums of size up to `largest` that, with their noise, don't fit in 64-bit integers.

    The noise is that of `dp_epsilon` at this `sensitivity`, up to its quantile at 1 - 1e-12. Raises
    `InputError` at `key`.
    """
    if largest >= ROOM or sensitivity >= ROOM:
        raise InputError(key, largest, expected="sums below 2^62", remedy=_REMEDY)
    check_noise(largest, DiscreteLaplace.for_cost(sensitivity, dp_epsilon), key)


def check_noise(
    largest: int, noise: DiscreteLaplace | DiscreteGaussian, key: str = "data.n"
) -> None:
    """Like `check_room`, for a given noise: raises `InputError` at `key`."""
    if largest >= ROOM:
        raise InputError(key, largest, expected="sums below 2^62", remedy=_REMEDY)
    if largest + noise.quantile(_NOISE_CONFIDENCE) >= ROOM:
        raise InputError(key, largest, expected="sums and noise below 2^62", remedy=_REMEDY)


_REMEDY = "Use fewer records or a larger budget."
