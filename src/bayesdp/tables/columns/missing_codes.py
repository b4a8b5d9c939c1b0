"""Missing values of a column: refused or imputed, and the codes that stand for them in its cells.

    { bounds = [140, 210], missing = { codes = [-9, 98, 999], impute = 170 } }

A code is a number or a text. In a column of numbers `"-9"`, `-9` and `-9.0` are one code, and cells
are compared as numbers; any other text, such as `"k.A."`, is compared with the cell's text without
spaces around it. A cell that is a code is missing and nothing else, also where it lies within the
bounds.

Public names: `Impute`, `RefuseMissing`, `read_missing`, `read_codes`, `check_missing`, `marked`.

**Missing values** are values: dropping them would change n, which is public. They are refused, or
replaced by a value chosen without looking at the data.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from bayesdp.errors import require_shown
from bayesdp.statements.columns import Value
from bayesdp.statements.conditions import is_time, value_kind
from bayesdp.statements.times import days_of
from bayesdp.tables.columns.keys import finite, refuse
from bayesdp.tables.literals import literal

_MOST_EXACT = 2**53
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?")
_LIKE_A_NUMBER = re.compile(r"[-+0-9.,' ]*[0-9][-+0-9.,' eE]*")


class Impute(BaseModel):
    """The value that replaces a missing one, chosen without looking at the data.

    Cells that are one of the `codes` are missing too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    impute: Value
    codes: tuple[Value, ...] = ()


class RefuseMissing(BaseModel):
    """Cells that are one of the `codes` are missing, and missing values are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    codes: tuple[Value, ...]


def read_missing(name: str, value: object) -> Impute | RefuseMissing | str:
    """The key `missing` of the column `name`. Raises `InputError` for what it can't be."""
    if value == "refuse" or isinstance(value, Impute | RefuseMissing):
        return value
    if not isinstance(value, Mapping) or not value or not set(value) <= {"impute", "codes"}:
        refuse(
            name,
            "missing",
            value,
            "'refuse', { impute = value }, { codes = [...] } or both keys",
            "For example missing = { codes = [-9, 999], impute = 0 }.",
        )
    codes = read_codes(name, value["codes"]) if "codes" in value else ()
    if "impute" not in value:
        return RefuseMissing(codes=codes)
    imputed = value["impute"]
    if not isinstance(imputed, bool | int | str):
        imputed = finite(name, "missing.impute", imputed)
    return Impute(impute=imputed, codes=codes)


def read_codes(name: str, value: object) -> tuple[Value, ...]:
    """The codes of missing values in the column `name`. Raises `InputError` for other values."""
    key = "missing.codes"
    if not isinstance(value, list | tuple) or not value:
        refuse(name, key, value, "a list of at least one code, such as [-9, 999]")
    for code in value:
        if isinstance(code, str):
            require_shown(code, f"data.columns.{name}.{key}")
            if not code.strip():
                refuse(name, key, code, "no empty text: an empty cell is missing anyway")
        elif abs(finite(name, key, code)) >= _MOST_EXACT:
            refuse(name, key, code, "numbers below 2^53, which doubles tell apart")
    if len({_compared(code) for code in value}) < len(value):
        refuse(name, key, list(value), "each code once")
    return tuple(value)


def _compared(code: Value) -> float | str:
    """A code as it is compared with cells of numbers: a number, or a text without spaces."""
    if not isinstance(code, str):
        return float(code)
    text = code.strip()
    return float(text) if _NUMBER.fullmatch(text) else text


def check_missing(name: str, raw: Mapping[str, Any]) -> Impute | RefuseMissing | str:
    """The key `missing` of the declaration `raw`, whose codes are held against the rest of it.

    Codes that are numbers in quotes are numbers, in a column of numbers. Raises `InputError`.
    """
    missing: Impute | RefuseMissing | str = raw.get("missing", "refuse")
    if isinstance(missing, str) or not missing.codes:
        return missing
    key, codes = "missing.codes", missing.codes
    if "role" in raw or not any(part in raw for part in ("bounds", "states", "from")):
        refuse(
            name,
            key,
            list(codes),
            "no codes: only columns with bounds, states or a derivation have some",
            "Leave out the rows of unknown clusters, series and positions before the study.",
        )
    states: Sequence[Value] = raw.get("states", ())
    if states and value_kind(states[0]) != "number":
        for code in codes:
            if not isinstance(code, str):
                refuse(name, key, code, "texts, as its cells are", f'Write "{code}".')
        cells = {str(state).strip() for state in states if isinstance(state, str)}
        cells |= {str(state).lower() for state in states if isinstance(state, bool)}
        both = [code for code in codes if str(code).strip() in cells]
    else:
        if "where" not in raw and not raw.get("is_date") and not raw.get("is_duration"):
            codes = tuple(_number(name, code) for code in codes)
        both = [code for code in codes if code in states]
    if both:
        refuse(name, key, both[0], "no declared state", "A code always means a missing value.")
    if isinstance(missing, Impute) and missing.impute in codes:
        refuse(name, "missing.impute", missing.impute, "another value than the codes")
    return missing.model_copy(update={"codes": codes})


def _number(name: str, code: Value) -> Value:
    """The code of a column of numbers. Refuses texts that may mean another number than they say."""
    if not isinstance(code, str) or isinstance(number := _compared(code), str):
        if isinstance(code, str) and _LIKE_A_NUMBER.fullmatch(code):
            refuse(name, "missing.codes", code, "a number", "Write it as in codes = [-9.5].")
        return code
    if abs(number) >= _MOST_EXACT:
        refuse(name, "missing.codes", code, "numbers below 2^53, which doubles tell apart")
    return int(number) if number.is_integer() else number


def marked(raw: Any, value: Any, codes: Sequence[Value], *, dates: bool) -> Any | None:
    """Which cells are one of the `codes`, as an expression; `None` where there are no codes.

    `raw` are the cells as they are stored, `value` is what they are read as; `dates` as numbers.
    """
    tests = list(_tests(raw, value, codes, dates)) if codes else []
    if not tests:
        return None
    return functools.reduce(lambda x, y: x | y, tests).fill_null(False)


def _tests(raw: Any, value: Any, codes: Sequence[Value], dates: bool) -> Iterator[Any]:
    texts = {code.strip() for code in codes if isinstance(code, str)}
    stored = raw.type()
    if dates:
        whole = {str(int(code)) for code in codes if not isinstance(code, str)}
        if stored.is_string() or stored.is_integer():
            yield raw.cast("string").strip().isin(sorted(texts | whole))
        days = [days_of(datetime.fromisoformat(text)) for text in texts if is_time(text)]
        if days:
            yield value.isin([literal(day) for day in days])
        return
    if stored.is_string() and texts:
        yield raw.strip().isin(sorted(texts))
    numbers = {number for code in codes if not isinstance(number := _compared(code), str)}
    if value.type().is_numeric() and numbers:
        if stored.is_float32():  # whose cells hold the nearest number of this type
            numbers |= {struct.unpack("f", struct.pack("f", number))[0] for number in numbers}
        yield value.isin([literal(number) for number in sorted(numbers)])
