"""The rule `cases` (theory 8.3): conditions are decided first, and values bounded where they count.

A number of a row is split into *branches*: values, each with the conditions under which it counts.
What a program sums is the branches, each held inside its own bounds. A *case* fixes the values of
columns and the truth of comparisons that are left open; two neighbours are in two cases that agree
in what is public.

#### Cases

A record is in one of two arms, so the sums of both arms together move by one record's width, not by
two. The box doesn't know; this rule decides first what is kept, and bounds then what is added.

*Choices.* A number of a row is written as its choices: `v` where tests hold, one choice for each
way through the `if`s and truth values in it (a truth value is a choice of 1 and 0; operations are
taken inside). In every row the tests of exactly one choice hold. If there are more than 16 the
number is its own only choice. So each entry of `F` is a sum of *terms*: a factor times the value of
a choice, which lies in `[l, h]`, where the row is in the pieces, passes the filter, and the tests
hold; and 0 elsewhere.

*Cases.* Conditions are built by `and`, `or`, `not`, `if` from *atoms*: truth values of columns,
`a = b`, and `a <= b` (`a > b` is its opposite, and so on). A case gives each column with few values
that atoms read one of them, which decides these atoms, and calls each other atom true or false.
Under replace-one two rows are in two cases that agree in the public columns and in the atoms that
read public columns only. There are at most 4,096 cases; if there are more, atoms that compare
numbers are not decided by columns, but true or false; if there are still more, the rule says
nothing.

*Bound.* In a case it is known which terms are kept. Of terms with one value the factors add up, to
`c`. Whole-number values of fixed columns, and entries of one-hot vectors of them, are known; any
other value contributes `c [l, h]`. A value of public columns is the same in both rows: it
contributes `(c - c') [l, h]` to the difference. So each entry's difference lies in an interval; the
norm of their largest sizes is the bound for this pair of cases, and the largest over all pairs
(over all cases, against nothing, where a record enters) is the rule's.

**Proof.** Let two rows be given that neighbours may have. Call an atom true in a row if it is. Then
each row is in one of the cases, and the two cases agree in what only reads public columns, for that
is the same in both rows. The rule bounds this pair of cases: the terms it keeps are those that the
row keeps, and each value lies in its interval. Calling an atom true or false without regard to the
others adds cases that no row is in: the largest is not smaller. ∎

Only comparisons of one column of numbers with literals are held against each other: `x <= 1` and `2
<= x` are not both true. So a number lies in one of several bins. They are held apart only where
they are so as exact numbers and by the literals' doubles, with which the interpreter compares: 1
lies on both sides of `1 + 10^-20` for it, and `2^53 + 1` above `2^53` for whole numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from bayesdp.kernel.programs.ranges import ZERO, AdjacencyContext, End, Range
from bayesdp.kernel.programs.reading import ONE, TRUE, Node, Values, columns_of, const
from bayesdp.kernel.programs.rows import Entry, RowValue, RowValues, Term, evaluate, values_of

MOST_BRANCHES = 16
"""A sum with more branches is not looked at case by case: this rule then proves nothing."""
MOST_CASES, MOST_STEPS, MOST_COMPARED = 4096, 20_000, 200_000
"""Limits for one release: a small part of a certificate's effort, as many may need this rule."""
NOTHING = const(ZERO)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
ARITHMETIC = ("add", "sub", "mul", "div", "neg", "abs", "min", "max", "clip")
CaseCondition = tuple[Node, bool]


class NotThisRuleError(Exception):
    """The rule doesn't apply here."""


# -- branches ----------------------------------------------------------------------------------


def branches(
    value: Node, columns: Mapping[str, Values]
) -> list[tuple[frozenset[CaseCondition], Node]]:
    """The values of a number, each with its conditions; the number itself where they are many."""
    try:
        return list(_branches(value, columns))
    except NotThisRuleError:
        return [(frozenset(), value)]


