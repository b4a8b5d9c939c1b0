"""The value of an expression on a small database: exact, by plain recursion.

This is a second reading of the intermediate representation, written from its table and not from
the checker or the interpreter, so that a mistake there isn't repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import lgamma

from bayesdp.programs.ir import Constant, Expr, Type

ExpressionValue = Fraction | bool | str | tuple[Fraction, ...]
RecordValues = Mapping[str, Constant]


def as_fraction(value: ExpressionValue | Constant) -> Fraction:
    """The value of an expression that is a number or a truth value, as a fraction."""
    assert isinstance(value, Fraction | int)
    return Fraction(value)


class Opaque(Exception):
    """The value depends on a released distribution, which is not computed here."""


class Fails(Exception):
    """A record's value can't be computed, such as a division by 0."""


def labels(kind: Type) -> tuple[str, ...]:
    """The labels of a column, in order; a Bool has two."""
    return kind.labels or ("False", "True")


class Evaluator:
    """Expressions over databases made of `rows`, where public names have the values of `names`.

    A database is a tuple of places in `rows`. What a row adds to a sum is computed once.
    """

    def __init__(
        self,
        rows: Sequence[RecordValues],
        kinds: Mapping[str, Type],
        names: Mapping[str, ExpressionValue],
    ) -> None:
        self.rows, self.kinds, self.names = rows, kinds, names
        self._added: dict[tuple[int, int], tuple[Fraction, ...] | None] = {}
        self._standing: dict[tuple[int, int], tuple[tuple[Constant, ...], int] | None] = {}
        self._alive: list[Expr] = []  # keeps identities of cached expressions

    def with_name(self, name: str, value: ExpressionValue) -> Evaluator:
        """The same evaluator, with another public name."""
        return Evaluator(self.rows, self.kinds, {**self.names, name: value})

    # -- one record --------------------------------------------------------------------------

    def of_row(
        self, expr: Expr, row: RecordValues, so_far: Fraction | None = None
    ) -> ExpressionValue:
        """The value of a row expression. Raises `Fails` where it divides by 0."""
        op = expr.op
        if op == "const":
            return _constant(expr)
        if op == "public":
            return self.name(expr)
        if op == "acc":
            assert so_far is not None
            return so_far
        if op == "field":
            value = row[str(expr.data[0])]
            assert value is not None, "no record holds a `None`"
            return Fraction(value) if type(value) is int else value  # Python's own whole numbers
        if op == "if":
            taken = expr.args[1] if self.of_row(expr.args[0], row, so_far) else expr.args[2]
            return self.of_row(taken, row, so_far)
        args = [self.of_row(arg, row, so_far) for arg in expr.args]
        if op == "onehot":
            return self._onehot(expr, args[0])
        if op == "cross":
            return "|".join(arg if isinstance(arg, str) else str(bool(arg)) for arg in args)
        try:
            return operation(op, args, expr)
        except ZeroDivisionError:
            raise Fails from None

    def _onehot(self, expr: Expr, value: ExpressionValue) -> ExpressionValue:
        size = int(_fraction(_constant(expr)))
        if isinstance(value, str):
            at = list(self._cells(expr.args[0])).index(value)
        else:
            at = int(_fraction(value))
        return tuple(Fraction(i == at) for i in range(size))

    def _cells(self, expr: Expr) -> list[str]:
        if expr.op == "field":
            return list(labels(self.kinds[str(expr.data[0])]))
        if expr.op != "cross":
            return ["False", "True"]
        return ["|".join(parts) for parts in product(*(self._cells(arg) for arg in expr.args))]

    def keeps_row(self, data: Expr, row: RecordValues) -> bool:
        """Whether the data expression keeps this row."""
        pieces = data.data[0]
        assert isinstance(pieces, tuple)
        for piece in pieces:
            assert isinstance(piece, tuple)
            if str(row[str(piece[0])]) != piece[1]:
                return False
        return bool(self.of_row(data.args[0], row))

    # -- all records ---------------------------------------------------------------------------

    def value(self, expr: Expr, database: Sequence[int]) -> ExpressionValue:
        """The value of a private or public expression."""
        op = expr.op
        if op == "const":
            return _constant(expr)
        if op == "public":
            return self.name(expr)
        if op in ("sum", "count"):
            total = self.total(expr, database)
            vector = op == "sum" and self._is_vector(expr.args[0].args[1])
            return total if vector else total[0]
        if op == "fold":
            so_far = expr.data[0]
            assert isinstance(so_far, int | Fraction)
            running = Fraction(so_far)
            for place in database:
                if self.keeps_row(expr.args[0], self.rows[place]):
                    running = _fraction(self.of_row(expr.args[1], self.rows[place], running))
            return running
        if op == "transitions":
            return self.transitions(expr, database)
        if op == "if":
            taken = expr.args[1] if self.value(expr.args[0], database) else expr.args[2]
            return self.value(taken, database)
        return operation(op, [self.value(arg, database) for arg in expr.args], expr)

    def numbers(self, expr: Expr, database: Sequence[int]) -> tuple[Fraction, ...]:
        """The value as a vector; a number becomes a vector of length 1."""
        value = self.value(expr, database)
        return value if isinstance(value, tuple) else (_fraction(value),)

    def total(self, expr: Expr, database: Sequence[int]) -> tuple[Fraction, ...]:
        """A sum or count over a database."""
        data = expr.args[0]
        total = (Fraction(0),) * (self._length(data.args[1]) if expr.op == "sum" else 1)
        for place in database:
            added = self.added(expr, place)
            if added is not None:
                total = tuple(a + b for a, b in zip(total, added, strict=True))
        return total

    def transitions(self, expr: Expr, database: Sequence[int]) -> tuple[Fraction, ...]:
        """How often which value follows which: looked up place by place."""
        held: dict[tuple[Constant, ...], list[int]] = {}
        for place in database:
            here = self._stands(expr, place)
            if here is not None:
                held.setdefault(here[0], []).append(here[1])
        values = self._length(expr.args[0].args[1])
        total = [0] * values**2
        for (step, *unit), rows in held.items():
            following = held.get((as_fraction(step) + 1, *unit), [])
            if len(rows) == len(following) == 1:
                total[rows[0] * values + following[0]] += 1
        return tuple(map(Fraction, total))

    def _stands(self, expr: Expr, place: int) -> tuple[tuple[Constant, ...], int] | None:
        """A row's step and unit, and which value it has; None if it is left out."""
        key = (id(expr), place)
        if key not in self._standing:
            self._alive.append(expr)
            (data, *keys), row = expr.args, self.rows[place]
            stands = None
            if self.keeps_row(data, row):
                value = self.of_row(data.args[1], row)
                assert isinstance(value, tuple)
                stands = tuple(row[str(key.data[0])] for key in keys), value.index(Fraction(1))
            self._standing[key] = stands
        return self._standing[key]

    def added(self, expr: Expr, place: int) -> tuple[Fraction, ...] | None:
        """What a row adds to a sum or count; None if it is left out. It is computed once."""
        key = (id(expr), place)
        if key not in self._added:
            self._alive.append(expr)
            data, row = expr.args[0], self.rows[place]
            added: tuple[Fraction, ...] | None = None
            if self.keeps_row(data, row):
                value: ExpressionValue = Fraction(1)
                if expr.op == "sum":
                    value = self.of_row(data.args[1], row)
                added = value if isinstance(value, tuple) else (_fraction(value),)
            self._added[key] = added
        return self._added[key]

    def _is_vector(self, expr: Expr) -> bool:
        if expr.op in ("tuple", "onehot", "moments"):
            return True
        if expr.op == "public":
            return isinstance(self.names.get(str(expr.data[0])), tuple)
        mixed = ("add", "sub", "mul", "div", "neg")
        return expr.op in mixed and any(self._is_vector(arg) for arg in expr.args)

    def _length(self, expr: Expr) -> int:
        if expr.op == "tuple":
            return len(expr.args)
        if expr.op == "onehot":
            return int(_fraction(_constant(expr)))
        if expr.op == "moments":
            d = self._length(expr.args[0])
            return d * (d + 1) // 2
        if expr.op == "public":
            held = self.names.get(str(expr.data[0]))
            return len(held) if isinstance(held, tuple) else 1
        if expr.op in ("add", "sub", "mul", "div", "neg"):
            return max(self._length(arg) for arg in expr.args)
        return 1

    def name(self, expr: Expr) -> ExpressionValue:
        """The value of a public name. Raises `Opaque` for a released distribution."""
        name = str(expr.data[0])
        if name not in self.names:
            raise Opaque(name)
        return self.names[name]


