"""Programs from texts, and samplers that note what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesdp.arrays import Ints
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.ir import Program, Release
from bayesdp.programs.language_names import SURFACE
from bayesdp.programs.run import Machine, OpenDP, ProgramResult, Rows, Samplers, load
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.source import core_of, read_text

IMPORTS = f"from bayesdp.programs import {', '.join(sorted(SURFACE))}\n"


def accepted(
    text: str, n: int | None = None, **parameters: object
) -> tuple[Program, ProgramVerdict]:
    """The program of a text, which must be accepted."""
    core = core_of(read_text(IMPORTS + text, "test"), None, parameters)
    verdict = check(core, n)
    assert verdict.verdict == "ACCEPTED", verdict
    return core, verdict


def run_on(
    program: Program, verdict: ProgramVerdict, rows: Rows, *, samplers: Samplers | None = None
) -> ProgramResult:
    """Run an accepted program once on its rows. Nothing is debited.

    `samplers` replaces OpenDP's noise. Raises `Refusal` for a verdict other than ACCEPTED, and
    `InputError` where the public preconditions don't hold.
    """
    ready(program, verdict, rows)
    return Machine(program, verdict, rows, samplers or OpenDP()).run()


def exponential_channel(
    program: Program, verdict: ProgramVerdict, source: object
) -> tuple[Sequence[Any], tuple[float, ...]]:
    """Candidates and their probabilities: of the very scores and scale that the sampler is given.

    The program's first command is `exponential` or `posterior_sample`.
    """
    rows = load(program, source)
    ready(program, verdict, rows)
    command, node = program.body[0], verdict.derivation["sequence"][0]
    assert isinstance(command, Release)
    assert command.op in ("exponential", "posterior-sample")
    actual = Machine(program, verdict, rows, OpenDP()).selection(command, node)
    return actual.candidates, actual.probabilities()


@dataclass
class Noted:
    """Adds no noise (or the noise that is given), and notes values and scales."""

    shift: int = 0
    pick: int = 0
    seen: list[tuple[str, tuple[int, ...], float]] = field(default_factory=list)

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        self.seen.append(("laplace", tuple(values), scale))
        return [value + self.shift for value in values]

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        self.seen.append(("gaussian", tuple(values), scale))
        return [value + self.shift for value in values]

    def choose(self, scores: Sequence[int], scale: float) -> int:
        self.seen.append(("choose", tuple(scores), scale))
        return self.pick

    def choose_each(self, scores: Ints, scale: float) -> Sequence[int]:
        return [self.choose(row.tolist(), scale) for row in scores]

    def respond(self, codes: Sequence[int], states: int, dp_epsilon: float) -> Sequence[int]:
        self.seen.append(("respond", tuple(codes), dp_epsilon))
        return list(codes)


def seen(
    program: Program, verdict: ProgramVerdict, table: object
) -> list[tuple[str, tuple[int, ...], float]]:
    """What the samplers are given when the program runs."""
    noted = Noted()
    run_on(program, verdict, load(program, table), samplers=noted)
    return noted.seen


def done(
    program: Program, verdict: ProgramVerdict, table: object, noted: Noted | None = None
) -> ProgramResult:
    """A run without noise."""
    return run_on(program, verdict, load(program, table), samplers=noted or Noted())


def rng(seed: int = 0) -> np.random.Generator:
    """A generator for a test's data."""
    return np.random.default_rng(seed)
