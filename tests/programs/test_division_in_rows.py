"""A record's value divided by its own public columns: weights of a survey."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayesdp.programs.check.checker import check
from bayesdp.programs.checked_files import confirmed
from bayesdp.programs.falsify import falsify
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError
from tests.effort import runs
from tests.programs.run.helpers import IMPORTS, accepted, done, seen

TEXT = """
@record
class P:
    y: Real[0, 10]
    z: Int[-2, 3]
    prob: Public[Real[0.1, 1]]
    cost: Public[Real[-4, -2]]
    size: Public[Int[1, 4]]
    any: Public[Real[0, 1]]
    own: Real[1, 2]
@program
def f(db: Database[P]) -> Private[Real]:
    return laplace(sum(VALUE for p in db), epsilon=1)
"""
TABLE = {
    "y": [1.0, 10.0, 0.0, 7.5], "z": [3, -2, 1, 0], "prob": [0.1, 0.5, 0.25, 1.0],
    "cost": [-4.0, -2.0, -2.0, -2.5], "size": [1, 2, 4, 3], "any": [0.0] * 4, "own": [1.0] * 4,
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "moved", "total"),
    [
        ("p.y / p.prob", 100, 10 + 20 + 0 + 7.5),
        ("p.y / (p.prob * 2)", 50, 5 + 10 + 0 + 3.75),
        ("p.y / p.cost", 5, -0.25 - 5 - 0 - 3),
        ("1 / p.prob", 0, 10 + 2 + 4 + 1),
        ("p.z / p.size", 5, 3 - 1 + 0.25 + 0),
        ("p.y / max(p.any, 1 / 2)", 20, 2 + 20 + 0 + 15),
        ("p.y / p.prob / p.size", 100, 10 + 10 + 0 + 2.5),
    ],
)
def test_the_bounds_are_divided(value: str, moved: int, total: float) -> None:
    core, verdict = accepted(TEXT.replace("VALUE", value))
    assert confirmed(core, verdict).verdict == "ACCEPTED"
    (node,) = verdict.derivation["sequence"]
    assert Fraction(node["sensitivity"]["value"][2][0]["number"]) == moved
    assert done(core, verdict, TABLE).value == pytest.approx(total, rel=1e-6)


def test_a_private_filter_lets_a_record_add_nothing() -> None:
    core, verdict = accepted(TEXT.replace("VALUE for p in db", "1 / p.prob for p in db if p.y > 5"))
    assert confirmed(core, verdict).verdict == "ACCEPTED"
    (node,) = verdict.derivation["sequence"]
    assert node["sensitivity"]["value"][2][0] == {"number": "10"}
    assert done(core, verdict, TABLE).value == pytest.approx(3)


@pytest.mark.parametrize(
    "value",
    ["p.y / p.any", "p.y / (p.prob - 1 / 2)", "p.y / (p.size - p.prob)"],
)
def test_what_may_be_0_divides_nothing(value: str) -> None:
    core = core_of(read_text(IMPORTS + TEXT.replace("VALUE", value), "test"), None, {})
    verdict = check(core)
    assert (verdict.verdict, verdict.code) == ("REJECTED", "division")


@pytest.mark.parametrize(
    ("value", "moved", "total"),
    [
        ("p.y / p.own", 10, 1 + 10 + 0 + 7.5),
        ("p.y / (p.prob * p.own)", 100, 10 + 20 + 0 + 7.5),
        ("1 / p.own", Fraction(1, 2), 4),
        ("p.z / (p.z + 3)", Fraction(5, 2), 0.5 - 2 + 0.25 + 0),
        ("p.z // (p.z + 3)", 2, 0 - 2 + 0 + 0),
        ("(p.z - 3) / (4 - p.z)", Fraction(5, 6), 0 - 5 / 6 - 2 / 3 - 3 / 4),
        ("p.y ** 3", 1000, 1 + 1000 + 0 + 421.875),
    ],
)
def test_a_record_is_divided_by_its_own_columns(value: str, moved: Fraction, total: float) -> None:
    core, verdict = accepted(TEXT.replace("VALUE", value))
    assert confirmed(core, verdict).verdict == "ACCEPTED"
    (node,) = verdict.derivation["sequence"]
    assert Fraction(node["sensitivity"]["value"][2][0]["number"]) == moved
    assert done(core, verdict, TABLE).value == pytest.approx(total, rel=1e-6)
    assert not falsify(core, verdict, n_max=2, most_pairs=60).excess


@pytest.mark.parametrize(
    "value",
    [
        "p.y / p.z",
        "p.y / (p.own - 1)",
        "p.y / (p.own - p.prob)",
        "p.y / (p.z if p.own > 1 else 1)",
        "p.y / min(p.z, 1)",
        "p.y / (p.own if p.z > 0 else -p.own)",
        "p.y / abs(p.z)",
        "1 / p.y",
        "p.y / (p.own * p.z)",
        "p.y // p.z",
    ],
)
def test_a_private_divisor_that_may_be_0_is_refused(value: str) -> None:
    core = core_of(read_text(IMPORTS + TEXT.replace("VALUE", value), "test"), None, {})
    verdict = check(core)
    assert (verdict.verdict, verdict.code) == ("REJECTED", "division")


@pytest.mark.parametrize("value", ["sum(p.y for p in db) / sum(p.own for p in db)"])
def test_no_sum_of_private_values_divides(value: str) -> None:
    text = IMPORTS + TEXT.replace("sum(VALUE for p in db)", value)
    with pytest.raises(ProgramError, match="private value of all records") as caught:
        core_of(read_text(text, "test"), None, {})
    assert caught.value.diagnostic.code == "nonlinear"


def test_random_quotients_move_no_farther_than_claimed() -> None:
    """Over all pairs of rows with few values, by the steps and the scale of the sampler."""
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(runs(400, least=40)):
        low, high = sorted(int(x) for x in rng.integers(-3, 6, 2))
        shift, divisor = int(rng.integers(-5, 6)), int(rng.integers(1, 4))
        value = f"(p.z + {shift}) / ({divisor} * p.k + {int(rng.integers(0, 3))})"
        text = (
            f"@record\nclass P:\n    z: Int[{low}, {high + 1}]\n    k: Int[1, 3]\n    b: Bool\n"
            "@program\ndef f(db: Database[P]) -> Private[Real]:\n"
            f"    return laplace(sum({value} for p in db if p.b), epsilon=1)\n"
        )
        core, verdict = accepted(text)
        rows = [
            {"z": z, "k": k, "b": b}
            for z in (low, high + 1)
            for k in (1, 2, 3)
            for b in (True, False)
        ]
        drawn = [seen(core, verdict, [row])[0] for row in rows]
        steps = [values[0] for _, values, _ in drawn]
        assert max(steps) - min(steps) <= Fraction(drawn[0][2])
        held += 1
    assert held >= 40


def test_a_fold_divides_by_a_column() -> None:
    text = """
@record
class P:
    y: Real[0, 10]
    own: Real[1, 2]
@helper
def step(so_far, p):
    return so_far * 0.5 + p.y / p.own
@program
def f(db: Database[P]) -> Private[Real]:
    return laplace(fold(db, 0, step), epsilon=1)
"""
    core, verdict = accepted(text)
    table = {"y": [10.0, 4.0], "own": [1.0, 2.0]}
    assert done(core, verdict, table).value == pytest.approx(7, rel=1e-6)
    assert not falsify(core, verdict, n_max=2, most_pairs=60).excess
    assert Fraction(verdict.derivation["sequence"][0]["sensitivity"]["value"][2][0]["number"]) >= 10


def test_no_pair_of_tables_moves_it_farther() -> None:
    core, verdict = accepted(TEXT.replace("VALUE", "p.z / p.size"))
    counterexample = falsify(core, verdict, n_max=2)
    assert not counterexample.excess
    assert counterexample.largest("sensitivity") == 1
