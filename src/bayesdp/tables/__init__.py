"""Data behind Ibis: roles of columns, checks against the declarations, exact sums.

`source` opens a table, wherever it is. Each of the rooms imports only those above it in this list.
Import from their modules: the packages load nothing.

* `literals`: values of a study in the data engine; `refusals`: what everybody learns of a bad
  table, and what only the curator learns.
* `columns`: what a study declares about its columns, and the language of `where`.
* `files`: readers of CSV, Parquet, Excel and statistics files, and of tables in memory.
* `engines`: DuckDB, PostgreSQL and Spark, and what each of them needs to give the same numbers.
* `cells`: what cells mean: missing values, dates, orders; wide tables, joins.
* `queries`: what is summed, as data, and the integer grid.
* `checks`: a table against its declaration; which rows of a record count.
* `sums`: every query's exact integers from one scan; whole columns for programs.
"""