def _constant(expr: Expr) -> ExpressionValue:
    value = expr.data[0]
    if isinstance(value, bool | str):
        return value
    assert isinstance(value, int | Fraction)
    return Fraction(value)


def _fraction(value: ExpressionValue) -> Fraction:
    assert isinstance(value, bool | Fraction), value
    return Fraction(value)


def operation(op: str, args: Sequence[ExpressionValue], expr: Expr) -> ExpressionValue:
    """The value of one operation on values."""
    if op == "and":
        return all(args)
    if op == "or":
        return any(args)
    if op == "not":
        return not args[0]
    if op in ("eq", "ne"):
        return (args[0] == args[1]) == (op == "eq")
    if op == "tuple":
        return tuple(_fraction(arg) for arg in args)
    if op == "item":
        held, at = args[0], expr.data[0]
        assert isinstance(held, tuple)
        assert isinstance(at, int | Fraction)
        return held[int(at)]
    if op == "moments":
        held = args[0]
        assert isinstance(held, tuple)
        return tuple(held[i] * held[j] for i in range(len(held)) for j in range(i, len(held)))
    if any(isinstance(arg, tuple) for arg in args):
        return _entrywise(op, args, expr)
    return _number(op, [_fraction(arg) for arg in args])


def _entrywise(op: str, args: Sequence[ExpressionValue], expr: Expr) -> ExpressionValue:
    longest = max(len(arg) for arg in args if isinstance(arg, tuple))
    spread = [arg if isinstance(arg, tuple) else (_fraction(arg),) * longest for arg in args]
    return tuple(_fraction(operation(op, [arg[i] for arg in spread], expr)) for i in range(longest))