def _branches(
    node: Node, columns: Mapping[str, Values]
) -> list[tuple[frozenset[CaseCondition], Node]]:
    boolean = node.op == "field" and columns[str(node.data[0])].kind == "bool"
    if boolean or node.op in (*COMPARISONS, "and", "or", "not"):
        return [(frozenset({(node, True)}), ONE), (frozenset({(node, False)}), NOTHING)]
    if node.op == "if":
        test, yes, no = node.args
        combined = [
            (conditions | {(test, so)}, value)
            for so, side in ((True, yes), (False, no))
            for conditions, value in _branches(side, columns)
        ]
    elif node.op in ARITHMETIC:
        combined = []
        for chosen in product(*_few(_branches(arg, columns) for arg in node.args)):
            conditions = frozenset[CaseCondition]().union(*(under for under, _ in chosen))
            combined.append((conditions, _shorter(node.op, tuple(value for _, value in chosen))))
    else:
        return [(frozenset(), node)]
    possible = [
        branch
        for branch in combined
        if not any((test, not so) in branch[0] for test, so in branch[0])
    ]
    if len(possible) > MOST_BRANCHES:
        raise NotThisRuleError
    return possible


def _few(
    lists: Iterable[list[tuple[frozenset[CaseCondition], Node]]],
) -> list[list[tuple[frozenset[CaseCondition], Node]]]:
    choices, total = list(lists), 1
    for options in choices:
        total *= len(options)
    if total > MOST_BRANCHES * MOST_BRANCHES:
        raise NotThisRuleError
    return choices


def _shorter(op: str, args: tuple[Node, ...]) -> Node:
    """The operation, without products by 0 or 1 and without sums with 0."""
    if op == "mul" and NOTHING in args:
        return NOTHING
    if op == "mul" and ONE in args:
        return args[1] if args[0] == ONE else args[0]
    if op == "add" and NOTHING in args:
        return args[1] if args[0] == NOTHING else args[0]
    if op == "sub" and args[1] == NOTHING:
        return args[0]
    return NOTHING if (op, args) == ("neg", (NOTHING,)) else Node(op, args)


# -- what is computed exactly --------------------------------------------------------------------


def _whole(node: Node, context: AdjacencyContext) -> bool:
    """Whether this and all its parts are whole numbers that doubles hold exactly."""
    if node.op == "field":
        fits = context.program.columns[str(node.data[0])].kind in ("bool", "int")
    elif node.op == "const":
        value = node.data[0]
        fits = isinstance(value, bool | Fraction) and Fraction(value).denominator == 1
    else:
        fits = node.op in ("add", "sub", "mul", "neg", "abs", "min", "max", "clip")
    if not fits:
        return False
    place = context.range(node)
    small = max(-place.low, place.high) < 2**53
    return small and all(_whole(arg, context) for arg in node.args)


def _double(node: Node, context: AdjacencyContext) -> bool:
    """Whether its double compares with whole numbers as the number itself does.

    That is so for whole numbers, and for a literal p/q: its double is off by less than 1/q.
    """
    value = node.data[0] if node.op == "const" else None
    if isinstance(value, Fraction) and not isinstance(value, bool):
        return abs(value.numerator) < 2**53 and value.denominator < 2**100
    return _whole(node, context)


def _text(node: Node, context: AdjacencyContext) -> bool:
    if node.op == "field":
        return context.program.columns[str(node.data[0])].kind == "category"
    return node.op == "const" and isinstance(node.data[0], str)


def _cell(node: Node, context: AdjacencyContext) -> bool:
    """Whether this is an entry of a one-hot vector of columns."""
    if node.op != "item" or node.args[0].op != "onehot":
        return False
    vector = node.args[0]
    inner = vector.args[0]
    fields = inner.args if inner.op == "cross" else (inner,)
    if not all(part.op == "field" for part in fields):
        return False
    kinds = [context.program.columns[str(part.data[0])] for part in fields]
    if inner.op == "field" and kinds[0].kind == "int":
        size = vector.data[0]
        assert isinstance(size, Fraction)
        return bool(kinds[0].low >= 0 and kinds[0].high < size)
    return all(column.kind in ("bool", "category") for column in kinds)


