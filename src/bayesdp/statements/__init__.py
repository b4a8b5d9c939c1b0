"""What can be said, from a column to a certificate: strict frozen data with one reading each.

A statement is plain data that was read once, here, and can't be read in two ways: unknown keys,
keys of two forms at once, numbers that are not finite, truth values in place of numbers, and sizes
that disagree are all refused with `StatementError`. Nothing is computed and no file is opened.

`read_population` and `read_columns` are the doors for declarations, `certificates.read_certificate`
is the one for certificates: nothing that they refuse can be certified, and no rule of the kernel
reads plain data beside them. Programs, too, are read there: `program_documents` (commands and
expressions, `program`; `program_models` lists likelihoods and priors) and `program_steps` (the
derivation of their cost). `NotKnownError` is for
what may mean something that nobody here reads.

* What all share: `base` (strictness, words, numbers), `wording` (of what was expected), `tables`
  (nested arrays, graphs as lists), `times` (steps and formats of dates).
* Populations: `populations`, from the forms in `chains`, `panels`, `gaussian`, `graphs`
  and `networks`.
* Tables: `columns` (`column_sets`: all of them together), `conditions` (the grammar of `where`),
  `queries`, `outputs` of programs.
* Certificates: `certificates`, from `claims`, `results`, the derivations in `steps`, `conversions`
  and `costs`, the `spends` of a ledger, and the `assumptions` in words.
"""

from __future__ import annotations

from bayesdp.statements.base import Statement, StatementError
from bayesdp.statements.column_sets import label, read_columns
from bayesdp.statements.columns import Column
from bayesdp.statements.populations import Population, read_population

__all__ = [
    "Column",
    "Population",
    "Statement",
    "StatementError",
    "label",
    "read_columns",
    "read_population",
]
