"""What the readers of single keys of a column's declaration share; and the key `other`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from bayesdp.errors import InputError


def refuse(name: str, key: str, value: object, expected: str, remedy: str = "") -> NoReturn:
    """Raise the `InputError` of the key `key` of the column `name`."""
    raise InputError(f"data.columns.{name}.{key}", value, expected=expected, remedy=remedy)


def finite(name: str, key: str, value: object) -> float:
    """The `value` as a finite double, if it is a whole number or a float and nothing else.

    Raises `InputError` for any other, about the key `key` of the column `name`.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(name, key, value, "a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        refuse(name, key, value, "a finite number")
    return number


def check_other(name: str, raw: Mapping[str, Any]) -> None:
    """The key `other` is the state of a private column of texts that other texts count as.

    Not of a public one: its values divide records between studies, and with `other` the same value
    may mean other records in another study. Raises `InputError`.
    """
    if "other" not in raw:
        return
    other, states = raw["other"], raw.get("states", ())
    if not isinstance(other, str) or not states or not isinstance(states[0], str):
        refuse(name, "other", other, "to stand with states that are texts, as one of them")
    if raw.get("public") or "role" in raw:
        refuse(
            name,
            "other",
            other,
            "nothing on a column that is not protected",
            "Declare all of its states, which are public.",
        )
    if other not in states:
        refuse(name, "other", other, "one of the states", f"Write {other!r} among the states.")
