"""The front end: program files are parsed, typed and lowered; never imported, never executed.

Each of the rooms imports those before it:

* `syntax`: a file's text, its types and constants; what is wrong and where.
* `drafts`: a program under construction, and what its names stand for.
* `records`: rows, columns, and persons of several rows.
* `expressions`: arithmetic, conditions, generators, functions.
* `models`: priors, likelihoods, and what they observe.
* `posteriors`: what follows a release, and numbers about it.
* `releases`: noise, choices, thresholds.
* `statements`: assignments, loops, branches, and what a program returns.

Above them `access` and `calls` give names, attributes, entries and calls to what they are about;
`handlers` is the table of the language, and `lower` makes the representation.

Every function here raises `ProgramError` for what the language refuses, with the place and, where
there is a remedy, what would be accepted. Their docstrings don't repeat that.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from bayesdp.errors import InputError, did_you_mean
from bayesdp.programs.ir import Program
from bayesdp.programs.source.lower import lower
from bayesdp.programs.source.syntax.diagnostics import CODES, Diagnostic, ProgramError
from bayesdp.programs.source.syntax.literals import MOST_DIGITS, Literal
from bayesdp.programs.source.syntax.source_file import SourceFile, read_file, read_text

__all__ = [
    "CODES",
    "Diagnostic",
    "ProgramError",
    "SourceFile",
    "core_of",
    "exact",
    "lower",
    "read_file",
    "read_text",
]


def core_of(
    source: SourceFile,
    name: str | None,
    parameters: Mapping[str, object],
    inflation: Fraction | None = None,
) -> Program:
    """The program of this name (or the only program) in the intermediate representation.

    `parameters` and `inflation` are as for `lower`, `source` is a file that was read.
    Raises `ProgramError`, or `InputError` where the file has no such program.
    """
    known = sorted(source.programs)
    if not known:
        raise InputError(
            "program", source.path, expected="a file with a @program function", shown=True
        )
    if name is None and len(known) > 1:
        raise InputError(
            "program", source.path, expected=f"a name: one of {', '.join(known)} (FILE:NAME)"
        )
    program_name = name if name is not None else known[0]
    if program_name not in source.programs:
        raise InputError(
            "program",
            program_name,
            expected="a program of this file",
            remedy=did_you_mean(program_name, known),
        )
    arguments = {key: exact(key, value) for key, value in parameters.items()}
    return lower(source, program_name, arguments, inflation)


def exact(key: str, value: object) -> Literal:
    """The exact value of a public argument: a float means the decimal that it is shown as.

    Raises `InputError` at `key` for what is not a finite number, a text or a truth value.
    """
    if isinstance(value, bool | str):
        return value
    rational = Fraction(value) if isinstance(value, int | Fraction) else None
    if isinstance(value, float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        short = number.is_finite() and abs(number.adjusted()) < MOST_DIGITS
        rational = Fraction(number) if short else None
    if (
        rational is not None
        and max(abs(rational.numerator), rational.denominator) < 10**MOST_DIGITS
    ):
        return rational
    raise InputError(
        key,
        value,
        expected=f"a number of at most {MOST_DIGITS} digits, a truth value or a text",
        remedy="Write numbers with fewer digits.",
    )
