"""A program of the front end as the rules read it: strictly, with its places in the source."""

from __future__ import annotations

from dataclasses import replace

from bayesdp.kernel.programs.reading import Program as Read
from bayesdp.kernel.programs.reading import read_program
from bayesdp.programs.ir import Program, plain


def read(program: Program) -> Read:
    """The program as a certificate would hold it, with the places of its expressions."""
    parsed = read_program(plain(program))
    placed = replace(parsed, requires=program.requires, body=program.body, returns=program.returns)
    assert placed == parsed
    return placed
