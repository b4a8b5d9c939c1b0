"""What is summed over a table.

`query` has it as data, `checks` says which columns it may read; `grid` is the integer grid of
theory 6, and `grids` those of columns whose values are multiplied.
"""
