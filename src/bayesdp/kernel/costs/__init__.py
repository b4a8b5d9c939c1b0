"""What queries cost: how far one record moves them, and how costs add up.

`queries` has what a query reads and its sensitivity, `series` those of periods, `blocks` of public
columns, `collected` answers that were perturbed one by one, and `found_groups` groups that nobody
declared. `composition` adds up: exact sums by kind of mechanism, and what one record pays.
"""
