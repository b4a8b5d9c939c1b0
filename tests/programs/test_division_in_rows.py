"""A record's value divided by its own public columns: weights of a survey."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bayesdp.programs.check.verdict import check
from bayesdp.programs.falsify import falsify
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.source.diagnostics import ProgramError
from bayesdp.programs.verdicts import confirmed
from tests.programs.run.helpers import IMPORTS, accepted, done

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


@pytest.mark.parametrize("value", ["p.y / p.own", "p.y / (p.prob * p.own)"])
def test_no_private_column_divides(value: str) -> None:
    with pytest.raises(ProgramError, match="depends on private data") as caught:
        core_of(read_text(IMPORTS + TEXT.replace("VALUE", value), "test"), None, {})
    assert caught.value.diagnostic.code == "nonlinear"


def test_no_pair_of_tables_moves_it_farther() -> None:
    core, verdict = accepted(TEXT.replace("VALUE", "p.z / p.size"))
    counterexample = falsify(core, verdict, n_max=2)
    assert not counterexample.excess
    assert counterexample.largest("sensitivity") == 1
