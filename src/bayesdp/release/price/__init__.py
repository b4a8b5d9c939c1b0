"""What a study costs, known before any data are touched.

* `noise` has the two kinds of noise and what each needs to be priced; `planned_query` is a query
  with its noise.
* `pricing` finds the costs, with `size_remedies` where the number of rows is unknown; `plan` has
  all queries and programs of a study together.
"""
