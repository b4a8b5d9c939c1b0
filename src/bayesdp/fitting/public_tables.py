"""Tables of public data whose files are not as usual: how they are written, and codes in them.

Public name: `public_table`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bayesdp.errors import InputError
from bayesdp.fitting.numbers_of import public_data, require_column
from bayesdp.statements.columns import Value
from bayesdp.tables.columns.missing_codes import read_codes
from bayesdp.tables.files.csv_dialect import CsvDialect
from bayesdp.tables.source import Table, open_table


def public_table(
    source: object,
    *,
    csv: Mapping[str, str] | None = None,
    codes: Mapping[str, Sequence[Value]] | None = None,
) -> Table:
    """A table of public data, for any of the fits, where a study would declare more than its name.

    `source` is a path or a data frame; `csv` says how CSV files are written, with the keys of
    `[data.csv]` in a study, and `codes` has for each column the cells that are missing values, as
    the key of this name in a study. Raises `InputError` for what can't be read.
    """
    with public_data():
        table = open_table(source, csv=CsvDialect.of(csv or {}))
        known = {}
        for name, cells in (codes or {}).items():
            require_column(table, name, "codes")
            try:
                known[name] = read_codes(name, cells)
            except InputError as error:
                raise error.at("codes") from None
    return replace(table, codes=known)
