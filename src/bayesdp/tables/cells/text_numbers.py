"""Numbers as CSV cells write them: with a decimal point, or as the study's `[data.csv]` declares.

Public names: `number_of`, `comma_remedy`.
"""

from __future__ import annotations

from typing import Any

from bayesdp.tables.files.csv_dialect import CsvDialect
from bayesdp.tables.source import Table

_THIN_SPACES = " \u00a0\u2009\u202f"
"""Spaces that stand between groups of digits: typography has narrow ones for it."""
_WITH_COMMA = "^[+-]?[0-9]+(?:[. ][0-9]{3})*,[0-9]+$"
_IN_GROUPS = "^[+-]?[0-9]{1,3}(?:[. '][0-9]{3})+(?:,[0-9]+)?$"


def number_of(csv: CsvDialect, text: Any) -> Any:
    """The number that a text cell is, as a double; NULL for any other text.

    The engine would read "1_000" as 1000.
    """
    import ibis

    if csv.has_plain_numbers:
        return ibis.cases((~text.contains("_"), text.try_cast("float64")))
    between = f"[{_THIN_SPACES}]" if csv.thousands == " " else f"[{csv.thousands}]"
    whole = "[0-9]+"
    if csv.thousands:
        whole += f"|[0-9]{{1,3}}(?:{between}[0-9]{{3}})+"
    mark = f"[{csv.decimal}]"
    written = f"^[+-]?(?:(?:{whole})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"
    usual = text.re_replace(between, "") if csv.thousands else text
    usual = usual.replace(csv.decimal, ".")
    return ibis.cases((text.re_search(written), usual.try_cast("float64")))


def comma_remedy(table: Table, raw: Any) -> str:
    """What to declare where cells that are not numbers are numbers with a comma; else nothing.

    `raw` are the cells of one column. Private: for the curator only.
    """
    csv = table.csv
    if not table.text_cells or csv.thousands:
        return ""
    cells = raw.strip().name("cells").as_table()
    pattern = _WITH_COMMA if csv.has_plain_numbers else _IN_GROUPS
    if not table.numbers(cells, cells.count(where=cells.cells.re_search(pattern)))[0]:
        return ""
    if csv.has_plain_numbers:
        return (
            ' Numbers with a comma are among them: write decimal = "," below [data.csv], or '
            'thousands = "," if it stands between thousands.'
        )
    return (
        " Numbers in groups of three digits are among them: write what stands between the groups "
        'below [data.csv], such as thousands = ".".'
    )
