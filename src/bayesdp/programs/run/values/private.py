"""Private values, exact: sums over rows of whole numbers of steps. No floating-point sum is noised.

*Why the noise may be scaled as the checker says.* One record's contribution to a sum lies on a grid
inside the bounds that the checker used, so each rule's bound holds of what is summed:

* finite columns: contributions are looked up in a table of exact fractions, wherever `enumerated`
  applies and beyond (it and every other rule hold of the exact function);
* onehot: cells are counted;
* moments: entries are rounded to multiples of 2^-m inside their bounds, and their products are
  exact, so the rule's rows in [-1, 1]^D are the rows that are summed;
* any other: each choice of a number (`branches`) is a sum of its own. The double is rounded to a
  grid step and clamped to the steps *inside* [low, high]. The rules there are `box`, the width of
  the interval, whatever the function, and `cases`, which relies on what is kept and on equal
  choices.

Where that fails (an interval that holds no step, a fold, a clip whose end is not a step) the move
may be larger by what `slack` says, in l1; noise is scaled up by 1 + slack/sensitivity. Grids depend
on bounds and on the public size only, never on cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, gcd, prod
from typing import Any

import numpy as np

from bayesdp.kernel.programs.cases import branches
from bayesdp.kernel.programs.ranges import Range
from bayesdp.kernel.programs.ranges import folded as constant_of
from bayesdp.kernel.programs.reading import ONE, TRUE
from bayesdp.kernel.programs.rows import MOST_SETTINGS, evaluate, settings, values_of
from bayesdp.programs.ir import Expr, Type, columns
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.tables.folds import FOLD_STEP, folded
from bayesdp.programs.run.tables.rows import RowValues
from bayesdp.programs.run.tables.transitions import counted
from bayesdp.programs.run.values.public import PublicValues

RESOLUTION = 32
"""A grid has about 2^32 steps up to the largest value that one record may add."""
MOST_ROWS = 2**29
MOST_PRIVATE_ROWS = 2**28
"""Where the number of rows is private: the most rows whose values can add up in a sum."""
MOST_LOOKED_UP = 50_000
CHUNK = 2**20


@dataclass(frozen=True, repr=False)
class PrivateValue:
    """A private value: `offsets` (public) plus `values`, multiples of `lattice` (0: all are 0).

    One record moves the values by at most the checker's sensitivity plus `slack` (l1). `largest`
    bounds what they can be: by bounds and the public size, or `MOST_PRIVATE_ROWS`, never by cells.
    """

    values: tuple[Fraction, ...]
    offsets: tuple[Fraction, ...]
    lattice: Fraction = Fraction(0)
    slack: Fraction = Fraction(0)
    largest: Fraction = Fraction(0)

    def __repr__(self) -> str:
        return "<a private value>"

    @property
    def totals(self) -> tuple[Fraction, ...]:
        """The value itself."""
        return tuple(a + b for a, b in zip(self.values, self.offsets, strict=True))


class PrivateValues:
    """Evaluates private expressions. Sums are kept, because scores read them for each candidate."""

    def __init__(self, values: PublicValues, rows: Rows | None = None) -> None:
        self.public = values
        # Other rows stand in where a program is rehearsed: the size is public, and stays.
        self.rows = values.row_values if rows is None else RowValues(rows, values.kinds)
        self.size = values.rows.size
        self.kinds, self.context = values.kinds, values.context
        self._sums: dict[Expr, PrivateValue] = {}

    def __repr__(self) -> str:
        return "<private values>"

    def amount(self, expr: Expr) -> PrivateValue:
        """The value of an expression whose public values have been filled in."""
        op = expr.op
        if not self.context.moved(expr):
            known = self.public.numbers(expr)
            return PrivateValue((Fraction(0),) * len(known), known)
        if op in ("sum", "count"):
            if expr not in self._sums:
                self._sums[expr] = self._summed(expr)
            return self._sums[expr]
        if op == "transitions":
            return _counts(counted(expr, self.rows), self.most)
        if op == "fold":
            value, exact = folded(expr, self.rows)
            step = Fraction(1) if exact else FOLD_STEP
            slack = Fraction(0) if exact else FOLD_STEP * self.size
            return PrivateValue((value,), (Fraction(0),), step, slack, self._folded(expr))
        parts = [self.amount(arg) for arg in expr.args]
        if op == "tuple":
            return _joined(parts)
        if op == "item":
            index = expr.data[0]
            assert isinstance(index, int | Fraction)
            (whole,), at = parts, int(index)
            return replace(whole, values=(whole.values[at],), offsets=(whole.offsets[at],))
        if op in ("add", "sub"):
            return _sum(parts[0], _scaled(parts[1], Fraction(1 if op == "add" else -1)))
        if op == "neg":
            return _scaled(parts[0], Fraction(-1))
        if op in ("mul", "div"):
            return self._multiplied(expr, parts)
        return _shaped(op, parts)

    def _multiplied(self, expr: Expr, parts: list[PrivateValue]) -> PrivateValue:
        left, right = expr.args
        private, factor = (parts[0], right) if self.context.moved(left) else (parts[1], left)
        number = self.public.number(factor)
        if expr.op == "div":
            assert number != 0
            number = 1 / number
        return _scaled(private, number)

    @property
    def most(self) -> int:
        """The most rows that a sum can have: their number if it is public, else a fixed limit."""
        return self.size if self.context.adjacency == "replace-one" else MOST_PRIVATE_ROWS

    def _folded(self, expr: Expr) -> Fraction:
        """How large a fold can become, for its step never widens the distance of two states."""
        step, start = expr.args[1], expr.data[0]
        assert isinstance(start, int | Fraction)
        each, held = self.context.range(_from_zero(step)), self.context.range(step)
        known = [held.largest()] if held.finite else []
        if each.finite:
            known.append(abs(Fraction(start)) + self.most * each.largest())
        return max(min(known), abs(Fraction(start))) if known else Fraction(0)

    # -- sums ----------------------------------------------------------------------------------

    def _summed(self, expr: Expr) -> PrivateValue:
        data = expr.args[0]
        group = ONE if expr.op == "count" else data.args[1]
        exact = self._looked_up(data, group)
        if exact is not None:
            return exact
        row_mask = self.rows.mask(data)
        if group.op == "onehot":
            return self._cells(group, row_mask)
        if group.op == "moments":
            return self._moments(group, row_mask)
        if group.op == "tuple" or width_of(group) is None:
            numbers = group.args if group.op == "tuple" else (group,)
            return _joined([self._chosen(number, row_mask) for number in numbers])
        whole = self._is_whole(group)
        arrays, each = self.rows.vector(group), self.context.ranges(group)
        return _joined(
            [_stepped(x, b, whole, row_mask, self.most) for x, b in zip(arrays, each, strict=True)]
        )

    def _chosen(self, value: Expr, row_mask: Any) -> PrivateValue:
        """The sum of a number, each of its choices inside its own bounds: see `cases`."""
        total = None
        for conditions, choice in branches(value, self.kinds):
            held = row_mask
            for test, so in conditions:
                truths = self.rows.truths(test)
                truths = truths if so else ~truths
                held = truths if held is None else held & truths
            each = self.context.range(choice)
            whole = self._is_whole(choice)
            amount = _stepped(self.rows.numbers(choice), each, whole, held, self.most)
            total = amount if total is None else _sum(total, amount)
        assert total is not None
        return total

    def _looked_up(self, data: Expr, group: Expr) -> PrivateValue | None:
        """Exact, where rows take few values: how often each setting occurs, times its value."""
        pieces = data.data[0]
        assert isinstance(pieces, tuple)
        named = {str(piece[0]) for piece in pieces if isinstance(piece, tuple)}
        names = sorted(columns(data.args[0]) | columns(group) | named)
        kinds = {name: self.kinds[name] for name in names}
        lists = [values_of(kind) for kind in kinds.values()]
        if any(listed is None for listed in lists):
            return None
        size = len(self.context.ranges(group))
        cells = prod(len(listed) for listed in lists if listed is not None)
        # Whatever the rule `enumerated` may have spoken of must be looked up: it is about the exact
        # function, and doubles may decide a comparison otherwise.
        if cells > MOST_SETTINGS and cells * size > MOST_LOOKED_UP:
            return None
        row_mask = self.rows.mask(Expr("data", (TRUE, ONE), data.data))
        codes = np.zeros(self.rows.rows.size, dtype=np.int64)
        for name, listed in zip(names, lists, strict=True):
            assert listed is not None
            held = self.rows.rows.columns[name]
            low = kinds[name].low if kinds[name].kind == "int" else 0
            assert low is not None
            codes = codes * len(listed) + np.asarray(held, dtype=np.int64) - int(low)
        counts = np.bincount(codes if row_mask is None else codes[row_mask], minlength=cells)
        total = [Fraction(0)] * size
        rows, lattice = _exact_rows(data.args[0], group, tuple(kinds.items()))
        for entries, many in zip(rows, counts.tolist(), strict=True):
            for i, entry in enumerate(entries):
                total[i] += entry * many
        largest = max((abs(entry) for entries in rows for entry in entries), default=Fraction(0))
        return PrivateValue(
            tuple(total), (Fraction(0),) * size, lattice, largest=self.most * Fraction(largest)
        )

    def _cells(self, group: Expr, row_mask: Any) -> PrivateValue:
        size = group.data[0]
        assert isinstance(size, int | Fraction)
        codes = self.rows.codes(group.args[0])
        inside = np.clip(codes if row_mask is None else codes[row_mask], 0, int(size) - 1)
        return _counts(np.bincount(inside, minlength=int(size)).tolist(), self.most)

    def _moments(self, group: Expr, row_mask: Any) -> PrivateValue:
        base = self.context.ranges(group.args[0])
        largest = max(bounds.largest() for bounds in base)
        rows = self.size if self.context.adjacency == "replace-one" else MOST_ROWS
        above = max(0, power_of_two(Fraction(largest)) + 1)
        bits = min(20, (61 - rows.bit_length()) // 2 - above)
        step = Fraction(2) ** -bits
        slack, entries = Fraction(0), []
        for values, bounds in zip(self.rows.vector(group.args[0]), base, strict=True):
            steps, off = steps_of(values, bounds, step)
            entries.append(steps if row_mask is None else steps[row_mask])
            slack += off
        count = len(entries)
        totals = [whole_sum(entries[i], entries[j]) for i in range(count) for j in range(i, count)]
        unit = step * step
        # An entry off its interval by `off` moves a product by at most twice that times the rest.
        off_all = slack * 2 * (Fraction(largest) + step) * len(totals)
        zeros = (Fraction(0),) * len(totals)
        most = self.most * (Fraction(largest) + slack) ** 2
        return PrivateValue(tuple(unit * total for total in totals), zeros, unit, off_all, most)

    def _is_whole(self, expr: Expr) -> bool:
        """Whether doubles hold the row's value, a whole number, exactly."""
        if expr.op == "field":
            return self.kinds[str(expr.data[0])].kind in ("bool", "int")
        if expr.op in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "onehot"):
            return True
        if expr.op == "floor":
            place = self.context.range(expr)
            return place.finite and place.largest() < 2**53
        if expr.op == "const":
            value = constant_of(expr)
            return value is not None and value.denominator == 1 and abs(value) < 2**53
        if expr.op not in ("add", "sub", "mul", "neg", "abs", "min", "max", "clip", "tuple", "if"):
            return False
        small = all(
            bounds.largest() < 2**53 for bounds in self.context.ranges(expr) if bounds.finite
        )
        small = small and all(bounds.finite for bounds in self.context.ranges(expr))
        args = expr.args[1:] if expr.op == "if" else expr.args
        return small and all(self._is_whole(arg) for arg in args)


