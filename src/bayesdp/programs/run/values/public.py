"""Public values, exact: literals, parameters, the public size, released values and what follows.

Numbers are fractions. In what a release reads no divisor is 0: the checker proves it. After the
releases a divisor may be 0, and then there is no result. A rehearsal also evaluates commands that
the program may never reach: there a division by 0 gives 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.errors import InputError
from bayesdp.kernel.programs.functions import FUNCTIONS, function_value
from bayesdp.kernel.programs.ranges import ANY, AdjacencyContext, Range
from bayesdp.programs.check.reading import read
from bayesdp.programs.ir import Constant, Expr, Program
from bayesdp.programs.run.numerics.observed import Answers
from bayesdp.programs.run.results.distributions import Distribution, Univariate
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.tables.rows import RowValues
from bayesdp.programs.whole_numbers import whole_names

if TYPE_CHECKING:
    from bayesdp.arrays import Bools, Floats

PublicNumber = Fraction | bool
PublicValue = PublicNumber | str | tuple[PublicNumber, ...] | Distribution | Answers
"""A number, a text, a vector, or what is made of a release."""


class PublicValues:
    """The names of a running program, and the public part of its context."""

    def __init__(self, program: Program, rows: Rows) -> None:
        self.program, self.rows = program, rows
        self.kinds = dict(program.record)
        parameters = {name for name, _, value in program.parameters if _is_whole(value)}
        self.whole = whole_names(program.body, self.kinds, frozenset(parameters))
        """The names that stand for whole numbers, whatever is released."""
        size = Fraction(rows.size)
        # The size is known only where it is public; nothing else needs to be.
        known = Range(size, size) if program.adjacency == "replace-one" else ANY
        self.context = AdjacencyContext(read(program), known, program.adjacency)
        self.row_values = RowValues(rows, self.kinds)
        self.names: dict[str, PublicValue] = {}
        for name, _, value in program.parameters:
            self.names[name] = _constant(value)
        if program.adjacency == "replace-one":
            self.names["db.size"] = size
        self._sums: dict[Expr, tuple[Fraction, ...]] = {}
        self.forgiving = False
        """Whether a division by 0 gives 0, since the program may not come to it."""

    def __repr__(self) -> str:
        return f"<values of {self.program.name}>"

    # -- evaluation --------------------------------------------------------------------------

    def value(self, expr: Expr) -> PublicValue:
        """The value of a public expression. Raises `InputError` for a division by 0."""
        op = expr.op
        if op == "const":
            return _constant(expr.data[0])
        if op == "public":
            return self.names[str(expr.data[0])]
        if op in ("sum", "count"):
            total = self.public_sum(expr)
            return total[0] if len(total) == 1 else total
        if op == "if":
            return self.value(expr.args[1 if self.value(expr.args[0]) else 2])
        if op == "summary":
            return self._summary(expr)
        args = [self.value(arg) for arg in expr.args]
        if op == "tuple":
            return tuple(Fraction(_single(entry)) for entry in args)
        if op == "item":
            index = expr.data[0]
            assert isinstance(index, int | Fraction)
            vector = args[0]
            assert isinstance(vector, tuple)
            return vector[int(index)]
        if op in ("eq", "ne"):
            return (args[0] == args[1]) == (op == "eq")
        if op == "div":
            self._check_divisor(args[1])
        longest = max((len(arg) for arg in args if isinstance(arg, tuple)), default=0)
        if not longest:
            return computed(op, list(map(_single, args)))
        spread = [arg if isinstance(arg, tuple) else (_single(arg),) * longest for arg in args]
        return tuple(computed(op, [arg[i] for arg in spread]) for i in range(longest))

    def _summary(self, expr: Expr) -> Fraction:
        """A number about a released posterior; the nearest finite double."""
        law, (what, first, second) = self.value(expr.args[0]), expr.data
        assert isinstance(law, Univariate)
        a, b = (float(Fraction(_single(_constant(end)))) for end in (first, second))
        if what == "quantile":
            number = law.quantile(a)
        elif what == "probability":
            number = law.cdf(b) - law.cdf(a)
        else:
            number = law.mean if what == "mean" else law.sd
        return Fraction(float(np.nan_to_num(number)))

    def _check_divisor(self, divisor: PublicValue) -> None:
        entries = divisor if isinstance(divisor, tuple) else (divisor,)
        if not self.forgiving and not all(entries):
            raise InputError(
                "a divisor",
                0,
                expected="a number other than 0",
                remedy="Write max(n, 1) for a count that may be 0.",
            )

    def number(self, expr: Expr) -> Fraction:
        """A public number."""
        value = self.value(expr)
        assert isinstance(value, bool | Fraction)
        return Fraction(value)

    def numbers(self, expr: Expr) -> tuple[Fraction, ...]:
        """A public number or vector, as a vector."""
        value = self.value(expr)
        entries = value if isinstance(value, tuple) else (_single(value),)
        return tuple(Fraction(entry) for entry in entries)

    def public_sum(self, expr: Expr) -> tuple[Fraction, ...]:
        """A sum over public columns, correctly rounded, so that the rows' order doesn't matter.

        Products of doubles are rounded before they are added up. So each entry is held inside the
        bounds that the checker has for it: a released sum is scaled by no more than it counted on.
        """
        if self.context.moved(expr):
            raise AssertionError("a private sum among public values")
        if expr not in self._sums:
            data = self.filled(expr.args[0])
            row_mask = self.row_values.mask(data)
            if expr.op == "count":
                many = self.rows.size if row_mask is None else int(row_mask.sum())
                self._sums[expr] = (Fraction(many),)
            else:
                totals = [_added(row, row_mask) for row in self.row_values.vector(data.args[1])]
                places = self.context.ranges(expr)
                self._sums[expr] = tuple(
                    Fraction(max(place.low, min(place.high, total)))
                    for place, total in zip(places, totals, strict=True)
                )
        return self._sums[expr]

    def public_size(self, data: Expr) -> int | None:
        """The number of rows that a data expression keeps, where that is public."""
        constant = Expr("const", (), (Fraction(1),))
        counted = Expr("count", (Expr("data", (data.args[0], constant), data.data),))
        if self.context.moved(counted):
            return None
        return int(self.public_sum(counted)[0])

    # -- filling in ----------------------------------------------------------------------------

    def filled(self, expr: Expr, more: Mapping[str, Fraction] | None = None) -> Expr:
        """The expression with every public value written as a literal."""
        extra = more or {}
        if expr.op == "public":
            name = str(expr.data[0])
            value = extra[name] if name in extra else self.names[name]
            return _literal(value)
        if expr.op == "summary":
            return _literal(self.value(expr))
        if not expr.args:
            return expr
        args = tuple(self.filled(arg, more) for arg in expr.args)
        written = Expr(expr.op, args, expr.data)
        if expr.op in ("sum", "count") and not self.context.moved(written):
            # What is filled in comes first: a public sum may speak of a candidate.
            return _literal(self.value(written))
        return written


def _is_whole(value: Constant) -> bool:
    return isinstance(value, int | Fraction) and Fraction(value).denominator == 1


def _constant(value: Constant) -> PublicNumber | str:
    assert isinstance(value, int | Fraction | str)
    return Fraction(value) if type(value) is int else value


def _single(value: PublicValue) -> PublicNumber | str:
    """A value that is not a vector and nothing that is made of a release."""
    assert isinstance(value, int | Fraction | str)
    return value


def _literal(value: PublicValue) -> Expr:
    if isinstance(value, tuple):
        return Expr("tuple", tuple(Expr("const", (), (entry,)) for entry in value))
    return Expr("const", (), (_single(value),))


def _added(values: Floats, row_mask: Bools | None) -> Fraction:
    held = values if row_mask is None else values[row_mask]
    finite = np.where(np.isfinite(held), held, 0.0)
    return Fraction(fsum(finite.tolist()))


def computed(op: str, args: Sequence[PublicNumber | str]) -> PublicNumber:
    """The result of an operation on exact numbers."""
    if op == "and":
        return all(args)
    if op == "or":
        return any(args)
    if op == "not":
        return not args[0]
    numbers = [Fraction(arg) for arg in args]
    if op == "clip":
        return min(max(numbers[0], numbers[1]), numbers[2])
    if op in ("min", "max"):
        return min(numbers) if op == "min" else max(numbers)
    if op in ("neg", "abs"):
        return -numbers[0] if op == "neg" else abs(numbers[0])
    if op in FUNCTIONS:
        return function_value(op, numbers[0])
    a, b = numbers
    if op == "div":
        return a / b if b else Fraction(0)
    return _BINARY[op](a, b)


_BINARY: dict[str, Callable[[Fraction, Fraction], PublicNumber]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
