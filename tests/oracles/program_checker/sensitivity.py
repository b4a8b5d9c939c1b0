"""How far a private value moves when one record changes: the rules, the least of them wins.

A sensitivity is a public expression: a constant, or in the public size where the value is scaled by
it. `l1` is the sum of the entries' moves, `l2` here is the *square* of the root of squares.
Source: theory 8 (programs), and PrivInfer (CCS 2016) for the calculus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from bayesdp.programs.ir import Adjacency, Expr, names_of
from tests.oracles.program_checker.cases import cases
from tests.oracles.program_checker.intervals import (
    Bounds,
    Context,
    Interval,
    bounds,
    nonzero,
    one_bound,
)
from tests.oracles.program_checker.refusals import Rejected, Unknown
from tests.oracles.program_checker.rows import (
    ONE,
    ZERO,
    Entry,
    NotExact,
    Part,
    check_row,
    condition_columns,
    entry_value,
    part_bounds,
    part_columns,
    settings,
    values_of,
)

Norm = Literal["l1", "l2"]
NOT_ZERO = "require(people.size > 1) for sizes, max(x, 1) for released values."
MOST_SETTINGS = 200
MOST_DIFFERENCES = 100_000


@dataclass(frozen=True)
class Sensitivity:
    """An upper bound: `value` (l2: its square) by a named rule."""

    value: Expr
    by: str

    @property
    def constant(self) -> Fraction | None:
        """The number, if it is one."""
        return constant_of(self.value)


@dataclass(frozen=True)
class AdjacencyContext:
    """What the rules need to know."""

    adjacency: Adjacency
    context: Context
    fold: Callable[[Expr, Adjacency], Fraction]  # the refinement tier

    @property
    def public(self) -> frozenset[str]:
        """The columns that a neighbour shares."""
        if self.adjacency == "add-remove":
            return frozenset()
        return frozenset(item for item, kind in self.context.columns.items() if kind.public)

    def entering(self) -> AdjacencyContext:
        """The same world where a record enters or leaves. A public size stays what it is."""
        return AdjacencyContext("add-remove", self.context, self.fold)

    def knowing(self, name: str, bounds: Bounds | None) -> AdjacencyContext:
        """The same with one more public value."""
        return AdjacencyContext(self.adjacency, self.context.knowing(name, bounds), self.fold)


def constant_of(expr: Expr) -> Fraction | None:
    """The value of a constant expression."""
    if expr.op == "const":
        value = expr.data[0]
        return Fraction(value) if isinstance(value, bool | int | Fraction) else None
    parts = [constant_of(argument) for argument in expr.args]
    numbers = [part for part in parts if part is not None]
    if len(numbers) != len(parts) or not parts:
        return None
    if expr.op == "add":
        return numbers[0] + numbers[1]
    if expr.op == "mul":
        return numbers[0] * numbers[1]
    if expr.op == "abs":
        return abs(numbers[0])
    if expr.op == "div" and numbers[1] != 0:
        return numbers[0] / numbers[1]
    return max(numbers) if expr.op == "max" else None


def number(value: Fraction) -> Expr:
    """A constant expression."""
    return Expr("const", (), (value,))


def is_private(expr: Expr, world: AdjacencyContext) -> bool:
    """Whether a value moves when a record changes, as far as its syntax says."""
    if expr.op in ("sum", "count"):
        _, data = expr.op, expr.args[0]
        return bool(_data_columns(data) - world.public) or world.adjacency == "add-remove"
    return expr.op == "fold" or any(is_private(argument, world) for argument in expr.args)


def _data_columns(data: Expr) -> frozenset[str]:
    pieces = data.data[0]
    assert isinstance(pieces, tuple)
    part = Part(pieces_of(data), data.args[0], data.args[1], 0, Fraction(1))
    return part_columns(part)


def pieces_of(data: Expr) -> tuple[tuple[str, str], ...]:
    """The partitions that a data expression lies in."""
    actual = data.data[0]
    assert isinstance(actual, tuple)
    return tuple((str(item[0]), str(item[1])) for item in actual if isinstance(item, tuple))


# -- from a private value to row functions -----------------------------------------------------


def entries(expr: Expr, world: AdjacencyContext) -> list[Entry] | None:
    """The value as sums of one row function, if it is linear with constant factors."""
    op = expr.op
    if not is_private(expr, world):
        actual = bounds(expr, world.context)
        return [()] * (len(actual) if isinstance(actual, tuple) else 1)
    if op in ("sum", "count"):
        return _summed(expr, world)
    if op == "tuple":
        parts = [entries(argument, world) for argument in expr.args]
        if any(part is None for part in parts):
            return None
        return [entry for part in parts if part is not None for entry in part]
    if op == "item":
        whole = entries(expr.args[0], world)
        index = expr.data[0]
        assert isinstance(index, int | Fraction)
        return None if whole is None else [whole[int(index)]]
    if op in ("add", "sub"):
        return _joined(expr, world)
    if op == "neg":
        return _scaled(entries(expr.args[0], world), Fraction(-1))
    if op in ("mul", "div"):
        return _multiplied(expr, world)
    return None


def _summed(expr: Expr, world: AdjacencyContext) -> list[Entry]:
    data = expr.args[0]
    group = ONE if expr.op == "count" else data.args[1]
    check_row(group, world.context)
    check_row(data.args[0], world.context)
    actual = bounds(group, world.context)
    size = len(actual) if isinstance(actual, tuple) else 1
    pieces = pieces_of(data)
    return [(Part(pieces, data.args[0], group, i, Fraction(1)),) for i in range(size)]


def _joined(expr: Expr, world: AdjacencyContext) -> list[Entry] | None:
    left, right = (entries(argument, world) for argument in expr.args)
    if expr.op == "sub":
        right = _scaled(right, Fraction(-1))
    if left is None or right is None:
        return None
    longest = max(len(left), len(right))
    if len(left) != longest and len(left) == 1:
        left = left * longest
    if len(right) != longest and len(right) == 1:
        right = right * longest
    if len(left) != len(right):
        raise Rejected("type", "Two vectors of different lengths.", expr)
    return [a + b for a, b in zip(left, right, strict=True)]


def _scaled(parts: list[Entry] | None, factor: Fraction) -> list[Entry] | None:
    if parts is None:
        return None
    return [
        tuple(Part(p.pieces, p.filter, p.group, p.index, p.factor * factor) for p in entry)
        for entry in parts
    ]


def _multiplied(expr: Expr, world: AdjacencyContext) -> list[Entry] | None:
    left, right = expr.args
    if expr.op == "div":
        factor = constant_of(right)
        if factor == 0:
            raise Rejected("division", "This divides by 0.", right)
        return None if factor is None else _scaled(entries(left, world), 1 / factor)
    for item, other in ((left, right), (right, left)):
        factor = constant_of(item)
        if factor is not None:
            return _scaled(entries(other, world), factor)
    return None


# -- the rules -----------------------------------------------------------------------------------


def sensitivity(expr: Expr, norm: Norm, world: AdjacencyContext) -> Sensitivity:
    """The least bound that the rules give. Raises `Rejected` or `Unknown`."""
    bounds(expr, world.context)  # names are known and vectors fit, or `Rejected`
    if not is_private(expr, world):
        return Sensitivity(ZERO, "public")
    linear = entries(expr, world)
    if linear is not None:
        value, by = joint(linear, norm, world)
        return Sensitivity(number(value), by)
    return _structural(expr, norm, world)


def _structural(expr: Expr, norm: Norm, world: AdjacencyContext) -> Sensitivity:
    """Scaling by public values, 1-Lipschitz operations, sums of the parts' bounds."""
    op = expr.op
    if op == "fold":
        moved = world.fold(expr, world.adjacency)
        return Sensitivity(number(moved if norm == "l1" else moved * moved), "fold")
    if op in ("mul", "div"):
        return _by_public(expr, norm, world)
    if op == "neg" or op == "abs":
        return _within(sensitivity(expr.args[0], norm, world))
    if op == "clip":
        if any(is_private(argument, world) for argument in expr.args[1:]):
            raise Rejected("private-parameter", "The ends of a clip depend on private data.", expr)
        return _within(sensitivity(expr.args[0], norm, world))
    if op in ("min", "max") and norm == "l1":
        # |max(a, b) - max(a', b')| <= max(|a - a'|, |b - b'|), and the same of min.
        parts = [sensitivity(argument, "l1", world) for argument in expr.args]
        most = Expr("max", tuple(item.value for item in parts))
        return Sensitivity(_simple(most), _together(parts))
    if op in ("add", "sub", "min", "max", "tuple"):
        parts = [_spread(argument, expr, world) for argument in expr.args]
        total = parts[0].value
        for part in parts[1:]:
            total = Expr("add", (total, part.value))
        # The l2 norm is at most the l1 norm.
        value = total if norm == "l1" else Expr("mul", (total, total))
        return Sensitivity(_simple(value), _together(parts))
    if op == "item":
        return _within(sensitivity(expr.args[0], norm, world))
    raise Unknown("unproved", f"No rule bounds how far '{op}' moves.", expr)