@lru_cache(maxsize=8)
def _exact_rows(
    condition: Expr, group: Expr, columns_of: tuple[tuple[str, Type], ...]
) -> tuple[list[tuple[Fraction, ...]], Fraction]:
    """What a row adds in each setting of its columns (nothing where it is left out), exact.

    Also the largest number of which all of these are whole multiples. Public: no row is read.
    """
    kinds, added, lattice = dict(columns_of), list[tuple[Fraction, ...]](), Fraction(0)
    for row in settings(kinds, kinds):
        if condition != TRUE and not evaluate(condition, row, kinds):
            added.append(())
            continue
        value = evaluate(group, row, kinds)
        assert not isinstance(value, str)
        added.append(value if isinstance(value, tuple) else (Fraction(value),))
        for entry in added[-1]:
            lattice = common(lattice, entry)
    return added, lattice


def width_of(expr: Expr) -> int | None:
    """The number of entries of a vector; None for a single number."""
    if expr.op == "tuple":
        return len(expr.args)
    if expr.op == "onehot":
        size = expr.data[0]
        assert isinstance(size, Fraction)
        return int(size)
    if expr.op == "moments":
        entries = width_of(expr.args[0]) or 0
        return entries * (entries + 1) // 2
    if expr.op == "sum":
        return width_of(expr.args[0].args[1])
    if expr.op == "transitions":
        return (width_of(expr.args[0].args[1]) or 0) ** 2
    if expr.op not in ("add", "sub", "mul", "div", "neg"):
        return None
    return next((width for arg in expr.args if (width := width_of(arg)) is not None), None)


