"""What a certificate rests on, for people: what is said of several programs is said once."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OF_A_PROGRAM = re.compile(r"of the program ('.*?'): (.*)", re.S)


def said_once(assumptions: Iterable[str]) -> list[str]:
    """The assumptions in their order; what several programs assume is said once."""
    about: dict[str, list[str]] = {}
    for assumption in assumptions:
        match = _OF_A_PROGRAM.fullmatch(assumption)
        about.setdefault(match[2] if match else assumption, []).extend([match[1]] if match else [])
    return [_words(assumption, programs) for assumption, programs in about.items()]


def _words(assumption: str, programs: list[str]) -> str:
    if not programs:
        return assumption
    if len(programs) == 1:
        return f"of the program {programs[0]}: {assumption}"
    return f"of the programs {', '.join(programs[:-1])} and {programs[-1]}: {assumption}"
