"""From a table to the columns and rows that a program reads.

`loading` makes the `columns` that the program's record declares, with `persons` where a record is
several rows. `rows` are expressions over all rows, `folds` go over them one by one, and
`transitions` are of rows that follow each other.
"""
