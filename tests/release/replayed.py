"""Releases replayed with the outcomes of another run, and how far they tell two tables apart.

What each sampler is given is noted: the integers before noise, and the scale. A program's first run
draws outcomes at random, and in later runs the same comes out, so that later commands are compared
at the same released values. Losses are those of the mechanisms' laws, from scales and moves alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bayesdp.mechanisms import DiscreteGaussian, ExponentialMechanism
from bayesdp.programs.ir import Release
from bayesdp.programs.run.draws.noise import response
from bayesdp.programs.run.results.program_result import plain
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.release.price.plan import PlannedQuery
from bayesdp.release.programs.planned import PlannedProgram
from bayesdp.release.programs.runs import ProgramRun

ROUNDING = Fraction(1, 10**9)
"""What logarithms in doubles may be off by."""


class Loss(NamedTuple):
    """How far two tables are told apart: in nats, and in zCDP."""

    pure: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def plus(self, other: Loss) -> Loss:
        """Both, one after the other."""
        return Loss(self.pure + other.pure, self.rho + other.rho)


@dataclass(frozen=True)
class Draw:
    """What a sampler was given, and for which release, by its operation and name.

    `price` is what the derivation says that this release costs.
    """

    op: str
    release: str
    price: Loss
    kind: str
    values: Any
    scale: float


@dataclass
class Replayed:
    """Samplers that come out with what is written down; what they draw is written down."""

    random: random.Random
    script: list[Any]
    draws: list[Draw] = field(default_factory=list)
    release: tuple[str, str] = ("", "")
    price: Loss = field(default_factory=Loss)

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return self._come_out("laplace", tuple(values), scale, self._noisy(values, scale))

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return self._come_out("gaussian", tuple(values), scale, self._noisy(values, scale))

    def choose(self, scores: Sequence[int], scale: float) -> int:
        place = self.random.randrange(len(scores))
        return int(self._come_out("choose", (tuple(scores),), scale, place))

    def choose_each(self, scores: Any, scale: float) -> Sequence[int]:
        places = [self.random.randrange(scores.shape[1]) for _ in scores]
        return self._come_out("choose", tuple(map(tuple, scores.tolist())), scale, places)

    def respond(self, codes: Sequence[int], states: int, dp_epsilon: float) -> Sequence[int]:
        answers = [self.random.randrange(states) for _ in codes]
        channel = response(states, dp_epsilon).channel()
        odds = math.log(channel[0][0] / channel[0][1])
        return self._come_out("respond", tuple(codes), odds, answers)

    def _noisy(self, values: Sequence[int], scale: float) -> list[int]:
        reach = max(1, int(self.random.choice([0.1, 1.0, 3.0]) * scale))
        return [value + self.random.randint(-reach, reach) for value in values]

    def _come_out(self, kind: str, values: Any, scale: float, outcome: Any) -> Any:
        at = len(self.draws)
        self.draws.append(Draw(*self.release, self.price, kind, values, scale))
        if at == len(self.script):
            self.script.append(outcome)
        return self.script[at]


def played(
    program: PlannedProgram, rows: Rows, script: list[Any], seed: object
) -> tuple[list[Draw], Mapping[str, Any]]:
    """What a run of a planned program gives to the samplers, and what it releases.

    `rows` are private, as `program_rows` has them; `script` is what comes out, which is empty for
    the first run, whose outcomes `seed` decides.
    """
    run = ProgramRun(program, rows)
    machine, samplers = run.machine, Replayed(random.Random(str(seed)), script)
    machine.samplers = samplers
    release = machine.release

    def noted(command: Release, node: Mapping[str, Any]) -> Any:
        samplers.release = command.op, command.name
        rho = program.gaussian.get(command.name)
        pure = Fraction(0) if rho is not None else Fraction(node["epsilon"])
        samplers.price = Loss(pure, rho or Fraction(0))
        return release(command, node)

    machine.release = noted  # type: ignore[method-assign]
    run.done()  # raises what an answer would keep as its failure: nothing that is paid for fails
    return samplers.draws, {name: plain(value) for name, value in machine.released.items()}


def losses(first: Sequence[Draw], second: Sequence[Draw]) -> Iterator[tuple[Draw, Loss]]:
    """The loss of each release of two runs with the same outcomes.

    Of a search the threshold's noise stands before that of its queries: it costs what they move at
    most over the first scale, and twice over their own (theory 8.5).
    """
    threshold: float | None = None
    for here, there in zip(first, second, strict=True):
        assert (here.release, here.kind, here.scale) == (there.release, there.kind, there.scale)
        if here.kind == "choose":
            pairs = zip(here.values, there.values, strict=True)
            yield here, Loss(sum((chosen(*pair, here.scale) for pair in pairs), Fraction(0)))
            continue
        moves = [abs(x - y) for x, y in zip(here.values, there.values, strict=True)]
        if here.kind == "respond":
            yield here, Loss(sum(map(bool, moves)) * Fraction(here.scale) * (1 - ROUNDING))
        elif here.kind == "gaussian":
            squared = sum(move * move for move in moves)
            yield here, Loss(rho=Fraction(squared) / (2 * Fraction(here.scale) ** 2))
        elif here.op == "above-threshold" and threshold is None:
            assert here.values == there.values == (0,)
            threshold = here.scale
        elif threshold is not None:
            most = Fraction(max(moves))
            yield here, Loss(most / Fraction(threshold) + 2 * most / Fraction(here.scale))
            threshold = None
        else:
            yield here, Loss(sum(moves) / Fraction(here.scale))


def chosen(scores: Sequence[int], others: Sequence[int], scale: float) -> Fraction:
    """How far two softmax draws of this scale, with scores and others, differ: the largest ratio.

    What doubles may be off by is taken off.
    """
    if tuple(scores) == tuple(others):
        return Fraction(0)
    laws = [np.array(list(values), dtype=float) / scale for values in (scores, others)]
    first, second = (law - np.logaddexp.reduce(law) for law in laws)
    return max(Fraction(0), Fraction(float(abs(first - second).max())) - ROUNDING)


# -- the numbers of a study ------------------------------------------------------------------------


def of_query(query: PlannedQuery, first: Any, second: Any) -> Loss:
    """How far a query's noise tells two tables apart, from the noise's own law and scale.

    `first` and `second` are its integers by group, as `test_replay.integers` has them.
    """
    moved = abs(first - second)
    scale = Fraction(query.noise.scale)
    if query.asked.choice is not None:
        most = [Fraction(int(move)) for move in moved.max(axis=1)]
        if isinstance(query.noise, ExponentialMechanism):
            return Loss(rho=sum((move**2 for move in most), Fraction(0)) / (2 * scale**2))
        return Loss(2 * sum(most, Fraction(0)) / scale)
    if isinstance(query.noise, DiscreteGaussian):
        return Loss(rho=Fraction(int((moved**2).sum())) / (2 * scale**2))
    return Loss(Fraction(int(moved.sum())) / scale)


def within(loss: Loss, spent: Loss) -> bool:
    """Whether a loss is at most what is spent, in nats and in zCDP."""
    return loss.pure <= spent.pure and loss.rho <= spent.rho


def total(parts: Sequence[Loss]) -> Loss:
    """All of them, one after the other."""
    whole = Loss()
    for part in parts:
        whole = whole.plus(part)
    return whole


def share(loss: Loss, spent: Loss) -> float:
    """How much of what is spent a loss uses, the larger of both kinds."""
    pairs = zip(loss, spent, strict=True)
    return max((float(used / of_both) for used, of_both in pairs if of_both), default=math.nan)
