"""Files of tables, and tables in memory.

`csv_files` (as texts) and `csv_dialect` (how they are written), `parquet_files` (one type for each
column of several files), `excel_files` (as texts too), `statistics_files` (of Stata, SPSS and SAS,
with `value_labels`), `frames` (tables in memory, through Arrow), and `other_files` (what to do with
those that are not read).
"""
