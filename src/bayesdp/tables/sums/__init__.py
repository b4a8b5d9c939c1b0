"""Exact integers of a table.

`scan` computes those of all queries at once, `rows` reads whole columns for programs, and
`left_out` counts the rows that do not count, for the curator.
"""