def _function(op: str, x: Fraction) -> Fraction:
    """By decimal arithmetic, rounded to the 64 bits that a program's value has."""
    if op == "floor":
        return Fraction(x.numerator // x.denominator)
    if op == "lgamma":
        return Fraction(lgamma(x))
    with localcontext(prec=60):
        argument = Decimal(x.numerator) / Decimal(x.denominator)
        value = {"sqrt": Decimal.sqrt, "log": Decimal.ln, "exp": Decimal.exp}[op](argument)
    exact = Fraction(value)
    if not exact:
        return exact
    size = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    unit = Fraction(2) ** (size - 64)
    unit *= 2 if abs(exact) >= 2**64 * unit else 1
    return unit * round(exact / unit)


def _number(op: str, n: Sequence[Fraction]) -> Fraction | bool:
    if op == "add":
        return n[0] + n[1]
    if op == "sub":
        return n[0] - n[1]
    if op == "mul":
        return n[0] * n[1]
    if op == "div":
        return n[0] / n[1]
    if op == "neg":
        return -n[0]
    if op == "abs":
        return abs(n[0])
    if op == "min":
        return min(n)
    if op == "max":
        return max(n)
    if op == "clip":
        return min(max(n[0], n[1]), n[2])
    if op in ("floor", "sqrt", "log", "exp", "lgamma"):
        return _function(op, n[0])
    compared = {"lt": n[0] < n[1], "le": n[0] <= n[1], "gt": n[0] > n[1], "ge": n[0] >= n[1]}
    return compared[op]
