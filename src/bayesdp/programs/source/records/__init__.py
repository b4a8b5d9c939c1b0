"""Private records: their columns and values, and what a person's rows are folded to.

`rows` are records. `group_by` makes records of several rows, `person_rows` are what is folded of
them. `bounded` says where the values of rows lie.
"""
