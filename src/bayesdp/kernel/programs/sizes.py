"""Whether one public number is at least another, for every number of records.

Both are expressions in n, from constants by `+ - * /`, abs, min and max: on pieces they are
rational functions. Beyond the largest root of all polynomials that decide anything, nothing changes
sign any more; up to there every n is tried. Exact fractions; nothing is sampled.

**Comparing bounds that depend on n.** A mean has `S = (b - a) / n`. Both sides are rational
functions of `n` on pieces. Beyond Cauchy's bound on the roots of every numerator, denominator and
difference that decides a piece or the comparison, no sign changes any more: the kernel tries every
admitted `n` up to there, one beyond, and no other, in exact fractions. If the bound is above 20,000
it says that nothing is shown.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from bayesdp.kernel.programs.effort import Effort, bounded
from bayesdp.kernel.programs.ranges import Range, folded
from bayesdp.kernel.programs.reading import SIZE, Node

MOST_SIZES = 20_000
"""Inequalities that must be evaluated at more numbers of records are not proved."""
MOST_PIECES = 64
"""An expression that falls into more pieces is not proved."""
MOST_DEGREE = 24
"""An expression with a polynomial of more coefficients is not proved."""

Poly = tuple[Fraction, ...]
"""Coefficients, the constant first, the last not 0."""
PolynomialRatio = tuple[Poly, Poly]


class NotThisError(Exception):
    """The expression is of a kind that is not compared here."""


def holds_for_all_sizes(greater: Node, smaller: Node, sizes: Range, effort: Effort) -> bool:
    """Whether `greater >= smaller` for every admitted number of records, certainly."""
    numbers = folded(greater), folded(smaller)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[0] >= numbers[1]
    try:
        critical: list[Poly] = []
        a, b = _pieces(greater, critical), _pieces(smaller, critical)
        _differences(a, b, critical)
        low = max(1, -floor(-Fraction(sizes.low)))
        top = max([low, *(floor(_root_bound(poly)) + 1 for poly in critical)])
        if isinstance(sizes.high, Fraction):
            top = min(top, floor(sizes.high))
        if top - low > MOST_SIZES:
            return False
        nodes = sum(1 for side in (greater, smaller) for _ in side.walk())
        effort.take("values at numbers of records", max(0, top + 1 - low) * nodes)
        return all(value(greater, n) >= value(smaller, n) for n in range(low, top + 1))
    except (NotThisError, ZeroDivisionError):
        return False


def value(node: Node, n: int) -> Fraction:
    """The number at n records."""
    if node == SIZE:
        return Fraction(n)
    if node.op == "const":
        constant = node.data[0]
        if isinstance(constant, bool | Fraction):
            return Fraction(constant)
        raise NotThisError
    args = [value(arg, n) for arg in node.args]
    if node.op in ("min", "max"):
        return min(args) if node.op == "min" else max(args)
    if node.op == "clip":
        return min(max(args[0], args[1]), args[2])
    if node.op in ("neg", "abs"):
        return -args[0] if node.op == "neg" else abs(args[0])
    if node.op == "add":
        return bounded(args[0] + args[1])
    if node.op == "sub":
        return bounded(args[0] - args[1])
    if node.op == "mul":
        return bounded(args[0] * args[1])
    if node.op == "div":
        return bounded(args[0] / args[1])
    raise NotThisError


def _pieces(node: Node, critical: list[Poly]) -> list[PolynomialRatio]:
    """Rational functions, of which the value equals some at every n.

    At which n it changes from a function to another, the roots of `critical` decide.
    """
    if node == SIZE:
        return [((Fraction(0), Fraction(1)), (Fraction(1),))]
    if node.op == "const":
        return [((value(node, 0),) if value(node, 0) else (), (Fraction(1),))]
    args = [_pieces(arg, critical) for arg in node.args]
    if node.op == "clip":
        _differences(args[0], args[1], critical)
        _differences([*args[0], *args[1]], args[2], critical)
        pieces = [*args[0], *args[1], *args[2]]
    elif node.op in ("min", "max"):
        for i, first in enumerate(args):
            for second in args[i + 1 :]:
                _differences(first, second, critical)
        pieces = [piece for arg in args for piece in arg]
    elif node.op in ("neg", "abs"):
        pieces = [(_scaled(top, Fraction(-1)), under) for top, under in args[0]]
        if node.op == "abs":
            critical += [top for top, _ in args[0]]
            pieces = [*args[0], *pieces]
    elif node.op in ("add", "sub", "mul", "div"):
        pieces = [_joined(node.op, x, y) for x in args[0] for y in args[1]]
    else:
        raise NotThisError
    pieces = list(dict.fromkeys(pieces))
    if len(pieces) > MOST_PIECES or any(len(p) > MOST_DEGREE for piece in pieces for p in piece):
        raise NotThisError
    critical += [under for _, under in pieces]
    return pieces


def _joined(op: str, x: PolynomialRatio, y: PolynomialRatio) -> PolynomialRatio:
    (a, b), (c, d) = x, y
    if op == "mul":
        return _times(a, c), _times(b, d)
    if op == "div":
        if not c:
            raise ZeroDivisionError
        return _times(a, d), _times(b, c)
    sign = Fraction(1 if op == "add" else -1)
    return _plus(_times(a, d), _scaled(_times(c, b), sign)), _times(b, d)


def _differences(
    first: list[PolynomialRatio], second: list[PolynomialRatio], critical: list[Poly]
) -> None:
    critical += [_joined("sub", x, y)[0] for x in first for y in second]


def _trimmed(coefficients: list[Fraction]) -> Poly:
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def _plus(a: Poly, b: Poly) -> Poly:
    length = max(len(a), len(b))
    padded = [[*poly, *(Fraction(0),) * (length - len(poly))] for poly in (a, b)]
    return _trimmed([bounded(x + y) for x, y in zip(*padded, strict=True)])


def _scaled(a: Poly, factor: Fraction) -> Poly:
    return _trimmed([bounded(factor * coefficient) for coefficient in a])


def _times(a: Poly, b: Poly) -> Poly:
    product = [Fraction(0)] * (len(a) + len(b))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] = bounded(product[i + j] + x * y)
    return _trimmed(product)


def _root_bound(poly: Poly) -> Fraction:
    """Cauchy's bound on the size of every root; 0 for constants."""
    if len(poly) < 2:
        return Fraction(0)
    return 1 + max(abs(coefficient / poly[-1]) for coefficient in poly[:-1])
