"""What can go wrong, as types. Messages name key, value, what was expected and the remedy.

The command line turns these into exit statuses: `Refusal` and everything that subclasses it exit
with 1 (the answer is no), every other `BayesdpError` exits with 2 (the input is wrong).
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any
from unicodedata import category

from pydantic import BaseModel, ValidationError

from bayesdp.statements.base import HIDDEN, visible
from bayesdp.statements.wording import expected_words, place_of, place_text, way_out


class BayesdpError(Exception):
    """Base of every error that bayesdp raises on purpose."""


class InputError(BayesdpError, ValueError):
    """An input is wrong.

    `key` says where (a dotted path such as `budget.epsilon`), `value` what stood there, `expected`
    what would have been accepted, `remedy` what to do. The four make up the message.
    """

    def __init__(
        self, key: str, value: object = None, *, expected: str, remedy: str = "", shown: bool = True
    ) -> None:
        self.key = key
        self.value = value
        self.expected = expected
        self.remedy = remedy
        self.shown = shown
        given = f" is {_short(value)}" if shown else ""
        message = f"{key}{given}: expected {expected}."
        if remedy:
            message += f" {remedy}"
        super().__init__(lines_as_shown(password_hidden(message)))

    def at(self, key: str) -> InputError:
        """The same error about another key, such as the option that somebody wrote."""
        cls = type(self)
        return cls(key, self.value, expected=self.expected, remedy=self.remedy, shown=self.shown)


class UnknownNameError(InputError, KeyError):
    """A name that is not known. The message lists the known names."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show it as a literal


class UnsupportedError(InputError):
    """The input is well formed and asks for something that bayesdp can't soundly do."""


class TableError(InputError):
    """A table can't be opened or read at all (a missing file, a missing column, a wrong type)."""


class LedgerError(InputError):
    """A ledger can't be used: unreadable, read-only, of another version, or of another unit."""


class Refusal(BayesdpError, RuntimeError):
    """The answer is no. Nothing was released and nothing was spent."""


class BudgetExceededError(Refusal):
    """A debit would break a registered reading. The message says what is left and would fit."""


class TableMismatchError(Refusal):
    """The table is not as the study declares it.

    The message is the same whatever was found, because what was found depends on private values;
    the curator sees it with `bayesdp check STUDY --data`. What public columns show is told: an
    average without rows, and groups of other sizes than declared (`group_sizes`).
    """


class FailedError(BayesdpError, RuntimeError):
    """A release failed after its cost had been debited.

    The cost stays spent. What was drawn until then is kept in the ledger; the message says where.
    """


def finite_number(key: str, value: object, *, expected: str, zero: bool = False) -> float:
    """A finite number above 0 as a double; with `zero`, 0 is accepted too.

    Raises `InputError` at `key` for anything else. `expected` is what its message says was
    expected.
    """
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        number = math.inf
    if not (number > 0.0 or (zero and number == 0.0)) or number == math.inf:
        raise InputError(key, value, expected=expected)
    return number


def inner_probability(key: str, value: object, *, example: str = "0.95") -> float:
    """A probability strictly between 0 and 1, such as a confidence, as a double.

    Raises `InputError` at `key` for anything else; `example` is a value that would do.
    """
    number = float(value) if isinstance(value, Real) else math.nan
    if not 0.0 < number < 1.0:
        expected = f"a number strictly between 0 and 1, for example {example}"
        raise InputError(key, value, expected=expected)
    return number


def whole_number(
    key: str,
    value: object,
    *,
    expected: str = "",
    remedy: str = "",
    least: int = 1,
    most: int | None = None,
) -> int:
    """A whole number from `least` to `most` (no limit if `None`); NumPy's integers are accepted.

    Raises `InputError` at `key` for anything else, `True` and 3.0 included. `expected` and `remedy`
    are what its message says; without `expected` it says the limits.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if least <= number and (most is None or number <= most):
            return number
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InputError(key, value, expected=expected or f"a whole number {limits}", remedy=remedy)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`"Did you mean 'x'?"` for the closest known word, or the list of what is known.

    Of more than `MOST_NAMED` words, such as the nodes of a large network, it lists the first `FEW`.
    """
    options = sorted(known)
    most = FEW if len(options) > MOST_NAMED else MOST_NAMED
    return closest(word, options) or f"Known: {first_names(options, most)}."


def closest(word: str, known: Iterable[str]) -> str:
    """`"Did you mean 'x'?"` for the closest known word; empty where none is close.

    For a message that lists what is known already.
    """
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else ""


