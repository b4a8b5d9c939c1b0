"""Private records: their columns and values, and what a person's rows are folded to.

`rows` are records, `persons` records of several rows. `bounded` says where the values of rows lie.
"""
