"""Two tables of the same people by brute force: what a ledger says is no less than what leaks.

The joint law is over all that two persons have in both tables; the second mechanism is chosen after
the answer of the first. Adversaries know any part of what the other person has. Theory 2.10.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bayesdp.accounting import Ledger, Reading, Spend
from bayesdp.accounting.costs.composition import level
from tests.effort import in_full
from tests.oracles.mechanisms import random_channel, randomized_response

SHAPE = (2, 2, 2, 2)
"""Of each person what is in the first table and in the second: (a1, b1, a2, b2), each a bit."""
FIRST, SECOND = (0, 2), (1, 3)
"""The axes of the first table, and of the second."""
PERSONS = ((0, 1), (2, 3))
CASES = 4000 if in_full() else 60
ROUND = 1e-9

# -- the level, by its definition ------------------------------------------------------------------


def everything(law: np.ndarray, channel: np.ndarray, attacked: Sequence[int]) -> float:
    """The worst log ratio about all that is `attacked`, for whatever others know; no bound if inf.

    `law` has an axis for each record, `channel` one more for the outcomes. Known may be any
    axes beside the attacked person's.
    """
    person = next(axes for axes in PERSONS if attacked[0] in axes)
    free = [axis for axis in range(law.ndim) if axis not in person]
    worst = 0.0
    for size in range(len(free) + 1):
        for known in itertools.combinations(free, size):
            kept = (*attacked, *known)
            rest = tuple(axis for axis in range(law.ndim) if axis not in kept)
            mass = law.sum(axis=rest)
            joint = (law[..., None] * channel).sum(axis=rest)
            order = [sorted(kept).index(axis) for axis in kept]
            mass = mass.transpose(order).reshape(2 ** len(attacked), -1)
            joint = joint.transpose([*order, len(kept)]).reshape(*mass.shape, -1)
            for cell in range(mass.shape[1]):
                possible = mass[:, cell] > 0
                answers = joint[possible, cell] / mass[possible, cell][:, None]
                if len(answers) > 1:
                    with np.errstate(divide="ignore", invalid="ignore"):
                        ratios = np.log(answers.max(axis=0) / answers.min(axis=0))
                    worst = max(worst, float(np.nanmax(ratios)))
    return worst


def leakage(law: np.ndarray, channel: np.ndarray) -> float:
    """The worst over all secrets: a record of one table, or all that a person has in both."""
    secrets = [(axis,) for axis in range(4)] + list(PERSONS)
    return max(everything(law, channel, attacked) for attacked in secrets)


def one_after_the_other(first: np.ndarray, seconds: Sequence[np.ndarray]) -> np.ndarray:
    """A channel on the first table, and on the second table one for each answer of the first."""
    parts = []
    for answer, second in enumerate(seconds):
        of_first = first[:, None, :, None, answer, None]
        parts.append(of_first * second[None, :, None, :, :])
    return np.concatenate(parts, axis=-1)


def in_ledger(folder: Path, size: int, costs: Sequence[float]) -> float:
    """What a ledger says after these costs, the first on one data set, the next on the other."""
    ledger = Ledger(folder / f"{size}.db", level=level)
    for name, column, cost in zip(("a", "b"), ("x", "y"), costs, strict=True):
        reading = Reading("bdp", 100.0, {"model": "clusters", "size": size}, covers=(column,))
        spend = Spend(name, "row", "q", "any", cost, reads=(column,), people="P")
        ledger.ensure(name, "row", reading, people="P")
        ledger.debit(name, "row", [spend], study="s", request={})
    (shown,) = {reading["level"] for data in ledger.show() for reading in data["readings"]}
    return float(shown)


# -- random laws and mechanisms --------------------------------------------------------------------


def random_law(rng: np.random.Generator, *, independent: bool) -> np.ndarray:
    """A law of both persons, often with impossible cells and with copies of records."""

    def part(axes: int) -> np.ndarray:
        weights = rng.gamma(rng.choice([0.1, 0.5, 2.0]), size=(2,) * axes) + 1e-9
        weights *= rng.random((2,) * axes) >= rng.choice([0.0, 0.4])
        weights.flat[rng.integers(weights.size)] = 1.0
        return weights / weights.sum()

    if independent:
        return np.einsum("ab,cd->abcd", part(2), part(2))
    return part(4)


def random_mechanism(rng: np.random.Generator, costs: Sequence[float]) -> np.ndarray:
    first, *seconds = (random_channel(rng, (2, 2), cost) for cost in (costs[0], *[costs[1]] * 8))
    return one_after_the_other(first, seconds[: first.shape[-1]])


@pytest.mark.parametrize("independent", [True, False])
def test_no_level_is_below_what_leaks(tmp_path: Path, independent: bool) -> None:
    rng = np.random.default_rng(210 + independent)
    size = 1 if independent else 2
    closest = 0.0
    pairs = [(0.1, 2.0), (0.5, 0.5), (1.0, 0.1), (1.0, 1.0), (2.0, 0.5)]
    said = {}
    for costs in pairs:
        folder = tmp_path / str(costs)
        folder.mkdir()
        said[costs] = in_ledger(folder, size, costs)
    for case in range(CASES):
        costs = pairs[case % len(pairs)]
        law = random_law(rng, independent=independent)
        leaks = leakage(law, random_mechanism(rng, costs))
        assert leaks <= said[costs] * (1 + ROUND), (costs, law)
        closest = max(closest, leaks / said[costs])
    assert closest > 0.5  # the bound is one about these laws


def test_copies_attain_it(tmp_path: Path) -> None:
    law = np.zeros(SHAPE)
    law[0, 0, 0, 0] = law[1, 1, 1, 1] = 0.5
    answers = [randomized_response((2, 2), cost) for cost in (0.5, 0.25)]
    channel = one_after_the_other(answers[0], [answers[1]] * 4)
    assert leakage(law, channel) == pytest.approx(2 * 0.75)
    assert in_ledger(tmp_path, 2, (0.5, 0.25)) == pytest.approx(2 * 0.75)


def test_one_person_attains_it(tmp_path: Path) -> None:
    same = np.eye(2) / 2
    law = np.einsum("ab,cd->abcd", same, same)
    answers = [randomized_response((2, 2), cost) for cost in (0.5, 0.25)]
    channel = one_after_the_other(answers[0], [answers[1]] * 4)
    assert leakage(law, channel) == pytest.approx(0.75)
    assert in_ledger(tmp_path, 1, (0.5, 0.25)) == pytest.approx(0.75)


# -- what doesn't hold, in exact fractions ---------------------------------------------------------

KEPT, TURNED = Fraction(3, 4), Fraction(1, 4)
"""Randomized response with the odds 3: eps is ln 3."""


def odds(law: dict[tuple[int, ...], Fraction], answered: Sequence[int], secret: int) -> Fraction:
    """The worst ratio about one record, to one who knows nothing, of answers on these records."""
    chances: dict[tuple[int, tuple[int, ...]], Fraction] = {}
    mass: dict[int, Fraction] = {}
    for records, weight in law.items():
        mass[records[secret]] = mass.get(records[secret], Fraction(0)) + weight
        for said in itertools.product((0, 1), repeat=len(answered)):
            chance = weight
            for bit, axis in zip(said, answered, strict=True):
                chance *= KEPT if bit == records[axis] else TURNED
            key = records[secret], said
            chances[key] = chances.get(key, Fraction(0)) + chance
    ratios = [
        (chances[1, said] / mass[1]) / (chances[0, said] / mass[0])
        for said in itertools.product((0, 1), repeat=len(answered))
    ]
    return max(*ratios, *(1 / ratio for ratio in ratios))


def test_who_moves_is_in_the_block_of_either_table() -> None:
    """One person, in the north in January and in the south in February."""
    law = {(bit, bit): Fraction(1, 2) for bit in (0, 1)}
    assert odds(law, [0, 1], 0) == 3**2


def test_independence_in_one_table_is_not_independence_in_both() -> None:
    """In February both persons have what the first one had in January."""
    law = {(own, two, own, own): Fraction(1, 4) for own in (0, 1) for two in (0, 1)}
    january, february = [0], [2, 3]
    assert odds(law, january, 0) == 3  # the DP cost
    together = odds(law, january + february, 0)
    assert together == 3**3  # more than the sum of what a person pays: one record in each month
    assert together > 3**2


def test_two_rows_of_a_person_are_paid_for_twice() -> None:
    law = {(bit, bit): Fraction(1, 2) for bit in (0, 1)}
    assert odds(law, [0, 1], 0) == 3**2  # one query that costs a row ln 3


def test_the_oracle_sees_a_rule_that_is_wrong() -> None:
    """The larger of two tables, and one record of a cluster, are less than what leaks."""
    law = np.zeros(SHAPE)
    law[0, 0, 0, 0] = law[1, 1, 1, 1] = 0.5
    answers = randomized_response((2, 2), 0.5)
    channel = one_after_the_other(answers, [answers] * 4)
    assert math.isclose(leakage(law, channel), 2.0)
    assert leakage(law, channel) > 2 * max(0.5, 0.5)
    assert leakage(law, channel) > 0.5 + 0.5
