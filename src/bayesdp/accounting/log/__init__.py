"""Entries of a ledger, which may only be added to.

`entries` are chained by hash; `contents` says what they say, `schema` has the tables that keep
them. `exchange` writes them as lines of a file, `against` holds them against certificates.

Lists: `listing` (as data), `trail` (in their order), `chosen` (some of them), `shown` (in
notebooks).
"""
