"""The engines that hold tables: all of them give the same integers.

`engine` says what a table needs of one. `duckdb_engine` is the reference. `postgres_engine` has
`postgres_urls` and `postgres_compiler` (the values that DuckDB computes, in PostgreSQL's words),
`spark_engine` has `spark_urls` and `spark_compiler`. `operations` lists what all of them agree on,
and `public_rows` takes public tables to an engine.
"""
