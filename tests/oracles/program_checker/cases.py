"""Row functions case by case: what is kept is decided first, what is added bounded then.

`leaves` writes the choices of a row's number out: it is the value of the one leaf whose tests hold.
The interpreter sums leaf by leaf, each on a grid inside its own bounds, so that a bound on leaves
is one on what is summed. Which settings of tests there are, and what they leave: theory 8.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf
from typing import TYPE_CHECKING

from bayesdp.programs.ir import Constant, Expr, Type, columns, nodes
from tests.oracles.program_checker.intervals import TRUE, Context, Interval, one_bound
from tests.oracles.program_checker.rows import (
    ONE,
    ZERO,
    Entry,
    NotExact,
    Part,
    Setting,
    evaluate,
    values_of,
)

if TYPE_CHECKING:
    from tests.oracles.program_checker.sensitivity import AdjacencyContext, Norm

MOST_LEAVES, MOST_CASES, MOST_EVALUATED, MOST_PAIRED = 16, 4096, 20_000, 200_000
TRUTHS = ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not")
LIFTED = ("add", "sub", "mul", "div", "neg", "abs", "min", "max", "clip")
EXACT_BELOW = 2**53
LARGEST = 10**300
Kinds = Mapping[str, Type]
Test = tuple[Expr, bool]
"""A condition on a row, and whether it holds."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that a number has where all tests are so."""

    tests: tuple[Test, ...]
    value: Expr


def leaves(value: Expr, kinds: Kinds) -> list[Leaf]:
    """The choices of a number written out; of one with too many, itself."""
    actual = _lifted(value, kinds)
    return [Leaf((), value)] if actual is None else actual


def _lifted(expr: Expr, kinds: Kinds) -> list[Leaf] | None:
    if expr.op in TRUTHS or _is_bool(expr, kinds):
        return [Leaf(((expr, True),), ONE), Leaf(((expr, False),), ZERO)]
    if expr.op == "if":
        test, *sides = expr.args
        actual = []
        for holds, side in zip((True, False), sides, strict=True):
            inside = _lifted(side, kinds)
            if inside is None:
                return None
            actual += [Leaf(item.tests, item.value) for item in _under((test, holds), inside)]
        return actual if len(actual) <= MOST_LEAVES else None
    if expr.op not in LIFTED:
        return [Leaf((), expr)]
    actual = [Leaf((), Expr(expr.op, (), expr.data, expr.where))]
    for arg in expr.args:
        inside = _lifted(arg, kinds)
        if inside is None:
            return None
        actual = [
            Leaf(here.tests, Expr(expr.op, (*item.value.args, here.value), (), expr.where))
            for item in actual
            for here in _all_under(item.tests, inside)
        ]
        if len(actual) > MOST_LEAVES:
            return None
    return [Leaf(item.tests, _simpler(item.value)) for item in actual]


def _is_bool(expr: Expr, kinds: Kinds) -> bool:
    kind = kinds.get(str(expr.data[0])) if expr.op == "field" else None
    return kind is not None and kind.kind == "bool"


def _under(test: Test, inside: Sequence[Leaf]) -> Iterator[Leaf]:
    """Those that the test leaves."""
    for item in inside:
        if (test[0], not test[1]) not in item.tests:
            yield item if test in item.tests else Leaf((test, *item.tests), item.value)


def _all_under(tests: Sequence[Test], inside: Sequence[Leaf]) -> list[Leaf]:
    actual = list(inside)
    for test in reversed(tests):
        actual = list(_under(test, actual))
    return actual


def _simpler(expr: Expr) -> Expr:
    """Without factors of 0 and 1, and without adding 0."""
    args = expr.args
    if expr.op == "mul":
        if ZERO in args:
            return ZERO
        return args[1] if args[0] == ONE else args[0] if args[1] == ONE else expr
    if expr.op == "add" and ZERO in args:
        return args[1] if args[0] == ZERO else args[0]
    if expr.op == "sub" and args[1] == ZERO:
        return args[0]
    return ZERO if expr.op == "neg" and args[0] == ZERO else expr


# -- what doubles compute exactly ------------------------------------------------------------------


def whole(expr: Expr, context: Context) -> bool:
    """A whole number that doubles hold exactly, and all on the way to it."""
    if expr.op == "field":
        kind = context.columns[str(expr.data[0])]
        if kind.kind not in ("bool", "int"):
            return False
    elif expr.op == "const":
        value = expr.data[0]
        if not isinstance(value, int | Fraction) or Fraction(value).denominator != 1:
            return False
    elif expr.op not in ("add", "sub", "mul", "neg", "abs", "min", "max", "clip"):
        return False
    largest = one_bound(expr, context).largest
    small = largest is not None and largest < EXACT_BELOW
    return small and all(whole(argument, context) for argument in expr.args)


