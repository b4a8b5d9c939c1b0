"""Where values lie: exact intervals, with infinite ends where nothing is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf

from bayesdp.kernel.arithmetic import require
from bayesdp.kernel.programs.cancelled import least
from bayesdp.kernel.programs.effort import Effort, bounded
from bayesdp.kernel.programs.functions import FUNCTIONS, function_range, in_domain
from bayesdp.kernel.programs.reading import SIZE, TRUE, Node, Program, columns_of, pieces
from bayesdp.kernel.programs.refusals import RefusedError, allow

End = Fraction | float
"""A fraction, or an infinity."""

ZERO = Fraction(0)
"""The number 0, exactly."""


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers from `low` to `high`."""

    low: End = -inf
    high: End = inf

    @property
    def finite(self) -> bool:
        """Whether both ends are numbers."""
        return isinstance(self.low, Fraction) and isinstance(self.high, Fraction)

    @property
    def nonzero(self) -> bool:
        """Whether 0 certainly lies outside."""
        return self.low > 0 or self.high < 0

    def width(self) -> Fraction:
        """How far two values are apart at most; `InvalidError` without bounds."""
        require(self.finite, "one record can change this without limit")
        return Fraction(self.high) - Fraction(self.low)

    def largest(self) -> Fraction:
        """The largest distance from 0."""
        require(self.finite, "one record can change this without limit")
        return max(abs(Fraction(self.low)), abs(Fraction(self.high)))

    def hull(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def or_zero(self) -> Range:
        """The hull of this and 0."""
        return self.hull(Range(ZERO, ZERO))


UNIT = Range(ZERO, Fraction(1))
ANY = Range()


@dataclass(frozen=True)
class AdjacencyContext:
    """The program, which sizes are admitted, where public values lie, and the adjacency."""

    program: Program
    size: Range
    adjacency: str
    variables: Mapping[str, tuple[Range, ...]] = field(default_factory=dict)
    """Where released and derived values and bound candidates lie; anywhere, if not said."""
    effort: Effort = field(default_factory=Effort, compare=False)

    @property
    def public(self) -> frozenset[str]:
        """The columns that two neighbours share."""
        return self.program.public if self.adjacency == "replace-one" else frozenset()

    def entering(self) -> AdjacencyContext:
        """The same where one record enters or leaves."""
        return replace(self, adjacency="add-remove")

    def moved(self, node: Node) -> bool:
        """Whether neighbours may differ in this value."""
        return any(
            part.op in ("fold", "transitions")
            or (
                part.op in ("sum", "count")
                and (self.adjacency == "add-remove" or not columns_of(part) <= self.public)
            )
            for part in node.walk()
        )

    def range(self, node: Node) -> Range:
        """Where one number lies."""
        places = self.ranges(node)
        allow(len(places) == 1, "vector", "a vector stands where one number is wanted", node)
        return places[0]

    def ranges(self, node: Node) -> tuple[Range, ...]:
        """Where each entry lies; a number is a vector of one."""
        op = node.op
        if op in _LEAVES:
            return self._leaf(node)
        if op in ("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"):
            return (UNIT,)
        if op == "onehot":
            return (UNIT,) * _whole(node)
        if op == "tuple":
            return tuple(self.range(arg) for arg in node.args)
        if op == "item":
            whole = self.ranges(node.args[0])
            allow(_whole(node) < len(whole), "entry", "the vector has no such entry", node)
            return (whole[_whole(node)],)
        if op == "moments":
            entries = self.ranges(node.args[0])
            return tuple(
                _squared(entry) if i == j else _times(entry, entries[j])
                for i, entry in enumerate(entries)
                for j in range(i, len(entries))
            )
        if op in ("sum", "count"):
            return self._summed(node)
        if op == "transitions":
            return (Range(ZERO, self.size.high),) * many_transitions(node)
        return (ANY,) if op in ("fold", "summary") else self._computed(node)

    def _leaf(self, node: Node) -> tuple[Range, ...]:
        if node.op == "acc":
            return (ANY,)
        value = node.data[0]
        if node.op == "const":
            return (ANY if isinstance(value, str) or value is None else _point(value),)
        if node.op == "field":
            allow(value in self.program.columns, "column", f"no column {value!r}", node)
            column = self.program.columns[str(value)]
            return (ANY if column.kind == "category" else Range(column.low, column.high),)
        return (self.size,) if node == SIZE else self.variables.get(str(value), (ANY,))

    def _summed(self, node: Node) -> tuple[Range, ...]:
        data = node.args[0]
        every = data.args[0] == TRUE and not pieces(data) and self.adjacency == "replace-one"
        rows = self.size if every else Range(ZERO, self.size.high)
        each = (_point(Fraction(1)),) if node.op == "count" else self.ranges(data.args[1])
        return tuple(_times(rows, place) for place in each)

    def _computed(self, node: Node) -> tuple[Range, ...]:
        op = node.op
        args = [self.ranges(arg) for arg in node.args]
        length = max(len(arg) for arg in args)
        fits = all(len(arg) in (1, length) for arg in args)
        allow(fits, "lengths", "vectors of different lengths", node)
        spread = [arg * length if len(arg) == 1 else arg for arg in args]
        places = tuple(_entry(node, op, [arg[i] for arg in spread]) for i in range(length))
        return (self._narrowed(node, places[0]),) if len(places) == 1 else places

    def _narrowed(self, node: Node, place: Range) -> Range:
        """Where a sum lies, also by what cancels in it."""
        if node.op not in ("add", "sub") or place.finite:
            return place

        def ends(term: Node) -> tuple[End, End]:
            held = self.range(term)
            return held.low, held.high

        low = max(place.low, least(node, ends))
        return Range(low, min(place.high, -least(Node("neg", (node,)), ends)))


_LEAVES = ("const", "field", "public", "acc")


def many_transitions(node: Node) -> int:
    """How many entries counts of transitions have: one for each pair of values."""
    data = node.args[0]
    counted = data.op == "data" and data.args[1].op == "onehot"
    allow(counted, "transitions", "transitions are of one-hot rows", node)
    return _whole(data.args[1]) ** 2


def _whole(node: Node) -> int:
    value = node.data[0]
    assert isinstance(value, Fraction)
    return int(value)


def _point(value: object) -> Range:
    assert isinstance(value, bool | Fraction)
    return Range(Fraction(value), Fraction(value))


def _entry(node: Node, op: str, args: list[Range]) -> Range:
    if op == "neg":
        return _minus(args[0])
    if op == "abs":
        inside = args[0].low <= 0 <= args[0].high
        ends: list[End] = [max(end, -end) for end in (args[0].low, args[0].high)]
        return Range(ZERO if inside else min(ends), max(ends))
    if op == "add":
        return Range(_sum(args[0].low, args[1].low), _sum(args[0].high, args[1].high))
    if op == "sub":
        return Range(_sum(args[0].low, -args[1].high), _sum(args[0].high, -args[1].low))
    if op == "mul":
        return _squared(args[0]) if node.args[0] == node.args[1] else _times(args[0], args[1])
    if op == "div":
        return _times(args[0], _inverse(args[1]))
    lows, highs = [place.low for place in args], [place.high for place in args]
    if op in ("min", "max"):
        return Range(min(lows), min(highs)) if op == "min" else Range(max(lows), max(highs))
    if op == "clip":
        value, low, high = args
        return Range(
            min(max(value.low, low.low), high.low), min(max(value.high, low.high), high.high)
        )
    if op == "if":
        return Range(min(args[1].low, args[2].low), max(args[1].high, args[2].high))
    if op in FUNCTIONS:
        allow(in_domain(op, args[0].low, args[0].high), "domain", f"'{op}' may have no value", node)
        return Range(*function_range(op, args[0].low, args[0].high))
    raise RefusedError("no-number", f"'{op}' is not a number", node)


def _minus(place: Range) -> Range:
    return Range(-place.high, -place.low)


def _product(a: End, b: End) -> End:
    """The product. 0 times infinity is 0: an infinite end only stands for large values."""
    if a == 0 or b == 0:
        return ZERO
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a * b)
    return inf if (a > 0) == (b > 0) else -inf