def _within(inner: Sensitivity) -> Sensitivity:
    return Sensitivity(inner.value, _together([inner]))


def _together(parts: Sequence[Sensitivity]) -> str:
    """The rules behind a bound that is made of others."""
    words = [word for part in parts for word in part.by.removeprefix("sum of ").split(", ")]
    return "sum of " + ", ".join(dict.fromkeys(words))


def _spread(part: Expr, whole: Expr, world: AdjacencyContext) -> Sensitivity:
    """The l1 bound of a part; a number that is added to every entry of a vector counts for each."""
    actual = sensitivity(part, "l1", world)
    length, own = bounds(whole, world.context), bounds(part, world.context)
    if whole.op not in ("add", "sub") or not isinstance(length, tuple) or isinstance(own, tuple):
        return actual
    times = Expr("mul", (number(Fraction(len(length))), actual.value))
    return Sensitivity(_simple(times), actual.by)


def _by_public(expr: Expr, norm: Norm, world: AdjacencyContext) -> Sensitivity:
    left, right = expr.args
    if expr.op == "mul" and is_private(left, world) and is_private(right, world):
        raise Rejected("nonlinear", "A product of two private values.", expr)
    if expr.op == "div":
        if is_private(right, world):
            raise Rejected("nonlinear", "This divides by a private value.", expr)
        if not nonzero(one_bound(right, world.context)):
            raise Rejected("division", "The divisor may be 0.", right, NOT_ZERO)
    private, factor = (left, right) if is_private(left, world) else (right, left)
    inner = sensitivity(private, norm, world)
    size = Expr("abs", (_bounded_factor(factor, expr.op, world),))
    powers = 1 if norm == "l1" else 2
    value = inner.value
    for _ in range(powers):
        value = Expr(expr.op, (value, size))
    return Sensitivity(_simple(value), _together([inner]))