def _comparison(node: Node) -> CaseCondition:
    """The comparison as `eq` or `le`, and whether that holds: where `a < b`, `b <= a` doesn't."""
    left, right = node.args
    if node.op in ("eq", "ne"):
        return Node("eq", (left, right)), node.op == "eq"
    turned = node.op in ("lt", "ge")
    return Node("le", (right, left) if turned else (left, right)), node.op in ("le", "ge")


def _decided_by(test: Node) -> Iterator[Node]:
    if test.op in COMPARISONS:
        yield _comparison(test)[0]
    elif test.op == "field":
        yield test
    elif test.op in ("and", "or", "not", "if"):
        for part in test.args:
            yield from _decided_by(part)
    elif not (test.op == "const" and isinstance(test.data[0], bool)):
        raise NotThisRuleError


# -- the rule ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Summand:
    """`factor * value` where its conditions hold. In a row, an equal `key` means an equal value."""

    conditions: tuple[CaseCondition, ...]
    key: tuple[object, ...]
    value: Node
    factor: Fraction
    exact: bool


Threshold = tuple[str, Fraction, bool]
"""A column of numbers, a literal, and whether the column stands on the left of <=."""


def _threshold(atom: Node, context: AdjacencyContext) -> Threshold | None:
    if atom.op != "le":
        return None
    left, right = atom.args
    for side, other, is_left in ((left, right, True), (right, left, False)):
        value = other.data[0] if other.op == "const" else None
        if side.op != "field" or isinstance(value, bool) or not isinstance(value, Fraction):
            continue
        column = str(side.data[0])
        if context.program.columns[column].kind in ("int", "real") and abs(value) < 10**300:
            return column, value, is_left
    return None


def _contradicted(limits: Sequence[Threshold | None], truths: Sequence[bool]) -> bool:
    """Whether no number of a column can make these comparisons come out so; no cell is missing."""
    at_most: dict[str, list[tuple[Fraction, bool]]] = {}
    at_least: dict[str, list[tuple[Fraction, bool]]] = {}
    for limit, so in zip(limits, truths, strict=True):
        if limit is not None:
            column, end, is_left = limit
            # "x <= end" or not "end <= x" hold it from above; the latter leaves out the end.
            side = at_most if is_left is so else at_least
            side.setdefault(column, []).append((end, so))
    return any(
        _nothing_between(low, high, low_closed and high_closed)
        for column, ends in at_least.items()
        for low, low_closed in ends
        for high, high_closed in at_most.get(column, ())
    )


def _nothing_between(low: Fraction, high: Fraction, closed: bool) -> bool:
    """Whether no number lies between these literals; `closed`: the ends count as between.

    Neither as they are nor as doubles, which the interpreter compares with. Literals of one double
    may have a whole number beyond 2^53 between them.
    """
    ends: tuple[tuple[End, End], ...] = ((low, high), (float(low), float(high)))
    return all(a > b or (a == b and not closed) for a, b in ends)