def _sum(a: End, b: End) -> End:
    """The sum of two lower ends, or of two upper ends."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a + b)
    return _infinite(a, b)


def _infinite(a: End, b: End) -> End:
    return b if isinstance(a, Fraction) else a


def _times(a: Range, b: Range) -> Range:
    ends = [_product(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(ends), max(ends))


def _squared(place: Range) -> Range:
    ends = (_product(place.low, place.low), _product(place.high, place.high))
    return Range(ZERO if place.low <= 0 <= place.high else min(ends), max(ends))


def _inverse(place: Range) -> Range:
    if not place.nonzero:
        return ANY
    low, high = (
        ZERO if not isinstance(end, Fraction) else 1 / end for end in (place.high, place.low)
    )
    return Range(low, high)


def admitted(requires: tuple[Node, ...]) -> Range:
    """The numbers of records that the preconditions admit, or a wider range; at least 1."""
    low, high = Fraction(1), inf
    top: End = high
    for precondition in requires:
        for op, bound in _said_of_size(precondition):
            if op in (">=", ">", "="):
                low = max(low, bound if op != ">" or bound.denominator > 1 else bound + 1)
            if op in ("<=", "<", "="):
                top = min(top, bound)
    return Range(low, top)


_RELATIONS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "eq": "="}
_TURNED = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "=": "="}


def _said_of_size(node: Node) -> list[tuple[str, Fraction]]:
    if node.op == "and":
        return [said for part in node.args for said in _said_of_size(part)]
    if node.op not in _RELATIONS:
        return []
    left, right = node.args
    relation = _RELATIONS[node.op]
    if left == SIZE and (bound := folded(right)) is not None:
        return [(relation, bound)]
    if right == SIZE and (bound := folded(left)) is not None:
        return [(_TURNED[relation], bound)]
    return []


def folded(node: Node) -> Fraction | None:
    """The number that a constant expression stands for; None if it reads a name."""
    if node.op == "const":
        value = node.data[0]
        return Fraction(value) if isinstance(value, bool | Fraction) else None
    if node.op not in ("add", "sub", "mul", "div", "neg", "abs", "min", "max"):
        return None
    numbers = [folded(arg) for arg in node.args]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    if node.op in ("min", "max"):
        return min(known) if node.op == "min" else max(known)
    if node.op in ("neg", "abs"):
        return -known[0] if node.op == "neg" else abs(known[0])
    a, b = known
    if node.op == "div":
        return None if b == 0 else bounded(a / b)
    return bounded(a + b if node.op == "add" else a - b if node.op == "sub" else a * b)
