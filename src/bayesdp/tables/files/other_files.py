"""What to do with files of kinds that are not read.

Public name: `remedy_for`.
"""

from __future__ import annotations

_SPREADSHEET = "Save it as .xlsx or CSV in a spreadsheet program."
_JSON = (
    "Its cells have no types that are stated before they are read. Write it as Parquet, by DuckDB: "
    "COPY (FROM 'table.jsonl') TO 'table.parquet'."
)
_TEXT = "If its first line names the columns, rename it to .csv; [data.csv] says how it is written."
_R = "In R: arrow::write_parquet(table, 'table.parquet')."
_REMEDIES = {
    **dict.fromkeys((".xls", ".xlsm", ".xlsb", ".ods", ".numbers"), _SPREADSHEET),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _JSON),
    **dict.fromkeys((".txt", ".dat", ".tab", ".psv"), _TEXT),
    **dict.fromkeys((".rds", ".rda", ".rdata"), _R),
    ".por": "Save it as .sav in SPSS.",
    ".zip": "Unpack it, and name the file that was in it.",
    ".feather": "In Python: pass the table that pyarrow.feather.read_table reads.",
    ".sas7bcat": "It holds value labels only: name the .sas7bdat file with the table.",
}


def remedy_for(source: str) -> str:
    """What to do with a file whose name ends like this."""
    for suffix, remedy in _REMEDIES.items():
        if source.lower().endswith(suffix):
            return remedy
    return (
        "Export other kinds of files to one of these. A DuckDB table is written file.duckdb::table."
    )
