"""Certificates of releases.

`release` has the claims and the data set, `declaration` what the release declares, `noise_steps`
what its queries of numbers cost and `program_queries` those that are programs, `levels` the level
of its spends. Of what is shown, `results` holds numbers, `row_counts` public numbers of rows, and
`program_results` those of programs against what is due.
"""
