"""What each query reads and how it may change: everything but its price.

* `from_spec` makes of a query of the study file an `AskedQuery` (`asked_query`): of the rows that
  it is about (`asked_rows`) and of what its integers are made of, by its kind (`asked_values`).
* A kind of query each: `quantiles` (what one is chosen among) and `quantile_lists` (several at
  once), `series` (of periods), `products` (of columns: covariances, regressions), `weighted`
  (survey weights), `collected` (answers perturbed at collection), `found_groups` (counts by groups
  that nobody declared). Programs have a room of their own.
* Groups and cells: `histogram_cells`, and `crossed_columns` for those told by several columns.
* `public_blocks` has the part of the table in which all rows of a query lie, `record_rows` how
  many rows of a record count.
"""
