"""Public sums as factors of private ones: never more than the checker counted on."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.run.values.public import PublicValues
from tests.programs.run.helpers import accepted, run_on

# The product is 2^54 + 2^29 + 3, which doubles round up by 1.
LARGE, LARGER = 134217729, 134217731


@pytest.mark.parametrize("op", ["gaussian", "laplace"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_factor_that_doubles_round_up_stays_inside_its_bounds(op: str, sign: str) -> None:
    more = ", delta=1e-6" if op == "gaussian" else ""
    core, verdict = accepted(
        f"""
@record
class R:
    x: Real[0, 1]
    w: Public[Int[0, {LARGE}]]
    v: Public[Int[0, {LARGER}]]

@program
def f(db: Database[R]) -> Private[Real]:
    require(db.size <= 10)
    return {op}(sum(p.x for p in db) * sum({sign}p.w * p.v for p in db), epsilon=1{more})
"""
    )
    rows = load(core, [{"x": 0.5, "w": LARGE, "v": LARGER}] * 3)
    assert isinstance(run_on(core, verdict, rows).value, float | int)
    release = core.body[0].args[0]  # type: ignore[union-attr]
    assert float(LARGE * LARGER) > LARGE * LARGER  # doubles do round it up
    (factor,) = PublicValues(core, rows).public_sum(release.args[1])
    assert abs(factor) <= 3 * F(LARGE) * LARGER
    assert abs(factor) >= 3 * F(LARGE) * LARGER * (1 - F(1, 2**50))
