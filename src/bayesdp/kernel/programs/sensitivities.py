"""How far a private value moves when one record changes. `JOINT` is the kernel's table of rules.

A bound is an expression in the public number of records, most often a constant; of the l2 norm it
is the *square*. Each rule gives None where it doesn't apply; the least bound counts. Theory 8.3.

### 8.3 Sensitivities

A private value is made of sums over rows. Under replace-one let two rows `x`, `y` agree in the
public columns; under add-remove, and for *entering* (8.2), let one row be there or not. Released
values inside a row's value are public: a bound that is used holds for everything that they can be.

**One row function.** `sum` of `f` over rows that a filter and pieces keep adds `f(x)` for a row
that is kept, 0 for one that isn't. Linear combinations with constant factors, and tuples of them,
are one sum of one vector-valued row function `F`, and move by `F(x) - F(y)` (by `F(x)`): jointly,
so that no coordinate is counted alone. These rules bound its norm, and the least one counts.

* *Public*: 0, if all columns that `F` reads are public. Never under add-remove.
* *Box*: each entry by the sum of its parts' widths. A part lies in `[l, h]`, its factor included.
  Its width is `h - l` if the filter and pieces read public columns only; else the row may come or
  go, and it is the width of the hull of 0, `l` and `h`. It is `max(|l|, |h|)` for a row that
  enters.
* *One-hot*: entries of one one-hot vector of one filter, each at most once and all times factors of
  one size `c`: a row leaves a cell and enters another, `2 c` (the square of l2: `2 c^2`); a row
  that enters, `c` (`c^2`). One entry taken twice, or entries of two vectors, are not such a table.
* *Cell*: entries of `onehot(...) * x`, each at most once, with `x` in `[l, h]` and factors `f >=
  g >= ...`. With `T` the larger of `|l|` and `|h|` and `W` the width of the hull of 0, `l` and `h`:
  at most two entries of two rows are not 0. Where the rows lie in two cells these are `f x` and `g
  x'` at most: `f T + g T` (the square of l2: `f^2 T^2 + g^2 T^2`). Where they lie in one, that
  entry moves by `f |x - x'| <= f W`. The rule takes the larger; `f W` alone where the cell is
  public, whatever filters do; `f T` for a row that enters. (The sums round `x` to steps inside the
  hull, and 0 is a step: so the hull, not `[l, h]`.)
* *Enumerated*: the largest distance of `F` over all pairs of rows, if the columns that it reads
  have few values.
* *Moments*, *cases* and *transitions*: below.
* *Functions of a row* (`floor`, `sqrt`, `log`, `exp`): no rule of their own. Each grows with its
  argument `v` in `[l, h]`, so that its value lies in `[f(l), f(h)]`, which *box* takes. A value is
  computed to 64 bits, off by `2^-62 |f|` at most (`2^-180` for a logarithm near 0), and the ends
  are moved outwards by `2^-40 |f|` (for a logarithm by `2^-160` besides): so the computed value
  lies in them too. In a sum over reals it is rounded to a step inside these ends; over few values,
  the computed value itself is what *enumerated* compares. Outside of the function's domain there is
  no interval, and the program is refused. Of private sums no function has a rule: `floor` jumps,
  and `sqrt` and `log` are arbitrarily steep near 0.

* *Quotients in a row*: `v / w` with `w` in an interval that leaves out 0, whatever the row, lies in
  the quotient of the intervals, which *box* takes. The double is held inside it (6), also where it
  overflows or a difference in `w` is rounded to 0.

**Where values lie.** An expression's interval is computed from those of its parts. Of a sum it is
also computed after one term has been replaced by a bound that cancels another: `clip(x, l, h) <=
h`, `min(a, b) <= a` and `max(a, b) >= a` hold whatever the values (a clip is `min(max(x, l), h)`),
so a lower end of what is left after the replacement is one of the sum, and both ends are kept. So
`n - clip(x, 0, n) >= 0`.

**Operations on what is private.** `-v` and `|v|`, `clip` with public ends, and an entry of a vector
move no further than `v`; `max` and `min` move by at most the largest of their arguments' moves; a
sum, difference or tuple by at most the sum of the l1 bounds (and l2 is at most l1), where a number
that is added to each entry of a vector of `k` counts `k` times. Times a public number `c`: `|c|`
times. Divided by it: over `|c|`. If `c` is known with the number of rows, the bound is that
expression (of functions in it, such as `log(4)`, the bounds of their values are taken, as of
released ones); if it depends on released values or public sums, it is the *largest* `|c|` of its
interval, and the *smallest* for a divisor, which has to be kept away from 0. Products and quotients
of private values are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import sub
from typing import Literal

from bayesdp.kernel.programs.cases import cases
from bayesdp.kernel.programs.effort import bounded
from bayesdp.kernel.programs.functions import FUNCTIONS
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range, folded
from bayesdp.kernel.programs.reading import SIZE, Node, columns_of, const
from bayesdp.kernel.programs.refusals import RefusedError, UnprovedError, allow
from bayesdp.kernel.programs.rows import Entry, NotExactError, Term, added, linear, rows
from bayesdp.kernel.programs.transitions import transition_moves, transitions_move

Norm = Literal["l1", "l2"]
Folds = Callable[[Node], Fraction]
"""How far a fold moves where a record is replaced: what solvers were asked about it says so."""


@dataclass(frozen=True)
class RulesAllowed:
    """What the rules may use: bounds of folds, and if `thorough`, the rules that take time."""

    folds: Folds
    thorough: bool = True


MOST_ENTRIES, MOST_WORK = 64, 100_000
"""Limits for one release: a small part of a certificate's effort, as many may be enumerated."""


