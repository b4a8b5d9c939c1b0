"""Releases: what is drawn, and so costs something.

`noise` on numbers and answers of records; `choices` among `candidates` by a score; `thresholds` for
the first of several queries that is above one.
"""
