"""Numbers and formulas as messages and programs write them."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesdp.programs.ir import Expr


def decimal(value: Fraction) -> str:
    """The number as a decimal where that is short, else as a fraction."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or value.denominator > 10**20:
        return str(value)
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)


def suggested(value: Fraction) -> str:
    """A number as it may be written in a program: exact where that is short, else rounded up."""
    text = decimal(value)
    if len(text) <= 24:
        return text
    if 0 < value < Fraction(1, 10**6):
        power = 0
        while value * 10**power < 1:
            power += 1
        return f"{_up(value * 10**power)}e-{power}"
    return _up(value)


def _up(value: Fraction) -> str:
    return decimal(Fraction(-(-value * 10**12 // 1), 10**12))


def distinct_decimals(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to tell them apart."""
    texts, digits = (suggested(low), suggested(high)), 12
    while texts[0] == texts[1] and low < high:
        digits *= 2
        ends = (low * 10**digits // 1, -(-high * 10**digits // 1))
        texts = (_point(int(ends[0]), digits), _point(int(ends[1]), digits))
    return texts


def _point(value: int, digits: int) -> str:
    whole = str(abs(value)).rjust(digits + 1, "0")
    text = f"{whole[:-digits]}.{whole[-digits:]}".rstrip("0").rstrip(".")
    return "-" + text if value < 0 else text


def formula(expr: Expr) -> str:
    """A public expression as a formula in the number n of records."""
    if expr.op == "const" and isinstance(expr.data[0], Fraction | int):
        return suggested(Fraction(expr.data[0]))
    if expr.op == "public":
        return "n" if expr.data[0] == "db.size" else str(expr.data[0])
    parts = [formula(arg) for arg in expr.args]
    signs = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / "}
    if expr.op in signs:
        nested = [
            f"({text})" if arg.op in ("add", "sub") or (i and arg.op == "div") else text
            for i, (arg, text) in enumerate(zip(expr.args, parts, strict=True))
        ]
        return signs[expr.op].join(nested)
    if expr.op == "abs" and expr.args[0].op == "public":
        return parts[0]
    return f"{expr.op}({', '.join(parts)})"


def rounded_up(value: Fraction) -> float:
    """The decimal that JSON shows, which is never below the exact value."""
    nearest = float(value)
    # JSON holds decimals: 0.3 is three tenths there, whatever the double.
    return nearest if Fraction(repr(nearest)) >= value else nextafter(nearest, inf)
