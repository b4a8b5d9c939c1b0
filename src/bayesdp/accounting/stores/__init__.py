"""Where a ledger is kept.

`store` is how the rest of the package sees it: a file (`storage`), or a schema on a PostgreSQL
server (`server`, named by `server_addresses`), with `roles` of curators and analysts. `verified`
remembers what this process has read, `version_2` brings older files up to the present, and `damage`
is what is said of a damaged ledger.
"""