@dataclass(frozen=True)
class SensitivityBound:
    """How far a value moves at most (l2: the square of it), and the rules that say so."""

    value: Node
    by: str


def sensitivity_of(
    node: Node, norm: Norm, context: AdjacencyContext, means: RulesAllowed
) -> SensitivityBound:
    """The least bound of all rules. `InvalidError` where none applies."""
    if not context.moved(node):
        return SensitivityBound(const(Fraction(0)), "public")
    entries = linear(node, context)
    if entries is not None:
        value, by = joint(entries, norm, context, means)
        return SensitivityBound(const(value), by)
    return _by_structure(node, norm, context, means)


def joint(
    entries: list[Entry], norm: Norm, context: AdjacencyContext, means: RulesAllowed
) -> tuple[Fraction, str]:
    """The least bound on a vector of sums over rows, and the first rule that gives it."""
    answers = [
        (value, name)
        for name, rule in JOINT.items()
        if means.thorough or rule not in (enumerated, cases)
        if (value := rule(entries, norm, context)) is not None
    ]
    if not answers:
        unlimited = [
            term.group
            for entry in entries
            for term in entry
            if not all(place.finite for place in context.ranges(term.value))
        ]
        raise RefusedError("limit", "one record can change this without limit", unlimited[0])
    return min(answers, key=lambda answer: answer[0])


# -- rules for sums over rows ------------------------------------------------------------------


def _power(value: Fraction, norm: Norm) -> Fraction:
    return value if norm == "l1" else value * value


def interval_width(entries: list[Entry], norm: Norm, context: AdjacencyContext) -> Fraction | None:
    """Rule `box`: an entry moves by at most the interval widths of its terms, added up."""
    total = Fraction(0)
    seen: dict[Node, tuple[Range, ...]] = {}
    for entry in entries:
        shift = Fraction(0)
        for term, factor in entry.items():
            if term.value not in seen:
                seen[term.value] = context.ranges(term.value)
            width = _width(term, seen[term.value][term.index], context)
            if width is None:
                return None
            shift += abs(factor) * width
        total += _power(shift, norm)
    return total


def _width(term: Term, place: Range, context: AdjacencyContext) -> Fraction | None:
    if context.adjacency == "replace-one" and term.columns <= context.public:
        return Fraction(0)
    if not place.finite:
        return None
    if context.adjacency == "add-remove":
        return place.largest()
    return (place if term.deciding <= context.public else place.or_zero()).width()


def _one_vector(entries: list[Entry], op: str) -> tuple[Term, list[Fraction]] | None:
    """A term and all factors, if these are different entries of one vector made by `op`."""
    if not all(len(entry) == 1 for entry in entries):
        return None
    terms = [next(iter(entry.items())) for entry in entries]
    first = terms[0][0]
    same = {(term.pieces, term.filter, term.value) for term, _ in terms}
    distinct = {term.index for term, _ in terms}
    if len(same) > 1 or len(distinct) < len(terms) or first.value.op != op:
        return None
    return first, [abs(factor) for _, factor in terms]


