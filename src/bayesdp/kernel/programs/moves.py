"""How far a private value moves when one record changes. `JOINT` is the kernel's table of rules.

A bound is an expression in the public number of records, most often a constant; of the l2 norm it
is the *square*. Each rule gives None where it doesn't apply; the least bound counts. Theory 8.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import sub
from typing import Literal

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, require
from bayesdp.kernel.programs.cases import cases
from bayesdp.kernel.programs.effort import bounded
from bayesdp.kernel.programs.ranges import Range, World, folded
from bayesdp.kernel.programs.reading import SIZE, Node, const
from bayesdp.kernel.programs.rows import Entry, NotExactError, Term, added, linear, rows

Norm = Literal["l1", "l2"]
Folds = Callable[[Node], Fraction]
"""How far a fold moves where a record is replaced, by obligations that solvers discharged."""


@dataclass(frozen=True)
class Means:
    """What bounds are found with; `thorough` tries all rows too, which takes time."""

    folds: Folds
    thorough: bool = True


MOST_ADDED, MOST_WORK = 50_000, 3_000_000


def moves(node: Node, norm: Norm, world: World, means: Means) -> Node:
    """The least bound of all rules. `InvalidError` where none applies."""
    if not world.moved(node):
        return const(Fraction(0))
    entries = linear(node, world)
    if entries is not None:
        return const(joint(entries, norm, world, means))
    return _simple(_by_structure(node, norm, world, means))


def joint(entries: list[Entry], norm: Norm, world: World, means: Means) -> Fraction:
    """The least bound on a vector of sums over rows."""
    rules = [rule for rule in JOINT.values() if means.thorough or rule not in (enumerated, cases)]
    found = [rule(entries, norm, world) for rule in rules]
    known = [one for one in found if one is not None]
    require(bool(known), "one record can change this without limit")
    return min(known)


# -- rules for sums over rows ------------------------------------------------------------------


def _power(value: Fraction, norm: Norm) -> Fraction:
    return value if norm == "l1" else value * value


def box(entries: list[Entry], norm: Norm, world: World) -> Fraction | None:
    """Each entry by the widths of its terms."""
    total = Fraction(0)
    seen: dict[Node, tuple[Range, ...]] = {}
    for entry in entries:
        moved = Fraction(0)
        for term, factor in entry.items():
            if term.value not in seen:
                seen[term.value] = world.ranges(term.value)
            width = _width(term, seen[term.value][term.index], world)
            if width is None:
                return None
            moved += abs(factor) * width
        total += _power(moved, norm)
    return total


def _width(term: Term, place: Range, world: World) -> Fraction | None:
    if world.adjacency == "replace-one" and term.columns <= world.public:
        return Fraction(0)
    if not place.finite:
        return None
    if world.adjacency == "add-remove":
        return place.largest()
    return (place if term.deciding <= world.public else place.or_zero()).width()


def _one_vector(entries: list[Entry], op: str) -> tuple[Term, list[Fraction]] | None:
    """One term and the factors, if the entries are different entries of one such vector."""
    if not all(len(entry) == 1 for entry in entries):
        return None
    terms = [next(iter(entry.items())) for entry in entries]
    first = terms[0][0]
    same = {(one.pieces, one.filter, one.value) for one, _ in terms}
    distinct = {one.index for one, _ in terms}
    if len(same) > 1 or len(distinct) < len(terms) or first.value.op != op:
        return None
    return first, [abs(factor) for _, factor in terms]


def onehot(entries: list[Entry], norm: Norm, world: World) -> Fraction | None:
    """A record lies in one cell: it leaves one and enters another."""
    found = _one_vector(entries, "onehot")
    if found is None:
        return None
    factors = sorted((_power(one, norm) for one in found[1]), reverse=True)
    return sum(factors[: 1 if world.adjacency == "add-remove" else 2], Fraction(0))


def moments(entries: list[Entry], norm: Norm, world: World) -> Fraction | None:
    """Products of pairs of d numbers in [-1, 1] (theory 8.3)."""
    found = _one_vector(entries, "moments")
    if found is None:
        return None
    term, factors = found
    places = world.ranges(term.value.args[0])
    if any(one.low < -1 or one.high > 1 for one in places):
        return None
    d = len(places)
    enters = Fraction(d * (d + 1), 2)
    replaced = enters
    if norm == "l2":
        replaced = Fraction(4 * (d * d // 4) if d > 1 else 1)
    # To be replaced is never less than to enter, so a private filter adds nothing.
    bound = enters if world.adjacency == "add-remove" else replaced
    return bound * _power(max(factors), norm)


def enumerated(entries: list[Entry], norm: Norm, world: World) -> Fraction | None:
    """All pairs of rows that agree in the public columns, where these are few."""
    names: frozenset[str] = frozenset().union(*(t.columns for entry in entries for t in entry))
    settings = rows(world.program.columns, names)
    if settings is None or len(settings) * len(entries) > MOST_ADDED:
        return None
    terms = {term for entry in entries for term in entry}
    nodes = sum(1 for t in terms for part in (t.filter, t.value) for _ in part.walk())
    world.effort.take("values of single rows", len(settings) * nodes)
    groups: dict[tuple[object, ...], set[tuple[Fraction, ...]]] = {}
    shared = sorted(names & world.public)
    try:
        for row in settings:
            key = tuple(row[name] for name in shared)
            groups.setdefault(key, set()).add(added(entries, row, world))
    except NotExactError:
        return None
    nothing = {(Fraction(0),) * len(entries)}
    worst = Fraction(0)
    for found in groups.values():
        against = nothing if world.adjacency == "add-remove" else found
        moved = _furthest(found, against, norm, world)
        if moved is None:
            return None
        worst = max(worst, moved)
    return worst


def _furthest(
    some: set[tuple[Fraction, ...]],
    others: set[tuple[Fraction, ...]],
    norm: Norm,
    world: World,
) -> Fraction | None:
    if all(len(one) == 1 for one in some):
        ends = [one[0] for one in some], [one[0] for one in others]
        return _power(max(max(ends[0]) - min(ends[1]), max(ends[1]) - min(ends[0])), norm)
    work = len(some) * len(others) * len(next(iter(some)))
    if work > MOST_WORK:
        return None
    world.effort.take("differences of pairs of rows", work)
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


Rule = Callable[[list[Entry], Norm, World], Fraction | None]
JOINT: Mapping[str, Rule] = {
    "box": box, "onehot": onehot, "moments": moments, "enumerated": enumerated,
    "cases": cases,
}  # fmt: skip
"""The rules for sums over rows. A derivation names the one that its number is by."""


# -- rules by structure ------------------------------------------------------------------------


def _by_structure(node: Node, norm: Norm, world: World, means: Means) -> Node:
    """Operations that move no further than their arguments, and public factors."""
    op = node.op
    if op == "fold":
        if world.adjacency == "add-remove":
            raise UnknownError("a fold where a record enters or leaves", "fold")
        moved = means.folds(node)
        return const(_power(moved, norm))
    if op in ("mul", "div"):
        return _scaled(node, norm, world, means)
    if op in ("neg", "abs", "item"):
        return moves(node.args[0], norm, world, means)
    if op == "clip":
        require(not any(world.moved(end) for end in node.args[1:]), "a clip with private ends")
        return moves(node.args[0], norm, world, means)
    if op == "tuple" and norm == "l2":
        return _sum([_l2(one, world, means) for one in node.args])
    if op in ("add", "sub", "min", "max", "tuple"):
        length = len(world.ranges(node))
        parts = []
        for one in node.args:
            moved_by = moves(one, "l1", world, means)
            spread = op in ("add", "sub") and len(world.ranges(one)) < length
            # One number that is added to every entry moves all of them.
            parts.append(_product(moved_by, const(Fraction(length))) if spread else moved_by)
        total = _largest(parts) if op in ("min", "max") else _sum(parts)
        return total if norm == "l1" else _product(total, total)
    raise UnknownError(f"no rule says how far '{op}' moves", "sensitivity")


def _l2(node: Node, world: World, means: Means) -> Node:
    return moves(node, "l2", world, means)


def _scaled(node: Node, norm: Norm, world: World, means: Means) -> Node:
    left, right = node.args
    require(not (world.moved(left) and world.moved(right)), "a product of two private values")
    if node.op == "div":
        require(not world.moved(right), "divided by a private value")
        require(all(one.nonzero for one in world.ranges(right)), "a divisor may be 0")
    private, factor = (left, right) if world.moved(left) else (right, left)
    moved = moves(private, norm, world, means)
    size = _size_of(factor, node.op, norm, world, len(world.ranges(private)))
    return _product(moved, size if norm == "l1" else _product(size, size))


def _size_of(factor: Node, op: str, norm: Norm, world: World, length: int) -> Node:
    """How much a factor widens a move at most: itself where it is known with the size."""
    places = world.ranges(factor)
    if len(places) == 1:
        known = all(one.op != "public" or one == SIZE for one in factor.walk())
        if known and not any(one.op in ("sum", "count") for one in factor.walk()):
            size = Node("abs", (factor,))
            return Node("div", (const(Fraction(1)), size)) if op == "div" else size
    largest = [_inverse_or_itself(one.low, one.high, op) for one in places]
    # A number times a vector moves every entry; entry by entry the largest factor counts.
    if length > 1 or len(places) == 1:
        return const(max(largest))
    return const(sum(largest, Fraction(0)))


def _inverse_or_itself(low: object, high: object, op: str) -> Fraction:
    if op == "div":
        nearest = min(abs(one) for one in (low, high) if isinstance(one, Fraction))
        return 1 / nearest
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        raise InvalidError("a private value is scaled by a public one without bounds")
    return max(abs(low), abs(high))


# -- expressions ---------------------------------------------------------------------------------


def _sum(parts: list[Node]) -> Node:
    total = parts[0]
    for one in parts[1:]:
        total = _simple(Node("add", (total, one)))
    return total


def _product(one: Node, other: Node) -> Node:
    return _simple(Node("mul", (one, other)))


def _largest(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else _simple(Node("max", tuple(parts)))


def _simple(node: Node) -> Node:
    number = folded(node)
    return node if number is None else const(number)
