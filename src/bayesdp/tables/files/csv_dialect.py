"""How a CSV file is written, where it isn't as usual: `[data.csv]` of a study.

Public names: `CsvDialect`, `USUAL`, `is_csv`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bayesdp.errors import InputError, closest, did_you_mean, first_names

SUFFIXES_OF_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_KEY = "data.csv"
_DECIMALS = (".", ",")
_THOUSANDS = (",", ".", "'", "\u2019", " ")
_NUMBERED = [*(f"iso-8859-{i}" for i in range(1, 17) if i != 12)]
_ENCODINGS = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "latin-1",
    *(f"windows-125{i}" for i in range(9)),
    *_NUMBERED,
)
"""Encodings in which each text is written in one way; Python's decoders refuse all others bytes."""


class CsvDialect(BaseModel):
    """How the cells of CSV files are separated, encoded, and how their numbers are written.

    `separator` is one character between two cells; by default the header line shows it. `decimal`
    stands before the decimals of a number, and `thousands` between groups of three digits ("":
    nothing does; a space stands for the narrow spaces too). `encoding` is that of the file.
    Raises `InputError` at `data.csv` and the key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    separator: str | None = None
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"

    @classmethod
    def of(cls, plain: object) -> CsvDialect:
        """The dialect that the table `[data.csv]` of a study declares.

        Raises `InputError` for a key or a value that no file is written with.
        """
        if isinstance(plain, CsvDialect):
            return plain
        if not isinstance(plain, Mapping):
            raise InputError(
                _KEY, plain, expected='a table such as { separator = ";", decimal = "," }'
            )
        for key, value in plain.items():
            if key not in cls.model_fields:
                remedy = did_you_mean(str(key), cls.model_fields)
                raise InputError(f"{_KEY}.{key}", value, expected="a known key", remedy=remedy)
        try:
            dialect = cls.model_validate(dict(plain))
        except ValidationError as error:
            problem = error.errors()[0]
            key = ".".join([_KEY, *(str(part) for part in problem["loc"][:1])])
            raise InputError(key, problem.get("input"), expected="a text") from None
        return dialect._checked()

    def _checked(self) -> CsvDialect:
        """The same dialect. `InputError` for a value that a file can't be written with."""
        if self.separator is not None and (
            len(self.separator) != 1
            or self.separator.isalnum()
            or self.separator in "\"\n\r '+-._\ufeff"
            or not (self.separator.isprintable() or self.separator == "\t")
        ):
            raise InputError(
                f"{_KEY}.separator",
                self.separator,
                expected=r"the character between two cells, such as ';', ',', '|' or '\t' (a tab)",
            )
        _require(self.decimal in _DECIMALS, "decimal", self.decimal, "'.' or ','")
        _require(
            self.thousands in ("", *_THOUSANDS) and self.thousands != self.decimal,
            "thousands",
            self.thousands,
            f"one of {first_names(_THOUSANDS)}, other than the decimal sign {self.decimal!r}",
            "Leave it out where nothing stands between the groups of three digits.",
        )
        _require(
            self.encoding.lower() in _ENCODINGS,
            "encoding",
            self.encoding,
            "'utf-8', 'utf-16', 'latin-1', 'windows-1252' or another of these families",
            closest(self.encoding.lower(), _ENCODINGS) or "Or save the file as UTF-8.",
        )
        return self

    @property
    def codec(self) -> str:
        """Python's name of the encoding."""
        return self.encoding.lower()

    @property
    def is_utf8(self) -> bool:
        """Whether the files are UTF-8, which the engine reads itself."""
        return self.codec == "utf-8"

    @property
    def has_plain_numbers(self) -> bool:
        """Whether numbers are written as the engine reads them."""
        return self.decimal == "." and not self.thousands


def _require(condition: bool, key: str, value: Any, expected: str, remedy: str = "") -> None:
    if not condition:
        raise InputError(f"{_KEY}.{key}", value, expected=expected, remedy=remedy)


USUAL = CsvDialect()
"""UTF-8, with a separator that the header line shows, and numbers such as -1.5."""


def is_csv(source: str) -> bool:
    """Whether a text names CSV files as a source."""
    return "::" not in source and "://" not in source and source.lower().endswith(SUFFIXES_OF_CSV)
