"""Where a sum lies whose terms cancel: `n - clip(x, 0, n)` is never below 0.

By intervals alone it would lie anywhere below n, since each term is looked at by itself. A clip is
at most its upper end (`min(max(x, low), high)` is, whatever x), a minimum at most each of its
arguments, a maximum at least each. Such a term is replaced by that bound where the bound cancels
another term, and intervals are taken of what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import inf

from bayesdp.kernel.programs.effort import bounded
from bayesdp.kernel.programs.reading import ONE, Node, const

Terms = Mapping[Node, Fraction]
EndOrInfinity = Fraction | float
"""A fraction, or an infinity where nothing is known."""

Places = Callable[[Node], tuple[EndOrInfinity, EndOrInfinity]]
"""Where one number lies: its lower and its upper end."""

MOST_TERMS = 64
"""Longer sums are looked at by intervals alone."""


def terms_of(node: Node) -> dict[Node, Fraction]:
    """The expression as a sum: the factor of each term. The literals are the factor of 1."""
    terms: dict[Node, Fraction] = {}
    _collect(node, Fraction(1), terms)
    return {term: factor for term, factor in terms.items() if factor}


def _collect(node: Node, factor: Fraction, terms: dict[Node, Fraction]) -> None:
    if node.op in ("add", "sub"):
        _collect(node.args[0], factor, terms)
        _collect(node.args[1], factor if node.op == "add" else -factor, terms)
    elif node.op == "neg":
        _collect(node.args[0], -factor, terms)
    elif node.op == "const" and isinstance(node.data[0], Fraction):
        terms[ONE] = terms.get(ONE, Fraction(0)) + bounded(factor * node.data[0])
    else:
        terms[node] = terms.get(node, Fraction(0)) + factor


def least(node: Node, places: Places) -> EndOrInfinity:
    """A lower end of a sum by what cancels in it; minus infinity where nothing does."""
    terms = terms_of(node)
    if len(terms) > MOST_TERMS:
        return -inf
    bound: EndOrInfinity = -inf
    for held in _lowered(terms):
        low: EndOrInfinity = Fraction(0)
        for term, factor in held.items():
            place = places(const(Fraction(1)) if term == ONE else term)
            end = place[0] if factor > 0 else place[1]
            if isinstance(low, Fraction) and isinstance(end, Fraction):
                low = bounded(low + factor * end)
            else:
                low = -inf
        bound = max(bound, low)
    return bound


def _lowered(terms: Terms) -> Iterator[Terms]:
    """Sums that are at most this one, each with fewer terms."""
    for term, factor in terms.items():
        for other in _bounds(term, above=factor < 0):
            held = dict(terms)
            del held[term]
            for part, times in terms_of(other).items():
                held[part] = held.get(part, Fraction(0)) + bounded(factor * times)
            left = {part: times for part, times in held.items() if times}
            if set(left) - {ONE} < set(terms) - {ONE, term}:
                yield left


def _bounds(term: Node, *, above: bool) -> tuple[Node, ...]:
    """Expressions that are never below (`above`), or never above, a term."""
    if term.op == "clip" and above:
        return term.args[2:]
    return term.args if term.op == ("min" if above else "max") else ()


__all__ = ["least", "terms_of"]