def _counts(numbers: Sequence[int], most: int) -> PrivateValue:
    """Counts of at most so many rows each."""
    counts = tuple(map(Fraction, numbers))
    return PrivateValue(counts, (Fraction(0),) * len(counts), Fraction(1), largest=Fraction(most))


def _from_zero(step: Expr) -> Expr:
    """A fold's step from the state 0."""
    if step.op == "acc":
        return Expr("const", (), (Fraction(0),))
    return Expr(step.op, tuple(_from_zero(arg) for arg in step.args), step.data)


def _stepped(values: Any, each: Range, whole: bool, row_mask: Any, most: int) -> PrivateValue:
    """The sum of one entry of at most so many rows, in steps inside its bounds."""
    assert isinstance(each.low, Fraction)
    assert isinstance(each.high, Fraction)
    if each.low == each.high:
        many = len(values) if row_mask is None else int(row_mask.sum())
        most_of_it = abs(each.low) * most
        return PrivateValue((each.low * many,), (Fraction(0),), abs(each.low), largest=most_of_it)
    largest = max(abs(each.low), abs(each.high))
    step = Fraction(1) if whole else Fraction(2) ** (power_of_two(largest) - RESOLUTION)
    steps, off = steps_of(values, each, step)
    total = step * whole_sum(steps if row_mask is None else steps[row_mask])
    return PrivateValue((total,), (Fraction(0),), step, off, (largest + off) * most)


