"""What strict readers of JSON refuse, for `object_pairs_hook` and `parse_constant` of `json.loads`.

JSON leaves open which of two equal keys counts, and Python reads the words NaN and Infinity as
numbers.
"""

from __future__ import annotations

from typing import Any, NoReturn


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these keys and values; `ValueError` where a key is given twice."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def no_number(word: str) -> NoReturn:
    """`ValueError` for a word that is not a number."""
    raise ValueError(f"{word} is not a number")
