"""Data behind Ibis on DuckDB: roles of columns, checks against the declarations, exact sums.

`columns` says what a study declares, `source` opens a table, `predicates` is the language of
`where`, `grid` the integer grid, `checks` compares a table with the declarations (for the curator),
and `sums` computes every query's exact integers. Import from those modules: this package loads
nothing.
"""
