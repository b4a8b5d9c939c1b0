"""How a CSV file is written, as options of a command: the keys of `[data.csv]` in a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from bayesdp.errors import InputError

CodesOption = Annotated[
    str | None,
    typer.Option(metavar="VALUES", help="Cells of --column that are missing, as in -9,999."),
]
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


def opened(file: str, csv: Mapping[str, str], codes: Mapping[str, list[str]]) -> Any:
    """The table of public data in a file that is written as these options say.

    `codes` are the codes of missing values in its columns. Raises `InputError` about the option
    that is wrong.
    """
    from bayesdp.fitting import public_table

    try:
        return public_table(file, csv=csv, codes=codes)
    except InputError as error:
        if error.key == "data.csv":
            first = next(iter(csv))
            expected = f"nothing for {file}, which is no CSV file"
            problem = InputError(f"--{first}", csv[first], expected=expected)
        elif error.key.startswith("data.csv."):
            problem = error.at(f"--{error.key.removeprefix('data.csv.')}")
        elif error.key == "codes":
            problem = error.at("--codes")
        else:
            raise
    raise problem
