"""Row expressions over all rows at once, in doubles. What is summed is clamped and put on a grid.

Whatever this computes, it is a function of one row and of public values: bounds are enforced where
the values are put on the grid (`private.py`), so that a rounded product costs accuracy, never
privacy. Not-a-number becomes 0 there.

**What is summed** is not the exact `F`, but the proof is about any function of a row for which
these hold, and they hold of the interpreter's:

1. Each choice of a number is a sum of its own, in whole grid steps inside `[l, h]`, whatever
   doubles make of the expression. Sums whose columns all have few values are looked up in exact
   fractions instead.
2. Two terms of one value have one value in a row, if doubles are exact (whole numbers below `2^53`
   all the way, or a cell of columns), or if all sums compute the value in one way, on one grid: so
   they do for numbers that read a column with many values (a looked-up value may differ from a
   rounded one) and are not an entry of a vector (whose sum has the vector's grid). Other terms
   count as one value only within one and the same sum.
3. An atom has one truth value in a row, wherever it stands. Doubles decide one comparison in one
   way; `>`, `<` and `>=` are computed as `<=` or its opposite, so that one of `a <= b` and `a > b`
   holds even where an overflow leaves no number. An atom is decided by fixed columns only where
   doubles decide as exact numbers do: labels; whole numbers below `2^53`; and one of these with a
   literal `p/q`, `|p| < 2^53` and `q < 2^100`, whose double is off by at most `2^-53 |p/q| < 1/q`,
   while a whole number is that literal or `1/q` away. `0.1 z > 0.3` for `z = 3` is true in doubles
   and false in fractions. If such an atom reads columns with few values only, it might be decided
   both ways, and the rule says nothing.
4. Where an interval holds no grid step, and where a sum is rounded to a coarser grid before noise,
   the move may be larger by what the interpreter counts as slack, in each term and entry; the noise
   is scaled up for it, as for the box.

So 0 may be the bound of what is private by its syntax only: the counts of `x <= 0` and `x > 0` add
up to the public size. Checker and kernel are held against all pairs of rows of random functions,
and the interpreter's own sums, in exact fractions, against the bound
(`tests/programs/test_cases.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.arrays import Bools, Floats, Ints
from bayesdp.kernel.programs.rows import labels_of
from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.run.tables.columns import CellValues, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class Labels:
    """A column of categories, by their codes."""

    codes: Ints
    labels: tuple[str, ...]

    def texts(self) -> NDArray[np.object_]:
        """The label of each row."""
        return np.asarray(np.asarray(self.labels, dtype=object)[self.codes])


ColumnValues = CellValues | Labels | str | float | list[Floats | Bools]
"""A value for each row, or one for all of them; a list has the entries of a vector."""
_COMPARED = ("lt", "le", "gt", "ge")
MOST_PLACE = 2.0**62


class RowValues:
    """Evaluates row expressions whose public values have been filled in."""

    def __init__(self, rows: Rows, kinds: Mapping[str, Type]) -> None:
        self.rows, self.kinds = rows, kinds

    def numbers(self, expr: Expr) -> Floats:
        """The value of a number expression for each row."""
        return self._number(self.value(expr))

    def vector(self, expr: Expr) -> list[Floats]:
        """The entries of a vector, or a single number, for each row."""
        value = self.value(expr)
        return [self._number(entry) for entry in (value if isinstance(value, list) else [value])]

    def truths(self, expr: Expr) -> Bools:
        """The value of a truth expression for each row."""
        return np.asarray(self._number(self.value(expr)) != 0)

    def codes(self, expr: Expr) -> Ints:
        """The code of each row's category, truth value or whole number."""
        return self._places(self.value(expr))

    def _places(self, value: ColumnValues) -> Ints:
        """The code of each row's value; 0 for a value that doubles can't compute."""
        if isinstance(value, Labels):
            return np.asarray(value.codes)
        with np.errstate(all="ignore"):
            known = np.nan_to_num(np.rint(self._number(value)), nan=0.0)
            return np.asarray(np.clip(known, -MOST_PLACE, MOST_PLACE).astype(np.int64))

    def mask(self, data: Expr) -> Bools | None:
        """The rows that a data expression keeps, as truth values; None keeps all of them."""
        row_mask: Bools | None = None
        pieces = data.data[0]
        assert isinstance(pieces, tuple)
        for piece in pieces:
            assert isinstance(piece, tuple)
            held = self._piece(str(piece[0]), str(piece[1]))
            row_mask = held if row_mask is None else row_mask & held
        if data.args[0] != Expr("const", (), (True,)):
            held = self.truths(data.args[0])
            row_mask = held if row_mask is None else row_mask & held
        return row_mask

    def _piece(self, column: str, label: str) -> Bools:
        labels = self.kinds[column].labels or ("False", "True")
        return np.asarray(self.rows.columns[column] == labels.index(label))

    def _number(self, value: ColumnValues) -> Floats:
        if isinstance(value, Labels):
            value = value.codes
        assert not isinstance(value, str | list)
        return np.broadcast_to(np.asarray(value, dtype=np.float64), (self.rows.size,))

    def value(self, expr: Expr) -> ColumnValues:
        """The value of an expression for each row."""
        with np.errstate(all="ignore"):
            return self._value(expr)

    def _value(self, expr: Expr) -> ColumnValues:
        op = expr.op
        if op == "const":
            value = expr.data[0]
            assert value is not None
            assert not isinstance(value, tuple)
            return value if isinstance(value, str) else _nearest(value)
        if op == "field":
            name = str(expr.data[0])
            held, kind = self.rows.columns[name], self.kinds[name]
            if kind.kind == "category":
                return Labels(np.asarray(held, dtype=np.int64), kind.labels)
            return held
        args = [self._value(arg) for arg in expr.args]
        if op in ("eq", "ne"):
            same = self._same(args[0], args[1])
            return same if op == "eq" else ~same
        if op == "cross":
            return self._crossed(expr, args)
        if op == "tuple":
            return [self._number(entry) for entry in args]
        if op == "item":
            index = expr.data[0]
            assert isinstance(index, int | Fraction)
            vector = args[0]
            assert isinstance(vector, list)
            return vector[int(index)]
        if op == "onehot":
            size = expr.data[0]
            assert isinstance(size, int | Fraction)
            codes = np.clip(self._places(args[0]), 0, int(size) - 1)
            return [self._number(codes == code) for code in range(int(size))]
        if op == "moments":
            assert isinstance(args[0], list)
            entries = [self._number(entry) for entry in args[0]]
            count = len(entries)
            return [entries[i] * entries[j] for i in range(count) for j in range(i, count)]
        return self._spread(op, args)

    def _same(self, a: ColumnValues, b: ColumnValues) -> Bools:
        for first, second in ((a, b), (b, a)):
            if isinstance(first, Labels) and isinstance(second, str):
                code = first.labels.index(second) if second in first.labels else -1
                return np.asarray(first.codes == code)
        if isinstance(a, Labels) and isinstance(b, Labels):
            return np.asarray(a.texts() == b.texts(), dtype=np.bool_)
        return np.asarray(self._number(a) == self._number(b))

    def _crossed(self, expr: Expr, args: Sequence[ColumnValues]) -> Labels:
        codes = np.zeros(self.rows.size, dtype=np.int64)
        for arg, part in zip(args, expr.args, strict=True):
            size = len(labels_of(part, self.kinds))
            held = arg.codes if isinstance(arg, Labels) else np.asarray(arg, dtype=np.int64)
            codes = codes * size + held
        return Labels(codes, labels_of(expr, self.kinds))

    def _spread(self, op: str, args: Sequence[ColumnValues]) -> ColumnValues:
        """Entry by entry where a vector is among the arguments."""
        longest = max((len(arg) for arg in args if isinstance(arg, list)), default=0)
        if not longest:
            return _computed(op, [self._number(arg) for arg in args])
        spread = [arg if isinstance(arg, list) else [arg] * longest for arg in args]
        return [_computed(op, [self._number(arg[i]) for arg in spread]) for i in range(longest)]


