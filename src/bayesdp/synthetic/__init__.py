"""Synthetic tables from released counts. It costs nothing: only released documents are read.

* `releases` reads certificates, verifies them, and holds them to be of one data set.
* `attributes` says what values the columns of the table can have, as far as the queries tell them
  apart: states, and intervals between bounds, bins, cuts and numbers in conditions.
* `marginals` reads released counts as sums over combinations of those values, with their error.
* `estimate` fits a distribution to all of them (the library mbi, extra `synthetic`) and draws rows.
* `synthesis` is `bayesdp.synthesize`; `note` writes down what a table is made of.

No file here opens a table or a ledger: what is private can't reach a synthetic table except through
numbers that were released, and that a certificate accounts for.
"""

from __future__ import annotations

from bayesdp.synthetic.synthesis import synthesize

__all__ = ["synthesize"]