@dataclass
class Cases:
    """Which columns are fixed, which comparisons are undecided, and where values lie."""

    context: AdjacencyContext
    fixed: set[str] = field(default_factory=set)
    undecided: set[Node] = field(default_factory=set)
    computed: dict[tuple[object, ...], RowValue] = field(default_factory=dict)
    places: dict[tuple[object, ...], Range] = field(default_factory=dict)

    def listed(self, names: Iterable[str]) -> bool:
        """Whether all these columns have few values."""
        return all(values_of(self.context.program.columns[name]) is not None for name in names)

    def decide(self, test: Node, *, loose: bool) -> None:
        """Note which columns and comparisons decide a condition."""
        for atom in _decided_by(test):
            if atom.op == "field":
                if self.context.program.columns[str(atom.data[0])].kind != "bool":
                    raise NotThisRuleError
                self.fixed |= columns_of(atom)
                continue
            texts = atom.op == "eq" and all(_text(side, self.context) for side in atom.args)
            whole = any(_whole(side, self.context) for side in atom.args)
            exact = texts or (whole and all(_double(side, self.context) for side in atom.args))
            listed = self.listed(columns_of(atom))
            if listed and not exact:
                raise NotThisRuleError  # where sums look rows up, doubles may decide otherwise
            if listed and (texts or not loose):
                self.fixed |= columns_of(atom)
            else:
                self.undecided.add(atom)

    def number(self) -> int:
        """How many cases there are."""
        total = 1 << min(len(self.undecided), 64)
        for name in self.fixed:
            total *= len(values_of(self.context.program.columns[name]) or ())
        return total

    def each_case(self, *, public: bool) -> Iterator[tuple[dict[str, RowValue], dict[Node, bool]]]:
        """All cases of what neighbours share (`public`), or of the rest: values and truths."""
        shared = self.context.public
        names = sorted(name for name in self.fixed if (name in shared) is public)
        open_ = [atom for atom in self.undecided if (columns_of(atom) <= shared) is public]
        lists = [values_of(self.context.program.columns[name]) or () for name in names]
        limits = [_threshold(atom, self.context) for atom in open_]
        possible = [
            dict(zip(open_, truths, strict=True))
            for truths in product((False, True), repeat=len(open_))
            if not _contradicted(limits, truths)
        ]
        for values in product(*lists):
            for decided in possible:
                yield dict(zip(names, values, strict=True)), decided

    def value(self, node: Node, row: RowValues) -> RowValue:
        """A value that the fixed columns decide."""
        key = (node, *(row[name] for name in sorted(columns_of(node))))
        if key not in self.computed:
            self.computed[key] = evaluate(node, row, self.context.program.columns)
        return self.computed[key]

    def true(self, test: Node, row: RowValues, truths: Mapping[Node, bool]) -> bool:
        """Whether a condition holds."""
        if test.op in COMPARISONS:
            atom, so = _comparison(test)
            held = truths[atom] if atom in truths else bool(self.value(atom, row))
            return held is so
        if test.op == "field":
            return row[str(test.data[0])] is True
        if test.op == "const":
            return test.data[0] is True
        parts = [self.true(part, row, truths) for part in test.args]
        if test.op == "if":
            return parts[1] if parts[0] else parts[2]
        if test.op == "not":
            return not parts[0]
        return all(parts) if test.op == "and" else any(parts)


def _summands(entry: Entry, context: AdjacencyContext) -> list[Summand]:
    summands = []
    for term, factor in entry.items():
        always = [_in_piece(*piece, context) for piece in term.pieces]
        if term.filter != TRUE:
            always.append((term.filter, True))
        value = term.value
        if value.op in ("onehot", "moments") or len(context.ranges(value)) > 1:
            value = Node("item", (value,), (Fraction(term.index),))
        for conditions, branch in branches(value, context.program.columns):
            if branch != NOTHING:
                under = (*always, *conditions)
                exact = _whole(branch, context) or _cell(branch, context)
                summands.append(
                    Summand(under, _key(branch, exact, term, context), branch, factor, exact)
                )
    return summands


def _key(value: Node, exact: bool, term: Term, context: AdjacencyContext) -> tuple[object, ...]:
    """What tells values apart: an exact value is the same in whatever sum it stands.

    Others are rounded. They are the same only where all sums compute them in one way: not where a
    sum may look the value up or take it from a vector.
    """
    wide = any(values_of(context.program.columns[name]) is None for name in columns_of(value))
    alike = exact or (wide and not _has_item(value))
    return (value,) if alike else (value, term.pieces, term.filter, term.group)


def _has_item(value: Node) -> bool:
    return value.op == "item" or any(_has_item(arg) for arg in value.args)


def _in_piece(column: str, label: str, context: AdjacencyContext) -> CaseCondition:
    held = Node("field", (), (column,))
    if context.program.columns[column].kind == "bool":
        return held, label == "True"
    return Node("eq", (held, Node("const", (), (label,)))), True


Sum = tuple[Fraction, Fraction, frozenset[tuple[tuple[object, ...], Fraction]]]
"""The ends of the part that neighbours don't share, and the factors of the values they share."""


