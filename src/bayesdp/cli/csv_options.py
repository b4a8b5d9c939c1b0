"""How a CSV file is written, as options of a command: the keys of `[data.csv]` in a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from bayesdp.errors import InputError

if TYPE_CHECKING:
    from bayesdp.tables.source import Table

SeparatorOption = Annotated[
    str | None, typer.Option(help="CSV: the character between two cells, if not as in the header.")
]
DecimalOption = Annotated[
    str | None, typer.Option(help="CSV: the decimal sign of its numbers: . unless given.")
]
ThousandsOption = Annotated[
    str | None, typer.Option(help="CSV: what stands between groups of three digits.")
]
EncodingOption = Annotated[
    str | None, typer.Option(help="CSV: the encoding, such as windows-1252; utf-8 unless given.")
]


def csv_options(
    separator: str | None, decimal: str | None, thousands: str | None, encoding: str | None
) -> dict[str, str]:
    """The options that were given, by their keys in a study."""
    options = {
        "separator": separator,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
    }
    return {key: value for key, value in options.items() if value is not None}


def opened(file: str, csv: Mapping[str, str]) -> Table:
    """The table of public data in a CSV file that is written as these options say.

    Raises `InputError` about the option that is wrong.
    """
    from bayesdp.fitting.numbers_of import public_data
    from bayesdp.tables.csv_dialect import CsvDialect
    from bayesdp.tables.source import open_table

    first = next(iter(csv))
    try:
        with public_data():
            return open_table(file, csv=CsvDialect.of(csv))
    except InputError as error:
        if error.key == "data.csv":
            expected = f"nothing for {file}, which is no CSV file"
            problem = InputError(f"--{first}", csv[first], expected=expected)
        elif error.key.startswith("data.csv."):
            problem = error.at(f"--{error.key.removeprefix('data.csv.')}")
        else:
            raise
    raise problem
