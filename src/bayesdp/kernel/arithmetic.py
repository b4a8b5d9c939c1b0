"""Exact fractions and balls. A ball (`flint.arb`) contains the true value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from time import thread_time
from typing import Any

from flint import arb, ctx, fmpq

PRECISION = 192
"""Bits of the balls."""


class InvalidError(Exception):
    """A step does not hold. `step` names it."""

    def __init__(self, reason: str, step: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.step = step


class UnknownError(InvalidError):
    """A step that this kernel has no rule for, or can't see the premises of: not decided.

    It is an `InvalidError` so that both are given their step in one place; who catches both asks
    for this one first.
    """


class TooSlowError(UnknownError):
    """A step that would take longer than a reader of certificates is made to wait."""


MOST_SECONDS = 15.0
"""What one verdict may take, in seconds of computing; a slow machine answers UNKNOWN."""

_until: ContextVar[float | None] = ContextVar("until", default=None)
_calls = 0
"""How often `watched` was called; shared by threads, which is harmless: it only says when to look
at the clock."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Within it, `watched` raises `TooSlowError` after so many seconds of this thread."""
    before = _until.get()
    end = thread_time() + seconds
    token = _until.set(end if before is None else min(before, end))
    try:
        yield
    finally:
        _until.reset(token)


def watched() -> None:
    """To be called in every loop that a certificate can make long."""
    global _calls
    _calls += 1
    if _calls % 64 == 0:
        check_clock()


def check_clock() -> None:
    """Raises `TooSlowError` if the time is up. Called before every verdict that something holds.

    So no such verdict rests on a step that was cut short.
    """
    until = _until.get()
    if until is not None and thread_time() > until:
        raise TooSlowError("it would keep the machine busy for too long")


def require(holds: bool, reason: str, step: str = "") -> None:
    """`InvalidError` unless it holds."""
    if not holds:
        raise InvalidError(reason, step)


def agree(stated: object, due: object, what: str, step: str = "") -> None:
    """`InvalidError` unless the field `what` states the value that is due."""
    if not stated == due:  # no words where they agree
        raise InvalidError(f"{what}: {stated!r:.200} is stated, {due!r:.200} is due", step)


def exact(value: object, what: str = "a number") -> Fraction:
    """A JSON number as the fraction that its double is."""
    watched()
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidError(f"{what}: {value!r} is not a finite number")
    return Fraction(value)


def ball(value: Fraction | int) -> arb:
    """A ball around a fraction."""
    watched()
    ctx.prec = PRECISION
    return arb(fmpq(value.numerator, value.denominator))


def balls(values: Sequence[object], what: str = "a number") -> list[arb]:
    """JSON numbers as balls. A double is taken over as it is, which is quicker than a fraction."""
    ctx.prec = PRECISION
    made = []
    for value in values:
        watched()
        if type(value) is float and math.isfinite(value):
            made.append(arb(value))
        else:
            made.append(ball(exact(value, what)))
    return made


def largest(values: Sequence[arb]) -> arb:
    """A ball around the largest of the true values."""
    best = values[0]
    for value in values[1:]:
        best = best.max(value)
    return best


def double_up(value: arb) -> float:
    """The smallest double that is certainly not below the true value."""
    upper = value.upper()
    if not upper.is_finite():
        return math.inf
    nearest = float(upper)
    while not arb(nearest) >= upper:
        nearest = math.nextafter(nearest, math.inf)
    return nearest


def law(row: Any, what: str) -> list[Fraction]:
    """A probability law: non-negative, summing to 1 within 1e-9, rescaled exactly."""
    require(isinstance(row, list) and len(row) > 0, f"{what} is not a row of probabilities")
    values = [exact(entry, what) for entry in row]
    total = sum(values, Fraction(0))
    require(min(values) >= 0, f"{what} has a negative probability")
    require(abs(total - 1) <= Fraction(1, 10**9), f"{what} sums to {float(total)!r}, not to 1")
    return [value / total for value in values]


def contracted(log_c: arb, ratio: arb | None) -> arb:
    """`ln f(c; R)`, `f = ((1 + sqrt(c R)) / (sqrt c + sqrt R))^2`; `None` is an infinite `R`."""
    if ratio is None:
        return log_c
    root_c, root_r = (log_c / 2).exp(), ratio.sqrt()
    return 2 * ((1 + root_c * root_r) / (root_c + root_r)).log()


def at_least(claimed: object, derived: arb, what: str) -> None:
    """`InvalidError` unless the claimed number is at least the derived one."""
    (number,) = balls([claimed], what)
    if not (derived.is_finite() and number >= derived):
        reason = f"{float(exact(claimed))!r} is claimed, and {_shown(derived)} is what follows"
        raise InvalidError(reason, what)


def follows(concluded: object, claimed: object, what: str) -> None:
    """`InvalidError` unless the claimed number is at least the concluded one, its premise."""
    if not exact(concluded, what) <= exact(claimed, what):
        raise InvalidError(f"{concluded!r} is concluded, and {claimed!r} is claimed", what)


def _shown(value: arb) -> str:
    number = float(value.mid()) if value.is_finite() else math.inf
    return f"{number:.15g}"
