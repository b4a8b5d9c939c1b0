"""The true law of what a program samples, for tests and the falsifier. Private: never shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesdp.errors import InputError
from bayesdp.programs.check.verdict import Verdict
from bayesdp.programs.ir import Program, Release
from bayesdp.programs.run.machine import Machine
from bayesdp.programs.run.noise import OpenDP
from bayesdp.programs.run.readiness import ready
from bayesdp.programs.run.table import load


def exponential_channel(
    program: Program, verdict: Verdict, source: object
) -> tuple[Sequence[Any], tuple[float, ...]]:
    """Candidates and their probabilities: of the very scores and scale that the sampler is given.

    The program's first command is `exponential` or `posterior_sample`.
    """
    rows = load(program, source)
    ready(program, verdict, rows)
    command, node = program.body[0], verdict.derivation["sequence"][0]
    if not isinstance(command, Release) or command.op not in ("exponential", "posterior-sample"):
        raise InputError(
            "program", program.name, expected="a program that chooses in its first command"
        )
    found = Machine(program, verdict, rows, OpenDP()).selection(command, node)
    return found.candidates, found.probabilities()