def _side(expr: Expr, context: Context) -> bool:
    """A whole number, or a literal whose double lies on the same side of every whole number.

    That of p/q is off by less than 1/q, if p is so small.
    """
    value = expr.data[0] if expr.op == "const" else None
    if isinstance(value, Fraction):
        return abs(value.numerator) < EXACT_BELOW and value.denominator < 2**100
    return whole(expr, context)


def _label(expr: Expr, context: Context) -> bool:
    if expr.op == "const":
        return isinstance(expr.data[0], str)
    return expr.op == "field" and context.columns[str(expr.data[0])].kind == "category"


def certain(atom: Expr, context: Context) -> bool:
    """Whether doubles decide a comparison as exact numbers do."""
    if atom.op == "eq" and all(_label(argument, context) for argument in atom.args):
        return True
    sides = atom.args
    return all(_side(side, context) for side in sides) and any(
        whole(side, context) for side in sides
    )


def _cell(value: Expr, context: Context) -> bool:
    """An entry of a one-hot vector of columns, which is counted."""
    if value.op != "item" or value.args[0].op != "onehot":
        return False
    (inner,), size = value.args[0].args, value.args[0].data[0]
    fields = inner.args if inner.op == "cross" else (inner,)
    if any(field.op != "field" for field in fields):
        return False
    kinds = [context.columns[str(field.data[0])] for field in fields]
    if len(kinds) == 1 and kinds[0].kind == "int" and isinstance(size, int | Fraction):
        low, high = kinds[0].low, kinds[0].high
        return low is not None and high is not None and low >= 0 and high < size
    return all(kind.kind in ("bool", "category") for kind in kinds)


# -- comparisons as atoms --------------------------------------------------------------------------


def atom_of(expr: Expr) -> Test:
    """A comparison as `eq` or `le`, or as the opposite of one: the interpreter decides it so."""
    left, right = expr.args
    if expr.op in ("eq", "ne"):
        return Expr("eq", (left, right)), expr.op == "eq"
    if expr.op in ("le", "gt"):
        return Expr("le", (left, right)), expr.op == "le"
    return Expr("le", (right, left)), expr.op == "ge"


def _atoms(expr: Expr) -> Iterator[Expr]:
    """The comparisons and columns that decide a condition. `NotExact` where something else does."""
    if expr.op in ("and", "or", "not", "if"):
        for argument in expr.args:
            yield from _atoms(argument)
    elif expr.op in TRUTHS:
        yield atom_of(expr)[0]
    elif expr.op == "field":
        yield expr
    elif expr.op != "const" or not isinstance(expr.data[0], bool):
        raise NotExact


# -- terms -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Term:
    """`factor` times `value`, which lies in `place`, where all tests are so.

    Terms with one `key` have one value in a row. `shared`: neighbours have the same value.
    """

    tests: tuple[Test, ...]
    key: tuple[object, ...]
    value: Expr
    place: Interval
    factor: Fraction
    shared: bool
    exact: bool


def _terms(entry: Entry, world: AdjacencyContext) -> list[Term]:
    context, actual = world.context, []
    for part in entry:
        value = _place_of(part, context)
        tests = [_piece(*piece, context.columns) for piece in part.pieces]
        if part.filter != TRUE:
            tests.append((part.filter, True))
        for leaf in leaves(value, context.columns):
            if leaf.value == ZERO:
                continue
            read = columns(leaf.value)
            exact = whole(leaf.value, context) or _cell(leaf.value, context)
            # A rounded number is one value only where all sums compute it in one way: not where one
            # may look it up, or take it from a vector, and another round it on a grid of its own.
            entry_of = any(node.op == "item" for node in nodes(leaf.value))
            rounded = any(values_of(context.columns[item]) is None for item in read)
            one_way = exact or (rounded and not entry_of)
            key = (leaf.value,) if one_way else (leaf.value, part.pieces, part.filter, part.group)
            place = one_bound(leaf.value, context)
            shared = read <= world.public
            tests_here = (*tests, *leaf.tests)
            actual.append(Term(tests_here, key, leaf.value, place, part.factor, shared, exact))
    return actual


def _place_of(part: Part, context: Context) -> Expr:
    """The number that a part adds."""
    if part.group.op == "tuple":
        return part.group.args[part.index]
    if part.group.op in ("onehot", "moments") or _is_vector(part.group, context):
        return Expr("item", (part.group,), (Fraction(part.index),))
    return part.group


def _is_vector(expr: Expr, context: Context) -> bool:
    from tests.oracles.program_checker.intervals import bounds

    return isinstance(bounds(expr, context), tuple)


