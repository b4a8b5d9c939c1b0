"""Plain data as text: one text for one meaning, or in its own order for people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from bayesdp.errors import InputError


def canonical_json(value: object) -> str:
    """One text for one meaning: sorted keys, no spaces, 1.0 written as 1. Refuses NaN.

    Raises `InputError` for what is not plain data (numbers, text, lists, mappings with text keys).
    """
    return canonical_form(value)[0]


def plain_text(value: object) -> str:
    """Plain data as JSON in its own order, because people read it; `InputError` as above."""
    try:
        text = json.dumps(value, allow_nan=False)
        if json.loads(text) == value:
            return text
    except (TypeError, ValueError, RecursionError):
        pass
    canonical_json(value)
    return json.dumps(value, allow_nan=False)


def canonical_form(value: object) -> tuple[str, Any]:
    """The canonical text, and what it says: a copy that shares nothing with the value.

    Raises `InputError` as `canonical_json` does.
    """
    quick = _quickly(value)
    if quick is None:
        text = _written(_canonical(value))
        return text, json.loads(text)
    return quick


def _quickly(value: object) -> tuple[str, object] | None:
    """The canonical form, by a round trip through JSON; `None` where that could change it."""
    try:
        text = _written(value)
        plain: object = json.loads(text, parse_float=_number_of)
    except (TypeError, ValueError, RecursionError):
        return None
    if plain != value:  # keys that are not texts, tuples
        return None
    # All other numbers are written in their canonical form.
    return _written(plain) if _WHOLE.search(text) else text, plain


_WHOLE = re.compile(r"\.0(?!\d)")
"""A whole number that is written as 1.0."""


@lru_cache(maxsize=10_000)
def _number_of(digits: str) -> object:
    return _canonical(float(digits))


def _written(plain: object) -> str:
    return json.dumps(
        plain, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True
    )


_MOST_EXACT = 2**53


def _canonical(value: object) -> object:
    kind = type(value)  # exact types first: populations hold hundreds of thousands of numbers
    if kind is str or kind is bool or kind is int or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        # A study in TOML may say 1 where JSON says 1.0; below 2^53 they are the same number.
        return int(value) if value.is_integer() and abs(value) < _MOST_EXACT else float(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str(key): _canonical(item) for key, item in value.items()}
    raise InputError("data", value, expected="plain JSON data with finite numbers")