def unknown_name(where: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """The error for a `name` at the key `where` that is none of `known`.

    It suggests the closest name and lists the first `MOST_NAMED`.
    """
    names = sorted({str(name) for name in known})
    listed = f"Known: {first_names(names)}."
    remedy = f"{closest(str(name), names)} {listed}".lstrip()
    return UnknownNameError(where, name, expected="a known name", remedy=remedy)


def unknown_key(where: str, name: object, known: Iterable[str]) -> InputError:
    """The error for the key `name` of the table at `where` that isn't one of the `known` keys."""
    key = f"{where}.{name}" if where else str(name)
    remedy = did_you_mean(str(name), known)
    return InputError(key, expected="a known key", remedy=remedy, shown=False)


def explain_validation(
    error: ValidationError, model: type[BaseModel], plain: object, key: str
) -> InputError:
    """The first problem of a pydantic `error` as an `InputError` in our wording.

    `model` is what the data `plain` should have made, and `key` is where they stand. Unknown keys
    come first: what is missing beside one is most often that key, misspelt.
    """
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return cause

    def place(problem: Mapping[str, Any]) -> tuple[int | str, ...]:
        outermost, *rest = problem["loc"] or ("",)
        inside = plain.get(outermost) if isinstance(plain, Mapping) else None
        behind = place_of(rest, inside, missing=problem["type"] == "missing")
        return (outermost, *behind) if problem["loc"] else ()

    where = place(first)
    path = key + place_text(where)
    fields = model.model_fields
    if first["type"] == "extra_forbidden":
        return unknown_key(key + place_text(where[:-1]), where[-1], fields)
    if first["type"] == "missing":
        return InputError(path, expected="a value", remedy="It is missing.", shown=False)
    alike = [
        problem
        for problem in problems
        if place(problem) == where and problem["type"] not in ("missing", "extra_forbidden")
    ]
    value = first.get("input")
    field = fields.get(str(where[0])) if len(where) == 1 else None
    said = " ".join(str(problem.get("ctx", {}).get("expected", "")) for problem in alike)
    options = re.findall("'([^']*)'", said)
    remedy = closest(value, options) if isinstance(value, str) else ""
    return InputError(
        path, value, expected=expected_words(alike, field), remedy=remedy or way_out(value, alike)
    )


def not_a_table(key: str, value: object, expected: str) -> InputError:
    """The error for a document at `key` that should be a table of keys, as `expected` says.

    Of a list, such as the rows of a data set that somebody mistook for a model, it shows nothing.
    """
    if isinstance(value, list | tuple):
        expected += f"; this is a list of {len(value)}"
    return InputError(key, value, expected=expected, shown=not isinstance(value, list | tuple))


def check_keys(where: str, given: Iterable[object], known: Collection[str]) -> None:
    """Raises `InputError` for the first key of the table at `where` that isn't `known`."""
    for name in given:
        if name not in known:
            raise unknown_key(where, name, known)


ENCODING = "utf-8-sig"
"""UTF-8, with or without the byte order mark that some programs write before a text."""


def text_of_file(path: Path, key: str, *, expected: str = "a readable file") -> str:
    """The text of a file in UTF-8; a byte order mark before it is not part of it.

    Raises `InputError` at `key` where it can't be read, with what was `expected` before the cause.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode(ENCODING) if len(content) <= MOST_BYTES else ""
    except (OSError, ValueError) as error:
        remedy = "Check the path, and that the file is a text in UTF-8."
        raise InputError(key, str(path), expected=f"{expected} ({error})", remedy=remedy) from None
    if len(content) > MOST_BYTES:
        raise InputError(
            key,
            str(path),
            expected=f"a text of at most {MOST_BYTES >> 20} MiB",
            remedy="Documents have no tables of data; large populations name files of their own.",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


MOST_BYTES = 1 << 26
"""The most bytes of a document. Of this size the worst needs less than 2 GiB and 10 seconds."""


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: object) -> str:
    """A name as a key of TOML: in quotes, unless it may stand without."""
    text = str(name)
    return text if _BARE_KEY.fullmatch(text) else toml_text(text)


def toml_text(text: str) -> str:
    """A text as a string of TOML: JSON's, but for the one character that only TOML escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


MOST_NAMED = 20
"""The most names that a message lists; it says how many more there are."""

FEW = 5
"""How many names a message shows as examples, where a whole list would be too long."""


def first_names(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first names, at most `most`, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def require_shown(text: str, key: str) -> None:
    """Refuse a text of several lines, or with characters that are not shown as they are.

    Certificates repeat it, and no certificate with such a text is valid. Raises `InputError` at
    `key`.
    """
    try:
        visible(text)
    except ValueError:
        raise InputError(
            key,
            text,
            expected="one line of visible letters, without joiners and signs of direction",
        ) from None


def as_shown(text: str) -> str:
    """The text, with escapes for letters that break lines, or hide or turn what is shown."""
    return "".join(
        letter.encode("unicode_escape").decode() if category(letter) in HIDDEN else letter
        for letter in text
    )


def lines_as_shown(text: str) -> str:
    """A text of one or several lines, each `as_shown`: names in it may come from anybody."""
    return text if text.isprintable() else "\n".join(map(as_shown, text.split("\n")))


_MANY_DIGITS = 10**24
"""Whole numbers from here on are shown in short: nobody reads three hundred digits."""


_WITH_PASSWORD = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:/+[^:/?#@\s]*):(?!/)(.*)@", re.DOTALL)
"""A URL with a password, which may hold any sign, also where a path has joined its slashes."""
_NO_PASSWORD = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}|[0-9]+/.*", re.DOTALL)
"""What may stand there else: a variable of the environment, or a port and a path with an @."""


def password_hidden(text: str) -> str:
    """The text with *** for all from the user of a URL to the last @, if a password is there."""
    return _WITH_PASSWORD.sub(
        lambda match: match[0] if _NO_PASSWORD.fullmatch(match[2]) else f"{match[1]}:***@", text
    )


_TABLES = ("pandas", "polars", "pyarrow", "ibis", "pyspark", "duckdb")
"""The libraries whose objects hold or show rows of a table: errors never show what they hold."""
_HOLDS_ROWS = ("columns", "shape", "to_pylist")


def _short(value: object, limit: int = 120) -> str:
    kind = type(value)
    if kind.__module__.partition(".")[0] in _TABLES and any(hasattr(kind, a) for a in _HOLDS_ROWS):
        return f"a {kind.__name__}"
    if isinstance(value, int) and abs(value) >= _MANY_DIGITS:
        return "a number beyond all doubles" if abs(value) >= 2**1024 else f"{value:.6e}"
    try:
        text = repr(value)
    except ValueError:  # whole numbers of thousands of digits have no decimal text
        return "a number of thousands of digits"
    text = password_hidden(text)  # before it is cut, which could leave half a password
    return text if len(text) <= limit else text[: limit - 3] + "..."
