"""Data behind Ibis: roles of columns, checks against the declarations, exact sums.

`columns` says what a study declares, `source` opens a table, `predicates` is the language of
`where`, `grid` the integer grid, `checks` compares a table with the declarations (for the curator),
and `sums` computes every query's exact integers. Import from those modules: this package loads
nothing.

* Declarations: `declarations` reads all columns of a study together, `column_checks` the keys of
  each, `missing_codes` what stands for a missing value; `column_keys` is what the readers of single
  keys share.
* Engines: `engine` (what a table needs of one), `duckdb_engine`, `postgres_engine` with
  `postgres_urls` and `postgres_compiler` (the values that DuckDB computes, in PostgreSQL's words),
  `spark_engine` with `spark_urls` and `spark_compiler`; `operations` lists those that
  agree on all.
* Sources: `csv_files` (as texts), `csv_dialect` (how they are written), `parquet_files` (one type
  for each column of several files), `excel_files` (as texts too), `statistics_files` (of Stata,
  SPSS and SAS, with `value_labels`), `frames` (tables in memory, through Arrow), `other_files`
  (what to do with those that are not read), `wide` (makes a row of each record of a row), `joins`
  (with public tables; `public_rows` go to other engines).
* Structure: `structure` says what the population expects, `series_checks` what differs in series.
* Cells: `cells` (as they are stored), `times` (dates, times and durations among them), `reading` (a
  declared column's clean values, and what is wrong with a row), `text_numbers` (numbers as CSV
  cells write them), `rows` (whole columns, for programs), `literals` (values of a study in the data
  engine), `order_keys` (the places of records in a series).
* Persons of several rows: `record_rows` (which of the rows count), `left_out` (how many do not, for
  the curator).
* Queries and refusals: `queries` (what is summed, as data), `query_checks` (which columns they may
  read), `grids` (of columns whose values are multiplied), `supports` (what the population rules
  out), `refusals` (what everybody learns of a bad table, and what only the curator learns).
"""
