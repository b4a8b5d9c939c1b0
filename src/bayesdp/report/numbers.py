"""How numbers are written for people: the one place, so that the same number is the same text.

What is shown must stay true: levels, costs and deltas are rounded up, what a budget allows is
rounded down, at a terminal, in an explanation and in the HTML report alike.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from bayesdp.accounting.costs.rounded import left_words, up_words
from bayesdp.notions.catalogue import notion_of
from bayesdp.statements.base import exact_text


def level_words(level: float, error: float = 0.0) -> str:
    """A level, a cost or a delta in words: six digits, rounded up; "unlimited" for infinity.

    `error` is how far off a computed level may be; certified levels are upper bounds already.
    """
    if math.isinf(level):
        return "unlimited"
    words = up_words(level, error)
    size = Decimal(words)
    return plain(size) if 6 <= size.adjusted() < 15 else words


def notion_level(notion: str, level: float | None, error: float = 0.0) -> str:
    """A level of this notion with its unit, where that is not nats; "?" for an unknown level.

    `error` is as in `level_words`.
    """
    if level is None:
        return "?"
    distance = notion_of(notion).unit == "probability"
    return level_words(level, error) + (" (distance)" if distance else "")


def budget_words(allowed: float, digits: int = 6) -> str:
    """A budget in words, rounded down to so many digits."""
    if allowed == 0.0 or not math.isfinite(allowed):
        return level_words(allowed)
    if digits == 6:
        return left_words(allowed, allowed)
    return plain(_to_digits(allowed, digits, ROUND_FLOOR))


def rough(value: float, digits: int = 6) -> str:
    """A number that is not part of a promise, rounded to the nearest with so many digits."""
    return f"{value:.{digits}g}"


def percent_up(probability: float | Decimal) -> str:
    """A probability in percent, rounded up to one decimal."""
    return _percent(probability, ROUND_CEILING)


def percent_down(probability: float | Decimal) -> str:
    """A probability in percent, rounded down to one decimal."""
    return _percent(probability, ROUND_FLOOR)


MOST_PLACES = 12
"""The most decimals of a number beside its error."""


def with_error(value: float, error: float) -> str:
    """The `value` with as many decimals as two significant digits of its `error` have.

    Without an error these are all of them.
    """
    if error == 0.0 and math.isfinite(value):
        decimals = f"{Decimal(exact_text(value)):f}".partition(".")[2]
        return typeset(value, min(len(decimals), MOST_PLACES))
    return typeset(value, _places(error))


def error_up(error: float) -> str:
    """An error, rounded up to two significant digits (whole numbers from 10 on)."""
    places = _places(error)
    if error == 0.0 or not math.isfinite(error):
        return level_words(error)
    # The shortest text that names the double, so that 0.1 is shown as 0.1 and not as 0.11.
    exact = Decimal(repr(float(error)))
    return typeset(float(exact.quantize(Decimal(1).scaleb(-places), ROUND_CEILING)), places)


def error_words(error: float | None) -> str:
    """An error beside a number with all its digits: four digits, rounded up; a dash for None."""
    if error is None:
        return "-"
    if error == 0.0 or not math.isfinite(error):
        return level_words(error)
    return f"{float(_to_digits(error, 4, ROUND_CEILING)):.4g}"


def typeset(value: float, places: int) -> str:
    """The `value` with a proper minus sign and narrow spaces between thousands."""
    digits = f"{value:,.{places}f}"
    if not any(digit in digits for digit in "123456789"):
        digits = digits.removeprefix("-")
    return digits.replace("-", "\N{MINUS SIGN}").replace(",", THOUSANDS)


THOUSANDS = "\N{NARROW NO-BREAK SPACE}"
"""Stands between thousands: no line ends there. `layout` shows it as a plain space."""


def grouped(count: int) -> str:
    """A whole number with narrow spaces between thousands, where no line is broken."""
    return f"{count:,}".replace(",", THOUSANDS)


def plain(value: Decimal) -> str:
    """The decimal without trailing zeros and exponents."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _to_digits(value: float, digits: int, rounding: str) -> Decimal:
    exact = Decimal(repr(float(value)))
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), rounding)


def _places(error: float) -> int:
    if not (error > 0.0 and math.isfinite(error)):
        return 4
    return min(max(1 - math.floor(math.log10(error)), 0), MOST_PLACES)


def _percent(probability: float | Decimal, rounding: str) -> str:
    exact = probability
    if not isinstance(exact, Decimal):
        exact = Decimal(repr(float(exact)))
    rounded = exact.quantize(Decimal("0.001"), rounding=rounding) * 100
    whole = rounded == rounded.to_integral_value()
    return f"{rounded:.0f} %" if whole else f"{rounded:.1f} %"