def steps_of(values: Any, each: Range, step: Fraction) -> tuple[Any, Fraction]:
    """Doubles as whole steps inside the interval, and how far these may lie outside."""
    assert isinstance(each.low, Fraction)
    assert isinstance(each.high, Fraction)
    low, high = ceil(each.low / step), floor(each.high / step)
    off = Fraction(0)
    if low > high:
        low = high = round(each.low / step)
        off = abs(low * step - each.low) + (each.high - each.low)
    # Beyond that the ends would be rounded to other doubles, and the bounds not be held.
    assert max(abs(low), abs(high)) <= 2**53
    # `step` is a power of two, so the quotient is exact. No warning may tell of a cell.
    with np.errstate(all="ignore"):
        quotient = np.rint(np.nan_to_num(values, nan=0.0) * float(1 / step))
    return np.clip(quotient, low, high).astype(np.int64), off


def whole_sum(first: Any, second: Any = None) -> int:
    """The exact sum of whole numbers (or of products), in pieces that fit 64 bits."""
    if not len(first):
        return 0
    largest = _largest(first) * (1 if second is None else _largest(second))
    if largest >= MOST:
        factors = [1] * len(first) if second is None else second.tolist()
        return sum(int(a) * int(b) for a, b in zip(first.tolist(), factors, strict=True))
    chunk = min(CHUNK, MOST // max(largest, 1))
    total = 0
    for start in range(0, len(first), chunk):
        piece = first[start : start + chunk]
        if second is not None:
            piece = piece * second[start : start + chunk]
        total += int(piece.sum(dtype=np.int64))
    return total


def _largest(values: Any) -> int:
    return max(abs(int(values.min())), abs(int(values.max())))


# -- arithmetic ------------------------------------------------------------------------------------


def _joined(parts: list[PrivateValue]) -> PrivateValue:
    values = tuple(value for part in parts for value in part.values)
    offsets = tuple(offset for part in parts for offset in part.offsets)
    lattice, slack = Fraction(0), Fraction(0)
    for part in parts:
        lattice, slack = common(lattice, part.lattice), slack + part.slack
    return PrivateValue(values, offsets, lattice, slack, max(part.largest for part in parts))


def _scaled(part: PrivateValue, factor: Fraction) -> PrivateValue:
    return PrivateValue(
        tuple(factor * value for value in part.values),
        tuple(factor * offset for offset in part.offsets),
        abs(factor) * part.lattice,
        abs(factor) * part.slack,
        abs(factor) * part.largest,
    )


def _sum(a: PrivateValue, b: PrivateValue) -> PrivateValue:
    longest = max(len(a.values), len(b.values))
    a, b = (_repeated(side, longest) for side in (a, b))
    return PrivateValue(
        tuple(x + y for x, y in zip(a.values, b.values, strict=True)),
        tuple(x + y for x, y in zip(a.offsets, b.offsets, strict=True)),
        common(a.lattice, b.lattice),
        a.slack + b.slack,
        a.largest + b.largest,
    )


def _repeated(part: PrivateValue, length: int) -> PrivateValue:
    if len(part.values) == length:
        return part
    assert len(part.values) == 1
    return replace(
        part,
        values=part.values * length,
        offsets=part.offsets * length,
        slack=part.slack * length,
    )


def _shaped(op: str, parts: list[PrivateValue]) -> PrivateValue:
    """1-Lipschitz operations on single numbers."""
    numbers = [part.totals[0] for part in parts]
    if op == "abs":
        value = abs(numbers[0])
    elif op == "clip":
        value = min(max(numbers[0], numbers[1]), numbers[2])
    else:
        assert op in ("min", "max"), op
        value = min(numbers) if op == "min" else max(numbers)
    lattice, slack = Fraction(0), Fraction(0)
    for part in parts:
        lattice, slack = common(common(lattice, part.lattice), part.offsets[0]), slack + part.slack
    deciding = parts[1:] if op == "clip" else parts
    largest = max(part.largest + abs(part.offsets[0]) for part in deciding)
    return PrivateValue((value,), (Fraction(0),), lattice, slack, largest)


def common(a: Fraction, b: Fraction) -> Fraction:
    """The largest number of which both are whole multiples; 0 counts as a multiple of all."""
    top = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(top, a.denominator * b.denominator)


def power_of_two(value: Fraction) -> int:
    """The largest k with 2^k <= value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


# -- steps that noise is added to ------------------------------------------------------------------


MOST = 2**61