def cases(entries: Sequence[Entry], norm: str, context: AdjacencyContext) -> Fraction | None:
    """The largest shift over all pairs of cases that agree in what is public."""
    summands = [_summands(entry, context) for entry in entries]
    for summand in (summand for entry in summands for summand in entry):
        if not context.range(summand.value).finite:
            return None
    for loose in (False, True):
        try:
            cases_ = _cases(summands, context, loose=loose)
        except NotThisRuleError:
            return None
        steps = cases_.number() * sum(len(entry) for entry in summands)
        if cases_.number() <= MOST_CASES and steps <= MOST_STEPS:
            context.effort.take("values of single rows", 4 * steps)
            return _furthest(cases_, summands, norm)
    return None


def _cases(
    summands: Sequence[Sequence[Summand]], context: AdjacencyContext, *, loose: bool
) -> Cases:
    cases_ = Cases(context)
    for summand in (summand for entry in summands for summand in entry):
        for test, _ in summand.conditions:
            cases_.decide(test, loose=loose)
        if summand.exact and summand.value.op == "item":
            cases_.fixed |= {name for name in columns_of(summand.value) if cases_.listed([name])}
        cases_.places[summand.key] = context.range(summand.value)
    return cases_


def _furthest(cases_: Cases, summands: Sequence[Sequence[Summand]], norm: str) -> Fraction | None:
    worst, compared, effort = ZERO, 0, cases_.context.effort
    nothing: Sum = (ZERO, ZERO, frozenset())
    for columns, truths in cases_.each_case(public=True):
        rows = {
            tuple(_added(entry, columns | own, truths | open_, cases_) for entry in summands)
            for own, open_ in cases_.each_case(public=False)
        }
        enters = cases_.context.adjacency == "add-remove"
        against = {(nothing,) * len(summands)} if enters else rows
        compared += len(rows) * len(against) * len(summands)
        if compared > MOST_COMPARED:
            return None
        effort.take("differences of pairs of rows", len(rows) * len(against) * len(summands))
        for x, y in product(rows, against):
            shifts = [_largest_difference(a, b, cases_) for a, b in zip(x, y, strict=True)]
            total = sum((shift if norm == "l1" else shift * shift for shift in shifts), ZERO)
            worst = max(worst, total)
    return worst


def _added(
    summands: Sequence[Summand], row: RowValues, truths: Mapping[Node, bool], cases_: Cases
) -> Sum:
    """What a row of this case adds to one number."""
    exactly = ZERO
    factors: dict[tuple[object, ...], Fraction] = defaultdict(Fraction)
    shared: set[tuple[object, ...]] = set()
    for summand in summands:
        if any(cases_.true(test, row, truths) is not so for test, so in summand.conditions):
            continue
        read = columns_of(summand.value)
        if summand.exact and read <= row.keys():
            value = cases_.value(summand.value, row)
            assert isinstance(value, bool | Fraction)
            exactly += summand.factor * value
            continue
        factors[summand.key] += summand.factor
        if read <= cases_.context.public:
            shared.add(summand.key)
    low = high = exactly
    for key in factors.keys() - shared:
        down, up = _times(cases_.places[key], factors[key])
        low, high = low + down, high + up
    return low, high, frozenset((key, factors[key]) for key in shared if factors[key])


def _times(place: Range, factor: Fraction) -> tuple[Fraction, Fraction]:
    ends = factor * Fraction(place.low), factor * Fraction(place.high)
    return min(ends), max(ends)


def _largest_difference(first: Sum, second: Sum, cases_: Cases) -> Fraction:
    """The largest distance of two numbers."""
    down, up = first[0] - second[1], first[1] - second[0]
    factors: dict[tuple[object, ...], Fraction] = defaultdict(Fraction)
    for key, factor in first[2]:
        factors[key] += factor
    for key, factor in second[2]:
        factors[key] -= factor
    for key, factor in factors.items():
        least, most = _times(cases_.places[key], factor)
        down, up = down + least, up + most
    return max(up, -down)
