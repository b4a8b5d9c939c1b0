"""Queries that are programs.

* Before any data: `planned` has the verdict and the cost, `fields` holds a program's record against
  the study's columns, `outputs` says what its outputs are called and in which units they come.
* `runs` runs one, and `answers` is what it hands over.

Their files are read in `spec`.
"""