def onehot(entries: list[Entry], norm: Norm, context: AdjacencyContext) -> Fraction | None:
    """Rule `onehot`: a record lies in one cell, so that replacing it changes at most two."""
    vector = _one_vector(entries, "onehot")
    if vector is None:
        return None
    factors = sorted((_power(factor, norm) for factor in vector[1]), reverse=True)
    return sum(factors[: 1 if context.adjacency == "add-remove" else 2], Fraction(0))


def cell(entries: list[Entry], norm: Norm, context: AdjacencyContext) -> Fraction | None:
    """Rule `cell`: a number in one cell of a one-hot vector, `onehot(...) * number` (theory 8.3).

    With `top` the number's largest distance from 0, and `f >= g` the two largest factors: a record
    that leaves one cell for another moves two entries by at most f top and g top. One that stays
    moves one entry by at most f times the width of the number's interval with 0: so does one whose
    cell is public, also where a filter lets it in.
    """
    vector = _one_vector(entries, "mul")
    if vector is None:
        return None
    term, factors = vector
    kinds = [part.op == "onehot" for part in term.value.args]
    number = term.value.args[1 if kinds[0] else 0]
    if sum(kinds) != 1 or len(context.ranges(number)) > 1:
        return None
    place = context.range(number).or_zero()
    if not place.finite:
        return None
    first, second = (*sorted(factors, reverse=True), Fraction(0))[:2]
    if context.adjacency == "add-remove":
        return _power(first * place.largest(), norm)
    stays = _power(first * place.width(), norm)
    vector_of = term.value.args[0 if kinds[0] else 1]
    if columns_of(vector_of) <= context.public:
        return stays
    moved = [_power(factor * place.largest(), norm) for factor in (first, second)]
    return max(stays, sum(moved, Fraction(0)))


