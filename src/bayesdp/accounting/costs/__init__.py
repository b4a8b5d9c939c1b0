"""What is spent, and what it adds up to.

`spend` has the cost of a query (`field_checks` of its fields), `blocks` those on a public column,
`readings` how a data set's spends are to be read. `composition` adds up at the DP level and
converts once; `delta_composition` has mechanisms of epsilon and delta, `deltas` whether a reading
has room for them, `odometer` what is spent in memory, and `rounded` what is left, in words.
"""
