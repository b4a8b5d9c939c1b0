"""Numbers in words: budgets rounded so that no promise grows, values with the digits they have."""

from __future__ import annotations

import math
from fractions import Fraction

from bayesdp.accounting.costs.spend import Spend
from bayesdp.notions import Cost
from bayesdp.numbers import (
    NOT_NEGATIVE,
    LowerBound,
    float_above,
    float_below,
    shortest,
    sixth_digit,
    up_words,
)
from bayesdp.statements.base import exact_text

__all__ = [
    "STEPS",
    "keeps",
    "left",
    "left_words",
    "scaled",
    "spent",
    "up_words",
    "value_words",
]

_ALL_DIGITS = 17
"""So many significant digits tell all doubles apart."""

STEPS = 1_000_000
"""What still fits is stated as a multiple of the request, in steps of one millionth."""


def scaled(spend: Spend, steps: int) -> Spend:
    """The spend at `steps` millionths of its cost, rounded up."""
    share = Fraction(steps, STEPS)
    parts = {"dp_epsilon": spend.dp_epsilon, "slack": spend.slack, "rho": spend.rho}
    less = {name: float_above(Fraction(value) * share) for name, value in parts.items()}
    return Spend.from_dict({**spend.to_dict(), **less})


def keeps(level: float, total: float, delta: float = 0.0) -> bool:
    """Whether a level keeps to a total, which stands for the decimal that it is written as.

    The double 0.3 is below 3/10; a cost of exactly 3/10, as a program may have, is rounded up to
    the double above, and keeps to it. With a delta the total itself decides what is proved (theory
    2.6), and counts as it is.
    """
    return level <= (total if delta > 0.0 else max(total, float_above(shortest(total))))


def left(total: float, level: float) -> LowerBound:
    """What is left of a total, rounded down; 0 where the level is at the total or above."""
    if not level < total:
        return NOT_NEGATIVE
    return float_below(Fraction(total) - Fraction(level))


def spent(cost: Cost) -> str:
    """A cost in words: its pure part, with the mechanisms' own deltas, and its zCDP part."""
    delta = f" with own deltas of {up_words(cost.dp_delta)}" if cost.dp_delta > 0.0 else ""
    pure = f"{up_words(cost.dp_epsilon)}{delta}"
    if cost.rho == 0.0:
        return pure
    zcdp = f"{up_words(cost.rho)} of zCDP"
    return zcdp if cost.dp_epsilon == 0.0 else f"{pure} and {zcdp}"


def value_words(value: float, error: float) -> str:
    """A value with the digits that its error leaves it: to the fourth of the error, or to whole.

    Without an error these are all of them.

    >>> value_words(1700043123.4567, 2.589), value_words(171.23456, 0.03712)
    ('1700043123.457', '171.23456')
    """
    if not (0.0 <= error < math.inf and math.isfinite(value)):
        return f"{value:.7g}"
    last = min(math.floor(math.log10(error)) - 3, 0) if error > 0.0 else -math.inf
    if abs(value) < 10.0**last / 2.0:
        return "0"
    digits = math.floor(math.log10(abs(value))) - last + 1 if value else 1
    return exact_text(value) if digits >= _ALL_DIGITS else f"{value:.{max(int(digits), 1)}g}"


def left_words(total: float, left: float) -> str:
    """The rest of a total in words, rounded down to six digits of the total; less is nothing."""
    if not 0.0 < left < math.inf:
        return f"{left:g}"
    step = sixth_digit(total)
    return f"{float(math.floor(shortest(left) / step) * step):.6g}"
