"""What is summed moves no farther than the checker says, also where doubles would differ.

The checker and the kernel speak of exact row functions; the interpreter computes in doubles where
it may. Each case here was a difference once, or is next to one.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest

from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import Program
from bayesdp.programs.run import Machine, load
from bayesdp.programs.run.values.private import whole_sum
from tests.effort import runs
from tests.kernel.programs import Row, neighbours, random_program
from tests.programs.run.helpers import Noted, accepted

ENTRIES = ", ".join(["100 if x * 0.1 == x / 10 else 0", *["x"] * 299])
FOLDED = """
@helper
def step(a, r):
    return a + {times} * r
@program
def f(db: Database[{kind}]) -> Private[Real]:
    return laplace(fold((x for x in db if {condition}), 0, step), epsilon=1)
"""
CASES = {
    "item": (
        f"""
@program
def f(db: Database[Int[0, 199]]) -> Private[Real]:
    v = sum(({ENTRIES}) for x in db)
    return laplace(v[0], epsilon=1)
""",
        [[3, 3], [0, 3], [0, 0], [5, 3]],
    ),
    "item of other values": (
        f"""
@program
def f(db: Database[Int[0, 199]]) -> Private[Real]:
    v = sum(({ENTRIES.replace("else 0", "else 1000").replace("100 if", "(x == 5) if")}) for x in db)
    return laplace(v[0], epsilon=1)
""",
        [[3, 3], [0, 3], [5, 3]],
    ),
    "a fold's condition": (
        FOLDED.format(times=2, kind="Int[0, 12]", condition="x * 0.7 < 4.9"),
        [[7, 3], [0, 3], [12, 3], [6, 3]],
    ),
    "a condition that is never met": (
        FOLDED.format(times=1, kind="Int[0, 199]", condition="x * 0.1 != x / 10"),
        [[3, 3], [0, 3], [199, 3]],
    ),
    "a condition on reals": (
        FOLDED.format(times=1000, kind="Real[0, 10]", condition="3 * x * 0.1 != x * 0.3"),
        [[3.0, 3.0], [0.0, 3.0], [10.0, 3.0]],
    ),
    "large whole numbers": (
        """
@program
def f(db: Database[Int[0, 4503599627370496]]) -> Private[Int]:
    return laplace(sum(db), epsilon=1)
""",
        [[2**52] * 2048, [2**52] * 2047 + [0]],
    ),
    "large numbers of both signs": (
        """
@program
def f(db: Database[Int[-4503599627370496, 4503599627370496]]) -> Private[Int]:
    return laplace(3 * sum(db), epsilon=1)
""",
        [[-(2**52)] * 4100, [-(2**52)] * 4099 + [2**52]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_neighbours_are_as_near_as_claimed(name: str) -> None:
    text, tables = CASES[name]
    core, verdict = accepted(text)
    released = [given(core, verdict, table) for table in tables]
    for item in released:
        for other in released:
            assert loss(item, other) <= float(verdict.dp_epsilon) * (1 + 1e-9)


def given(core: object, verdict: object, table: object) -> list[Any]:
    """What the noise is added to when the program is run on a table."""
    noted = Noted()
    Machine(core, verdict, load(core, table), noted).run()  # type: ignore[arg-type]
    return noted.seen


def loss(item: list[Any], other: list[Any]) -> float:
    """How far Laplace noise tells two tables that differ in one row apart."""
    total = 0.0
    for (kind, a, scale), (_, b, _) in zip(item, other, strict=True):
        if kind != "laplace":
            continue
        moved = sum(abs(x - y) for x, y in zip(a, b, strict=True))
        total += moved / scale if moved else 0.0
    return total


@pytest.mark.parametrize("top", [1, 2**31, 2**52, 2**62])
def test_whole_numbers_are_summed_exactly(top: int) -> None:
    values = [top - i for i in range(3000)] + [-top] * 7
    first, second = np.array(values), np.array(values[::-1])
    assert whole_sum(first) == sum(values)
    assert whole_sum(first, second) == sum(x * y for x, y in zip(values, values[::-1], strict=True))
    assert whole_sum(first[:0]) == 0


@pytest.mark.prove
def test_random_programs_run_as_near_as_claimed() -> None:
    """The machine itself, on pairs of neighbours, against the checker's claim."""
    held = 0
    for seed in range(runs(400)):
        r = np.random.default_rng(seed)
        program = random_program(r)
        verdict = check(program)
        if verdict.verdict != "ACCEPTED" or program.adjacency != "replace-one":
            continue
        for item, other in islice(neighbours(program, r, 5), 40):
            try:
                actual = loss(*(given(program, verdict, table(x, program)) for x in (item, other)))
            except ValueError:  # a branch that the two tables leave on different sides
                continue
            assert actual <= float(verdict.dp_epsilon) * (1 + 1e-9), (seed, item, other)
            held += 1
    assert held > runs(400)


def table(rows: list[Row], program: Program) -> dict[str, list[object]] | list[object]:
    """Rows as the interpreter reads them."""
    columns = {
        name: [float(v) if isinstance(v := row[name], Fraction) else v for row in rows]
        for name, _ in program.record
    }
    return columns[""] if program.scalar else columns
