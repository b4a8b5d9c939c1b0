"""How much may be computed for one certificate, so that no certificate keeps anybody waiting.

What is used up makes a certificate UNKNOWN. Programs that people write stay far below.
"""

from __future__ import annotations

from fractions import Fraction

from bayesdp.kernel.arithmetic import UnknownError

MOST_BITS = 20_000
"""A program in which an exact number has more bits is UNKNOWN."""
MOST: dict[str, int] = {
    "values at numbers of records": 200_000,
    "values of single rows": 2_000_000,
    "differences of pairs of rows": 2_000_000,
}
"""For all programs of a certificate together."""


class Effort:
    """What is left; shared by everything that is derived for one certificate."""

    def __init__(self) -> None:
        self.left = dict(MOST)

    def take(self, what: str, amount: int) -> None:
        """Use up this amount; `UnknownError` where less is left."""
        if amount > self.left[what]:
            raise UnknownError(f"more than {MOST[what]} {what} would have to be computed")
        self.left[what] -= amount


def bounded(value: Fraction) -> Fraction:
    """The value; `UnknownError` where it has more digits than anybody's numbers have."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise UnknownError(f"a number of more than {MOST_BITS} bits", "program")
    return value
