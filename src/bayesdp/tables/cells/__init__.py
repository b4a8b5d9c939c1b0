"""What the cells of a table mean.

`stored` has cells as a table stores them, `times` the dates, times and durations among them,
`text_numbers` numbers as CSV cells write them, `order_keys` the places of records in a series.
`reading` reads a declared column: its clean values, and what is wrong with a row. `wide` makes a
row of each record of a row, and `joins` adds cells of public tables.
"""