def moments(entries: list[Entry], norm: Norm, context: AdjacencyContext) -> Fraction | None:
    """Rule `moments`: products of pairs of d numbers in [-1, 1] (theory 8.3).

    #### Moments, jointly

    A row `x` in `[-1, 1]^D` adds the upper triangle of its products, `x_i x_j` for `i <= j`.

    *Entering*: at most `D (D + 1) / 2` in l1 and in the square of l2, reached where all entries are
    1 in size.

    *Replaced, l1*: at most `D (D + 1) / 2`. *Proof.* With `p_i = |x_i + y_i|` and `q_i = |x_i -
    y_i|`, `p_i + q_i <= 2` and `|x_i x_j - y_i y_j| <= (p_i q_j + q_i p_j) / 2`. Put `p_i = 2 t_i`
    and `q_i <= 2 - p_i`; the sum over `i <= j` is at most `2 (D + 1) s - 2 s^2 - 2 sum t_i^2 <= 2
    (D + 1) s - 2 s^2 (1 + 1/D)` with `s = sum t_i`, largest at `s = D / 2`, where it is `D (D + 1)
    / 2`. ∎

    *Replaced, the square of l2*: at most `4 floor(D^2 / 4)` for `D >= 2`, and 1 for `D = 1`;
    reached at corners for `D >= 2`. *Proof.* Scaling one pair `(x_i, y_i)` up grows every term, so
    one of the two is 1 in size, and by flipping the sign of both it is 1. Let the other one be
    `a_i`. Where `i` and `j` have their 1 on the same side, their term is `(1 - a_i a_j)^2`, else
    `(a_i - a_j)^2`, which is less by `(1 - a_i^2)(1 - a_j^2)`. So all may be on one side, and the
    sum is at most

    ```text
    g = sum (1 - a_i^2)^2 + sum over i < j of (1 - a_i a_j)^2
      = ( D^2 + D - 2 q + q^2 + sum a_i^4 - 2 s^2 ) / 2
    ```

    with `q = sum a_i^2`, `s = sum a_i`. *Even D:* `sum a_i^4 <= q`, and `q (q - 1) <= D (D - 1)`
    for `1 <= q <= D`, so `g <= D^2`; for `q <= 1`, `g <= D (D + 1) / 2 <= D^2`. *Odd D:* `g <=
    D^2 - 1` means `2 D e - e^2 - sum e_i^2 + 2 s^2 >= 2` with `e_i = 1 - a_i^2` and `e = sum e_i`,
    where `sum e_i^2 <= e`. If `e <= 1`: the signs of `D` terms add up to 1 or more in size, and
    `1 - |a_i| <= e_i`, so `|s| >= 1 - e`, and the left side is at least `2 + e (2 D - 5 + e) >= 2`
    for `D >= 3`. If `e >= 1`: `e (2 D - 1 - e)` is concave in `e`, and at its ends 1 and `D` it is
    at least 2. ∎ Being replaced is never less than entering, so a private filter adds nothing.
    """
    vector = _one_vector(entries, "moments")
    if vector is None:
        return None
    term, factors = vector
    places = context.ranges(term.value.args[0])
    if any(place.low < -1 or place.high > 1 for place in places):
        return None
    d = len(places)
    enters = Fraction(d * (d + 1), 2)
    replaced = enters
    if norm == "l2":
        replaced = Fraction(4 * (d * d // 4) if d > 1 else 1)
    # To be replaced is never less than to enter, so a private filter adds nothing.
    bound = enters if context.adjacency == "add-remove" else replaced
    return bound * _power(max(factors), norm)


def enumerated(entries: list[Entry], norm: Norm, context: AdjacencyContext) -> Fraction | None:
    """Rule `enumerated`: all pairs of rows that agree in the public columns, where rows are few."""
    names: frozenset[str] = frozenset().union(*(t.columns for entry in entries for t in entry))
    settings = rows(context.program.columns, names)
    if settings is None or len(entries) > MOST_ENTRIES:
        return None
    terms = {term for entry in entries for term in entry}
    nodes = sum(1 for t in terms for part in (t.filter, t.value) for _ in part.walk())
    context.effort.take("values of single rows", len(settings) * nodes)
    groups: dict[tuple[object, ...], set[tuple[Fraction, ...]]] = {}
    shared = sorted(names & context.public)
    try:
        for row in settings:
            key = tuple(row[name] for name in shared)
            groups.setdefault(key, set()).add(added(entries, row, context))
    except NotExactError:
        return None
    nothing = {(Fraction(0),) * len(entries)}
    worst = Fraction(0)
    for group in groups.values():
        against = nothing if context.adjacency == "add-remove" else group
        shift = _furthest(group, against, norm, context)
        if shift is None:
            return None
        worst = max(worst, shift)
    return worst


def _furthest(
    some: set[tuple[Fraction, ...]],
    others: set[tuple[Fraction, ...]],
    norm: Norm,
    context: AdjacencyContext,
) -> Fraction | None:
    if all(len(row) == 1 for row in some):
        ends = [row[0] for row in some], [row[0] for row in others]
        return _power(max(max(ends[0]) - min(ends[1]), max(ends[1]) - min(ends[0])), norm)
    work = len(some) * len(others) * len(next(iter(some)))
    if work > MOST_WORK:
        return None
    context.effort.take("differences of pairs of rows", work)
    # Whole numbers over one denominator: there are millions of differences.
    under = lcm(*(entry.denominator for row in (*some, *others) for entry in row))
    bounded(Fraction(under))
    ours, theirs = ([[int(x * under) for x in row] for row in side] for side in (some, others))
    if norm == "l1":
        furthest = max(sum(map(abs, map(sub, x, y))) for x in ours for y in theirs)
        return Fraction(furthest, under)
    furthest = max(
        sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x in ours for y in theirs
    )
    return Fraction(furthest, under * under)


SensitivityRule = Callable[[list[Entry], Norm, AdjacencyContext], Fraction | None]
JOINT: Mapping[str, SensitivityRule] = {
    "box": interval_width, "onehot": onehot, "cell": cell, "moments": moments,
    "enumerated": enumerated, "cases": cases,
}  # fmt: skip
"""The rules for sums over rows. A derivation names the rule that gives its number."""


# -- rules by structure ------------------------------------------------------------------------


def _by_structure(
    node: Node, norm: Norm, context: AdjacencyContext, means: RulesAllowed
) -> SensitivityBound:
    """Operations that move no further than their arguments, public factors, sums of bounds."""
    op = node.op
    if op == "fold":
        if context.adjacency == "add-remove":
            raise UnprovedError(
                "fold-enters", "a fold where a record enters or leaves", node, "fold"
            )
        return SensitivityBound(const(_power(means.folds(node), norm)), "fold")
    if op == "transitions":
        return SensitivityBound(const(transitions_move(node, norm, context)), "transitions")
    if op == "item" and node.args[0].op == "transitions":
        return SensitivityBound(const(transition_moves(node, norm, context)), "transitions")
    if op in ("mul", "div"):
        return _scaled(node, norm, context, means)
    if op == "clip":
        private = any(context.moved(end) for end in node.args[1:])
        allow(not private, "clip-private", "a clip with private ends", node)
    if op in ("neg", "abs", "clip", "item"):
        inner = sensitivity_of(node.args[0], norm, context, means)
        return SensitivityBound(inner.value, _together([inner]))
    if op == "tuple" and norm == "l2":
        parts = [sensitivity_of(arg, "l2", context, means) for arg in node.args]
        return SensitivityBound(_sum([part.value for part in parts]), _together(parts))
    if op in ("add", "sub", "min", "max", "tuple"):
        length = len(context.ranges(node))
        parts, values = [], []
        for arg in node.args:
            parts.append(sensitivity_of(arg, "l1", context, means))
            value = parts[-1].value
            if op in ("add", "sub") and len(context.ranges(arg)) < length:
                # One number that is added to every entry moves all of them.
                value = _simple(Node("mul", (const(Fraction(length)), value)))
            values.append(value)
        # |max(a, b) - max(a', b')| <= max(|a - a'|, |b - b'|), and the same of min.
        total = _largest(values) if op in ("min", "max") else _sum(values)
        # The l2 norm is at most the l1 norm.
        value = total if norm == "l1" else _simple(Node("mul", (total, total)))
        return SensitivityBound(value, _together(parts))
    raise UnprovedError("no-rule", f"no rule says how far '{op}' moves", node, "sensitivity")


def _together(parts: list[SensitivityBound]) -> str:
    """The rules behind a bound that is made of others."""
    words = [word for part in parts for word in part.by.removeprefix("sum of ").split(", ")]
    return "sum of " + ", ".join(dict.fromkeys(words))


def _scaled(
    node: Node, norm: Norm, context: AdjacencyContext, means: RulesAllowed
) -> SensitivityBound:
    left, right = node.args
    several = node.op == "mul" and context.moved(left) and context.moved(right)
    if node.op == "div":
        allow(not context.moved(right), "private-divisor", "divided by a private value", node)
        allow(context.range(right).nonzero, "divisor", "a divisor may be 0", right)
    allow(not several, "private-product", "a product of two private values", node)
    private, factor = (left, right) if context.moved(left) else (right, left)
    inner = sensitivity_of(private, norm, context, means)
    size = Node("abs", (_known_factor(factor, node.op, context),))
    value = inner.value
    for _ in range(1 if norm == "l1" else 2):
        value = Node(node.op, (value, size))
    return SensitivityBound(_simple(value), _together([inner]))


def _known_factor(factor: Node, op: str, context: AdjacencyContext) -> Node:
    """The factor itself where the number of records decides it, else its worst value."""
    parts = list(factor.walk())
    for part in parts:
        if part.op == "div":
            nonzero = context.range(part.args[1]).nonzero
            allow(nonzero, "divisor", "a divisor may be 0", part.args[1])
    place = context.range(factor)
    known = all(part.op != "public" or part == SIZE for part in parts)
    # Sizes are compared as polynomials: of a function's value its bounds are taken.
    if known and not any(part.op in ("sum", "count", *FUNCTIONS) for part in parts):
        return factor
    if op == "div":
        return const(min(abs(end) for end in (place.low, place.high) if isinstance(end, Fraction)))
    reason = "a private value is scaled by a public one without bounds"
    allow(place.finite, "factor", reason, factor)
    return const(place.largest())


# -- expressions ---------------------------------------------------------------------------------


def _sum(parts: list[Node]) -> Node:
    total = parts[0]
    for part in parts[1:]:
        total = Node("add", (total, part))
    return _simple(total)


def _largest(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else _simple(Node("max", tuple(parts)))


def _simple(node: Node) -> Node:
    number = folded(node)
    return node if number is None else const(number)