def _nearest(value: bool | int | Fraction) -> float:
    return float(value)


def _compared(op: str, a: Floats, b: Floats) -> Bools:
    """Computed from a <= b or b <= a, or as its opposite, so that NaN is on one side too.

    Exactly one of `x <= c` and `x > c` holds, which the checker's rule `cases` relies on.
    """
    held = np.less_equal(a, b) if op in ("le", "gt") else np.less_equal(b, a)
    return np.asarray(held if op in ("le", "ge") else np.logical_not(held))


_FUNCTIONS = {"floor": np.floor, "sqrt": np.sqrt, "log": np.log, "exp": np.exp}


def _computed(op: str, args: Sequence[Floats]) -> Floats | Bools:
    if op == "and":
        return np.asarray(np.logical_and.reduce([truths != 0 for truths in args]))
    if op == "or":
        return np.asarray(np.logical_or.reduce([truths != 0 for truths in args]))
    if op == "not":
        return np.asarray(args[0] == 0)
    if op == "if":
        return np.where(args[0] != 0, args[1], args[2])
    if op in ("min", "max"):
        least_or_most = np.minimum if op == "min" else np.maximum
        return np.asarray(least_or_most.reduce(list(args)))
    if op == "clip":
        return np.asarray(np.minimum(np.maximum(args[0], args[1]), args[2]))
    if op == "neg":
        return -args[0]
    if op == "abs":
        return np.asarray(np.abs(args[0]))
    if op in _FUNCTIONS:
        return np.asarray(_FUNCTIONS[op](args[0]))
    if op == "lgamma":  # of a public or released number inside a row
        from scipy.special import gammaln

        return np.asarray(gammaln(args[0]))
    if op in _COMPARED:
        return _compared(op, args[0], args[1])
    a, b = args
    if op == "add":
        return a + b
    if op == "sub":
        return a - b
    assert op in ("mul", "div"), op
    return a * b if op == "mul" else a / b
