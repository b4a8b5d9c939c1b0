"""Checks of the single fields of spends and readings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from bayesdp.errors import InputError, check_keys, closest


def checked_fields(cls: type[Any], key: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `cls`, none unknown and none missing; lists become tuples where due.

    Raises `InputError` below `key` for a name in the `data` that is unknown, or is not there.
    """
    known = [argument for argument in fields(cls) if argument.init]
    names = [argument.name for argument in known]
    check_keys(key, data, names)
    for argument in known:
        if argument.name not in data and argument.default is MISSING:
            raise InputError(f"{key}.{argument.name}", expected="a value")
    listed = ("interval", "covers", "independent", "reads")
    return {
        name: tuple(value) if name in listed and isinstance(value, list) else value
        for name, value in data.items()
    }


def check_text(key: str, value: object) -> None:
    """Raises `InputError` unless the value is a text that isn't empty."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(key, value, expected="a text that isn't empty")


def names_field(key: str, value: object) -> tuple[str, ...]:
    """A sorted tuple of texts without repetition. Raises `InputError` for anything else."""
    if not isinstance(value, list | tuple):
        raise InputError(key, value, expected="a list of column names")
    for name in value:
        check_text(key, name)
    return tuple(sorted(set(value)))


def check_choice(key: str, value: object, options: Sequence[str]) -> None:
    """Raises `InputError` at `key` unless the `value` is one of the `options`."""
    if value not in options:
        raise InputError(
            key,
            value,
            expected=f"one of {', '.join(options)}",
            remedy=closest(str(value), options),
        )


def finite_field(key: str, value: object) -> float:
    """A finite float with the same value.

    Raises `InputError` for anything else: other types of numbers could round down.
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise InputError(key, value, expected="a finite number")


def interval_field(key: str, value: object) -> tuple[float, float]:
    """A pair of increasing numbers. Raises `InputError` for anything else."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(key, value, expected="a pair (lower, upper)")
    lower, upper = (finite_field(key, end) for end in value)
    if not lower < upper:
        raise InputError(key, value, expected="lower below upper")
    return lower, upper
