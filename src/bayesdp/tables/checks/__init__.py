"""A table against what the study declares, and which of its rows count.

`findings` compares the two, for the curator only. `structure` says what the population expects of
a table, `series` what differs in series, `supports` what the population rules out. `record_rows`
decides which rows count of a record that has several.
"""