def _piece(column: str, label: str, kinds: Kinds) -> Test:
    held = Expr("field", (), (column,))
    if kinds[column].kind == "bool":
        return held, label == "True"
    return Expr("eq", (held, Expr("const", (), (label,)))), True


def ordered(truths: Mapping[Expr, bool], kinds: Kinds) -> bool:
    """Whether some number in a column can have these comparisons with literals.

    The interpreter compares with the literals' doubles: `x <= 1` and `2 <= x` can't both hold.
    """
    lows: dict[Expr, tuple[float, bool]] = {}
    highs: dict[Expr, tuple[float, bool]] = {}
    for atom, so in truths.items():
        limit = _limit(atom, kinds)
        if limit is None:
            continue
        held, end, above = limit
        # `x <= end` bounds from above, its opposite strictly from below; `end <= x` the other way.
        if above == so:
            highs[held] = min(highs.get(held, (inf, True)), (end, so))
        else:
            lows[held] = max(lows.get(held, (-inf, True)), (end, not so))
    for held, (low, strict) in lows.items():
        high, closed = highs.get(held, (inf, True))
        if low > high or (low == high and (strict or not closed)):
            return False
    return True


def _limit(atom: Expr, kinds: Kinds) -> tuple[Expr, float, bool] | None:
    """A column of numbers, the literal that bounds it, and whether from above."""
    if atom.op != "le":
        return None
    left, right = atom.args
    for held, other, above in ((left, right, True), (right, left, False)):
        value = other.data[0] if other.op == "const" else None
        if held.op != "field" or not isinstance(value, int | Fraction) or value is True:
            continue
        numeric = kinds[str(held.data[0])].kind in ("int", "real")
        if numeric and value is not False and -LARGEST < value < LARGEST:
            return held, float(value), above
    return None


# -- the rule --------------------------------------------------------------------------------------

State = tuple[tuple[Fraction, Fraction, tuple[tuple[int, Fraction], ...]], ...]
"""For each entry: where it lies apart from shared values, and the factors of these."""


def cases(actual: Sequence[Entry], norm: Norm, world: AdjacencyContext) -> Fraction | None:
    """The largest move over all pairs of cases: columns fixed, other comparisons true or false."""
    entries = [_terms(entry, world) for entry in actual]
    terms = [part for entry in entries for part in entry]
    if any(term.place.largest is None for term in terms):
        return None
    if not any(term.tests for term in terms) and all(len(entry) < 2 for entry in entries):
        return None  # the box says as much
    for loose in (False, True):
        try:
            table = _Table(entries, world, loose)
        except NotExact:
            return None
        if table.size <= MOST_CASES and table.size * len(terms) <= MOST_EVALUATED:
            return table.furthest(norm)
    return None


