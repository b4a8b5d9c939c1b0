"""Expressions: arithmetic, conditions, tuples, generators and the functions of values and of rows.

* Of numbers and truth values: `arithmetic`, `conditions`, `functions`, `clipping`.
* Of what is known beforehand: `sequences` (tuples, ranges, pieces of a partition), `dictionaries`,
  `categories`, `labels` (choices among texts), `helpers` (written out where they are called).
* Of rows: `generators`, `aggregates`, `transitions`.
"""