def _bounded_factor(factor: Expr, op: str, world: AdjacencyContext) -> Expr:
    """The factor itself if it is known when the noise is drawn, else the worst that it can be."""
    _divides_by_no_0(factor, world)
    actual = one_bound(factor, world.context)
    if names_of(factor) <= {"db.size"} and not _has_data(factor):
        return factor
    if op == "div":
        return number(_smallest(actual))
    if actual.largest is None:
        raise Rejected(
            "bounds",
            "A private value is scaled by a public one without bounds.",
            factor,
            "Scale after the release: the noise then doesn't depend on it.",
        )
    return number(actual.largest)


def _divides_by_no_0(factor: Expr, world: AdjacencyContext) -> None:
    """Also a divisor inside a factor is bounded away from 0."""
    if factor.op == "div" and not nonzero(one_bound(factor.args[1], world.context)):
        raise Rejected("division", "The divisor may be 0.", factor.args[1], NOT_ZERO)
    for argument in factor.args:
        _divides_by_no_0(argument, world)


def _smallest(interval: Interval) -> Fraction:
    """The smallest absolute value of an interval without 0."""
    if interval.low is not None and interval.low > 0:
        return interval.low
    assert interval.high is not None
    assert interval.high < 0
    return -interval.high


def _has_data(expr: Expr) -> bool:
    return expr.op in ("sum", "count", "fold") or any(_has_data(argument) for argument in expr.args)


def _simple(expr: Expr) -> Expr:
    actual = constant_of(expr)
    return expr if actual is None else number(actual)


def joint(actual: Sequence[Entry], norm: Norm, world: AdjacencyContext) -> tuple[Fraction, str]:
    """The sensitivity of a vector of row functions: the least of the rules that apply."""
    rules = (box, onehot, moments, enumerated, cases)
    answers = [
        (value, rule.__name__) for rule in rules if (value := rule(actual, norm, world)) is not None
    ]
    return min(answers, key=lambda item: item[0])


def box(actual: Sequence[Entry], norm: Norm, world: AdjacencyContext) -> Fraction:
    """Entry by entry: the width of its interval."""
    total = Fraction(0)
    for entry in actual:
        width = sum((_part_width(part, world) for part in entry), Fraction(0))
        total += width if norm == "l1" else width * width
    return total