class _Table:
    """All cases of some terms. `loose`: comparisons of numbers are not looked into."""

    def __init__(
        self, entries: Sequence[Sequence[Term]], world: AdjacencyContext, loose: bool
    ) -> None:
        self.entries, self.world, self.kinds = entries, world, world.context.columns
        terms = [part for entry in entries for part in entry]
        fixed: set[str] = set()
        free: dict[Expr, None] = {}
        for atom in (a for item in terms for test, _ in item.tests for a in _atoms(test)):
            if self._looked_into(atom, loose):
                fixed |= columns(atom)
            else:
                free[atom] = None
        for term in terms:
            cells = columns(term.value) if term.value.op == "item" and term.exact else frozenset()
            fixed |= {c for c in cells if values_of(self.kinds[c]) is not None}
        shared = world.public
        self.fixed, self.free = sorted(fixed), list(free)
        self.together = [c for c in self.fixed if c in shared]
        self.apart = [c for c in self.fixed if c not in shared]
        self.both = [a for a in self.free if columns(a) <= shared]
        self.single = [a for a in self.free if not columns(a) <= shared]
        self.size = 2 ** len(self.free)
        for column in self.fixed:
            self.size *= len(values_of(self.kinds[column]) or ())
        self.keys: dict[tuple[object, ...], int] = {}
        self.shared: list[Interval] = []
        self.known: dict[tuple[object, ...], object] = {}

    def _looked_into(self, atom: Expr, loose: bool) -> bool:
        """Whether an atom's columns are fixed; it is true or false else. `NotExact`: neither."""
        context, read = self.world.context, columns(atom)
        finite = all(values_of(self.kinds[item]) is not None for item in read)
        if atom.op == "field":
            if not _is_bool(atom, self.kinds):
                raise NotExact
            return True
        known = certain(atom, context)
        if finite and not known:
            raise NotExact  # sums over few columns are looked up, and doubles may decide otherwise
        numbers = atom.op != "eq" or not _label(atom.args[0], context)
        return finite and not (loose and numbers)

    def furthest(self, norm: Norm) -> Fraction | None:
        """The largest distance of two cases that neighbours may be in."""
        nothing: State = ((Fraction(0), Fraction(0), ()),) * len(self.entries)
        worst, work = Fraction(0), 0
        for public, truths in self._settings(self.together, self.both):
            states = {
                self._state({**public, **own}, {**truths, **free})
                for own, free in self._settings(self.apart, self.single)
            }
            against = {nothing} if self.world.adjacency == "add-remove" else states
            work += len(states) * len(against) * len(self.entries)
            if work > MOST_PAIRED:
                return None
            worst = max([worst, *(self._apart(x, y, norm) for x in states for y in against)])
        return worst

    def _settings(
        self, names: Sequence[str], atoms: Sequence[Expr]
    ) -> Iterator[tuple[dict[str, Constant], dict[Expr, bool]]]:
        lists = [values_of(self.kinds[name]) or () for name in names]
        several = (
            dict(zip(atoms, t, strict=True)) for t in product((False, True), repeat=len(atoms))
        )
        possible = [item for item in several if ordered(item, self.kinds)]
        for values in product(*lists):
            for truths in possible:
                yield dict(zip(names, values, strict=True)), truths

    def _state(self, row: Setting, truths: Mapping[Expr, bool]) -> State:
        """What a row in one case adds to each entry."""
        return tuple(self._entry(entry, row, truths) for entry in self.entries)

    def _entry(
        self, entry: Sequence[Term], row: Setting, truths: Mapping[Expr, bool]
    ) -> tuple[Fraction, Fraction, tuple[tuple[int, Fraction], ...]]:
        low = high = Fraction(0)
        factors: dict[tuple[object, ...], Fraction] = {}
        kept: dict[tuple[object, ...], Term] = {}
        for part in entry:
            if not all(self._holds(test, row, truths) == so for test, so in part.tests):
                continue
            if part.exact and columns(part.value) <= row.keys():
                value = self._evaluated(part.value, row)
                assert isinstance(value, bool | Fraction)
                low, high = low + part.factor * value, high + part.factor * value
                continue
            factors[part.key] = factors.get(part.key, Fraction(0)) + part.factor
            kept[part.key] = part
        shared = []
        for key, factor in factors.items():
            if kept[key].shared and factor:
                shared.append((self._number(key, kept[key]), factor))
                continue
            down, up = _times(kept[key].place, factor)
            low, high = low + down, high + up
        return low, high, tuple(sorted(shared))

    def _number(self, key: tuple[object, ...], term: Term) -> int:
        if key not in self.keys:
            self.keys[key] = len(self.shared)
            self.shared.append(term.place)
        return self.keys[key]

    def _holds(self, test: Expr, row: Setting, truths: Mapping[Expr, bool]) -> bool:
        if test.op == "const":
            return bool(test.data[0])
        if test.op == "field":
            return bool(row[str(test.data[0])])
        if test.op == "and":
            return all(self._holds(argument, row, truths) for argument in test.args)
        if test.op == "or":
            return any(self._holds(argument, row, truths) for argument in test.args)
        if test.op == "not":
            return not self._holds(test.args[0], row, truths)
        if test.op == "if":
            chosen = test.args[1 if self._holds(test.args[0], row, truths) else 2]
            return self._holds(chosen, row, truths)
        atom, so = atom_of(test)
        actual = truths[atom] if atom in truths else bool(self._evaluated(atom, row))
        return actual == so

    def _evaluated(self, expr: Expr, row: Setting) -> object:
        key = (expr, *(row[column] for column in sorted(columns(expr))))
        if key not in self.known:
            self.known[key] = evaluate(expr, row, self.kinds)
        return self.known[key]

    def _apart(self, x: State, y: State, norm: Norm) -> Fraction:
        """The largest distance of two rows in these cases."""
        total = Fraction(0)
        for (low, high, ours), (least, most, theirs) in zip(x, y, strict=True):
            down, up = low - most, high - least
            factors = dict(ours)
            for place, factor in theirs:
                factors[place] = factors.get(place, Fraction(0)) - factor
            for place, factor in factors.items():
                least_of, most_of = _times(self.shared[place], factor)
                down, up = down + least_of, up + most_of
            moved = max(up, -down)
            total += moved if norm == "l1" else moved * moved
        return total


def _times(place: Interval, factor: Fraction) -> tuple[Fraction, Fraction]:
    assert place.low is not None
    assert place.high is not None
    ends = (factor * place.low, factor * place.high)
    return min(ends), max(ends)
