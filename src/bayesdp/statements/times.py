"""Steps and formats of dates: how many steps lie between two, and how a text of a format is read.

Public names: `DAYS`, `days_of`, `TimeStep`, `step_of`, `Format`, `format_of`, `duration_of`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

DAYS = "days since 1970-01-01"
"""The unit of dates that are numbers."""


def days_of(moment: datetime) -> float:
    """A date or time as a number of `DAYS`; the time of day is a part of its day."""
    return (moment - datetime(1970, 1, 1)).total_seconds() / 86400.0


_STEP = re.compile(
    r"\s*(?P<count>0*[1-9]\d{0,8})\s*"
    r"(?P<unit>second|minute|hour|day|week|month|quarter|year)s?\s*",
    re.IGNORECASE,
)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_IN_A_YEAR = {"month": 12, "quarter": 4, "year": 1}
STEP_WORDS = "a number, or a text such as '15 minutes', '1 day' or '1 month'"


@dataclass(frozen=True)
class TimeStep:
    """The step of an order column of dates and times, such as "15 minutes" or "1 quarter".

    It has `seconds`, or it is made of `periods` of the calendar, of which a year has `in_a_year`.
    Then a date counts as the period that it lies in, whichever day of it it is.
    """

    seconds: int = 0
    periods: int = 0
    in_a_year: int = 0

    def place(self, moment: datetime) -> Fraction:
        """How many steps lie between a fixed moment and this one."""
        if self.periods:
            inside = (moment.month - 1) * self.in_a_year // 12
            return Fraction(moment.year * self.in_a_year + inside, self.periods)
        gone = moment - datetime(1970, 1, 1)
        microseconds = gone.days * 86_400_000_000 + gone.seconds * 1_000_000 + gone.microseconds
        return Fraction(microseconds, self.seconds * 1_000_000)


def step_of(text: str) -> TimeStep:
    """The step that a text says. Raises `ValueError` for any other text."""
    match = _STEP.fullmatch(text)
    if match is None:
        raise ValueError("a step that is neither a number nor a time such as '1 day'")
    count, unit = int(match["count"]), match["unit"].lower()
    if unit in _SECONDS:
        return TimeStep(count * _SECONDS[unit])
    return TimeStep(0, count, _IN_A_YEAR[unit])


_DURATION = re.compile(
    r"\s*(?P<count>[0-9]+(?:[.][0-9]+)?)\s*(?P<unit>second|minute|hour|day|week)s?\s*",
    re.IGNORECASE,
)
SECONDS = {f"{unit}s": seconds for unit, seconds in _SECONDS.items()}
"""How many seconds each unit of durations has."""
DURATION_WORDS = "a duration such as '90 minutes'"


def duration_of(text: str) -> tuple[float, str]:
    """The number that a text such as "1.5 hours" says, and its unit, one of `SECONDS`.

    Raises `ValueError` for any other text.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"a text that is not {DURATION_WORDS}")
    return float(match["count"]), f"{match['unit'].lower()}s"


_PARTS = {"%Y": 4, "%m": 2, "%q": 1, "%d": 2, "%H": 2, "%M": 2, "%S": 2}
_NEEDS = {"%d": "%m", "%H": "%d", "%M": "%H", "%S": "%M"}
FORMAT_WORDS = (
    "%Y, with %m or %q (the quarter), %d, %H, %M and %S behind it or before it, each once, and "
    "letters between them"
)


@dataclass(frozen=True)
class Format:
    """How a text says a date or time: a `pattern` with a group for each of the `parts`."""

    pattern: str
    parts: tuple[str, ...]


def format_of(text: str) -> Format:
    """The format that a text such as "%d.%m.%Y" says. Raises `ValueError` for any other text.

    A part has all its digits where nothing separates it from the next; else leading zeros may be
    left out, but for the year's.
    """
    pieces = re.split(r"(%.?)", text)
    parts = pieces[1::2]
    known = all(part in _PARTS for part in parts) and len(set(parts)) == len(parts)
    rests = all(_NEEDS[part] in parts for part in parts if part in _NEEDS)
    if not known or not rests or "%Y" not in parts or {"%m", "%q"} <= set(parts):
        raise ValueError(f"a format that does not consist of {FORMAT_WORDS}")
    if any(letter.isdigit() for between in pieces[::2] for letter in between):
        raise ValueError("a format with digits between its parts")
    pattern = ""
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            pattern += re.escape(piece)
            continue
        apart = (i == 1 or pieces[i - 1] != "") and (i == len(pieces) - 2 or pieces[i + 1] != "")
        least = 1 if apart and piece != "%Y" else _PARTS[piece]
        pattern += f"([0-9]{{{least},{_PARTS[piece]}}})"
    return Format(f"^{pattern}$", tuple(parts))
