"""The way of a program through a run: refused or ready, debited, run once, stored.

`session` is the whole way. `readiness` refuses what can be refused before the debit, `spends` is
what the ledger keeps. `machine` runs the commands; `predictive` has distributions of released
numbers, and new records. `terminal_sign` shows that a long release is at work.
"""
