"""A table of canaries, and how its values are recognised in any output.

Each private cell is a text or a number that stands nowhere else. Numbers are recognised by their
first six digits, wherever the point stands and whether they are cut or rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

ROWS = 24
HOUSES = tuple(f"zqhouse{name}" for name in ("amber", "birch", "cedar", "dahlia", "elder", "furze"))
NOTES = tuple(f"zqnote{chr(97 + i)}{chr(122 - i)}wren" for i in range(ROWS))
_INCOMES = (
    *("28775561.85", "17756559.53", "56972410.49", "22225184.95", "98303939.92", "32838285.50"),
    *("10303154.95", "37768516.23", "97224259.41", "56055557.91", "79236476.84", "93706425.14"),
    *("63198277.52", "37219878.34", "18907426.38", "36955817.55", "22538625.44", "89026205.50"),
    *("46983454.83", "27570894.19", "93913904.96", "82305477.52", "26926457.47", "15751333.57"),
)
INCOMES = tuple(Decimal(text) for text in _INCOMES)
DAYS = tuple(f"{1900 + 3 * i}-07-{i + 3:02}" for i in range(ROWS))
"""Dates of birth, which are declared as bounds only."""
ROLES = ("child", "parent")


def rows() -> list[tuple[str, str, str, str, str, str]]:
    """House, role (public), whether ill, note (not declared), date of birth and income."""
    return [
        (HOUSES[i // 4], ROLES[i % 2], "yes" if i % 3 else "no", NOTES[i], DAYS[i], str(income))
        for i, income in enumerate(INCOMES)
    ]


HEADER = "house,role,ill,note,born,income"


def csv(lines: Iterable[str] | None = None, header: str = HEADER) -> str:
    """The table as CSV, with other lines in place of its own where they are given."""
    chosen = [",".join(row) for row in rows()] if lines is None else list(lines)
    return "\n".join([*([header] if header else []), *chosen]) + "\n"


def habits() -> str:
    """A hundred days of each of the notes, taken for persons."""
    lines = []
    for i, note in enumerate(NOTES):
        lines += [
            f"{note},{day},{'yes' if (i + day**2) % 5 < 2 else 'no'}" for day in range(1, 101)
        ]
    return csv(lines, "note,day,ill")


def _digits(number: Decimal) -> set[str]:
    """The first six digits of a number, cut and rounded."""
    shift = 5 - number.adjusted()
    scaled = number.scaleb(shift)
    return {str(int(scaled.quantize(Decimal(1), way))) for way in (ROUND_DOWN, ROUND_HALF_EVEN)}


def _secret_numbers() -> list[Decimal]:
    """The numbers, and what an exact answer would be: sums, means, the sums of either role."""
    children, parents = INCOMES[::2], INCOMES[1::2]
    sums = [sum(numbers, Decimal(0)) for numbers in (INCOMES, children, parents)]
    return [*INCOMES, *sums, sums[0] / ROWS, sums[1] / (ROWS // 2), sums[2] / (ROWS // 2)]


_TEXTS = (*HOUSES, *NOTES, *DAYS)
_NUMBERS = {digits: number for number in _secret_numbers() for digits in _digits(number)}
_NUMBER = re.compile(r"(?<![0-9A-Za-z])[0-9][0-9_, .]*[0-9]")


def canaries_in(output: str) -> list[str]:
    """The private values that stand in an output, however they are written."""
    seen = {text for text in _TEXTS if text in output}
    seen |= {text for text in _TEXTS if text.encode("unicode_escape").decode() in output}
    for match in _NUMBER.finditer(output):
        for part in (*re.split(r"[, ]", match[0]), re.sub(r"[, _]", "", match[0])):
            digits = part.replace(".", "").replace("_", "").lstrip("0")
            if digits[:6] in _NUMBERS:
                seen.add(str(_NUMBERS[digits[:6]]))
    return sorted(seen)
