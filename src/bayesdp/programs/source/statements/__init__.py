"""Statements: what stands on lines of its own.

`assignments` (with preconditions), `loops`, `branches` (whose values are `joins`), and `results`
(what a program returns).
"""
