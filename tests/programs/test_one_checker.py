"""The checker against its predecessor, an oracle with rules of its own, on random programs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayesdp.kernel.programs.ranges import folded
from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import Expr, Program, Release, expression
from tests.effort import runs
from tests.kernel.programs import number, random_program
from tests.oracles.program_checker.verdict import check as oracle
from tests.programs import test_cases as conditions

Rng = np.random.Generator


def with_conditions(rng: Rng) -> Program:
    """One release of sums with many conditions."""
    maker = conditions.Maker(rng) if rng.random() < 0.7 else conditions.Odd(rng)
    value = maker.value()
    options: tuple[tuple[str, Expr], ...] = (("epsilon", number(1)),)
    op = "laplace"
    if rng.random() < 0.4:
        op, options = "gaussian", (("delta", number(Fraction(1, 10**6))), *options)
    adjacency = "replace-one" if rng.random() < 0.7 else "add-remove"
    program = conditions.program(value, adjacency)
    release = Release("r", op, (value,), options)
    return replace(program, body=(release,), returns=(), return_types=())


def agrees(program: Program) -> str:
    """The verdict of both, with costs and kinds; no stated sensitivity is above the oracle's."""
    old, new = oracle(program), check(program)
    answers = [(item.verdict, item.dp_epsilon, item.dp_delta, item.kind) for item in (old, new)]
    assert answers[0] == answers[1], (program, old.code, old.reason, new.code, new.reason)
    if old.verdict != "ACCEPTED":
        assert (old.code, old.where) == (new.code, new.where), (program, old.reason, new.reason)
    for theirs, ours in zip(stated(old.derivation), stated(new.derivation), strict=True):
        assert ours is None or theirs is None or ours <= theirs, program
    return new.verdict


def stated(node: Any) -> list[Fraction | None]:
    """Every sensitivity of a derivation, in order; None for one that depends on the size."""
    if isinstance(node, list):
        return [value for part in node for value in stated(part)]
    if not isinstance(node, dict):
        return []
    own = [folded(expression(node["sensitivity"]["value"]))] if "sensitivity" in node else []
    return own + [value for part in node.values() for value in stated(part)]


@pytest.mark.prove
@pytest.mark.parametrize("make", [random_program, with_conditions])
def test_random_programs_have_the_verdicts_that_the_oracle_gives(make: Any) -> None:
    rng = np.random.default_rng(17)
    said = [agrees(make(rng)) for _ in range(runs(4000))]
    assert said.count("ACCEPTED") > len(said) / 4
