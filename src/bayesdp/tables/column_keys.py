"""What the readers of single keys of a column's declaration share: a refusal, and numbers."""

from __future__ import annotations

import math
from typing import NoReturn

from bayesdp.errors import InputError


def refuse(name: str, key: str, value: object, expected: str, remedy: str = "") -> NoReturn:
    """Raise the `InputError` of the key `key` of the column `name`."""
    raise InputError(f"data.columns.{name}.{key}", value, expected=expected, remedy=remedy)


def finite(name: str, key: str, value: object) -> float:
    """A finite double, from a whole number or a float and nothing else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(name, key, value, "a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        refuse(name, key, value, "a finite number")
    return number