def _part_width(part: Part, world: AdjacencyContext) -> Fraction:
    inside = part_bounds(part, world.context)
    if world.adjacency == "add-remove":
        assert inside.largest is not None
        return inside.largest
    if part_columns(part) <= world.public:
        return Fraction(0)
    if condition_columns(part) <= world.public:
        assert inside.width is not None
        return inside.width
    width = inside.with_zero().width
    assert width is not None
    return width


def _one_group(actual: Sequence[Entry], op: str) -> tuple[Part, Fraction] | None:
    """The group, if the entries are exactly its entries, all times one factor."""
    if not all(len(entry) == 1 for entry in actual):
        # Several parts may stand in an entry only if they are all of one kind: not looked for.
        return None
    first = actual[0][0]
    same = all(
        (item.pieces, item.filter, item.group, abs(item.factor))
        == (first.pieces, first.filter, first.group, abs(first.factor))
        for (item,) in actual
    )
    distinct = len({item.index for (item,) in actual}) == len(actual)
    return (first, abs(first.factor)) if same and distinct and first.group.op == op else None


def onehot(actual: Sequence[Entry], norm: Norm, world: AdjacencyContext) -> Fraction | None:
    """Cells of a table: a record leaves one and enters another."""
    group = _one_group(actual, "onehot")
    if group is None:
        return None
    _, factor = group
    cells = 1 if world.adjacency == "add-remove" else min(2, len(actual))
    return cells * (factor if norm == "l1" else factor * factor)


def moments(actual: Sequence[Entry], norm: Norm, world: AdjacencyContext) -> Fraction | None:
    """Products of pairs of entries in [-1, 1], jointly (theory 8.3)."""
    group = _one_group(actual, "moments")
    if group is None:
        return None
    part, factor = group
    base = bounds(part.group.args[0], world.context)
    if not isinstance(base, tuple):
        return None
    if any(
        item.low is None or item.high is None or item.low < -1 or item.high > 1 for item in base
    ):
        return None
    d = len(base)
    triangle = Fraction(d * (d + 1), 2)
    replaced = triangle if norm == "l1" else _corners(d, base)
    if world.adjacency == "add-remove":
        value = triangle
    elif condition_columns(part) <= world.public:
        value = replaced
    else:
        value = max(replaced, triangle)
    return value * (factor if norm == "l1" else factor * factor)


def _corners(d: int, base: Sequence[Interval]) -> Fraction:
    """The square of the l2 norm: corners of the cube are the worst place (theory 8.3)."""
    constant_one = any(item.low == item.high == 1 for item in base)
    return Fraction(1) if d == 1 and not constant_one else Fraction(4 * (d * d // 4))


def enumerated(actual: Sequence[Entry], norm: Norm, world: AdjacencyContext) -> Fraction | None:
    """All pairs of settings of the columns involved, where these are finite and few."""
    names = frozenset().union(*(part_columns(p) for entry in actual for p in entry))
    kinds = {name: world.context.columns[name] for name in names}
    total = 1
    for kind in kinds.values():
        values = values_of(kind)
        total *= len(values) if values is not None else MOST_SETTINGS + 1
    if total > MOST_SETTINGS or len(actual) > 64:
        return None
    groups: dict[tuple[object, ...], set[tuple[Fraction, ...]]] = {}
    shared = sorted(names & world.public)
    try:
        for row in settings(kinds):
            value = tuple(entry_value(entry, row, world.context.columns) for entry in actual)
            groups.setdefault(tuple(row[item] for item in shared), set()).add(value)
    except NotExact:
        return None
    if sum(len(rows) ** 2 for rows in groups.values()) * len(actual) > MOST_DIFFERENCES:
        return None
    zero = (Fraction(0),) * len(actual)
    worst = Fraction(0)
    for rows in groups.values():
        against = [zero] if world.adjacency == "add-remove" else rows
        for x in rows:
            for y in against:
                worst = max(worst, _distance(x, y, norm))
    return worst


def _distance(x: Sequence[Fraction], y: Sequence[Fraction], norm: Norm) -> Fraction:
    moves = [abs(a - b) for a, b in zip(x, y, strict=True)]
    return sum(moves, Fraction(0)) if norm == "l1" else sum((m * m for m in moves), Fraction(0))
