"""What a program calls an Int is one: noise on whole numbers lies on whole numbers."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from bayesdp.programs.check.noise import gaussian_delta
from bayesdp.programs.run.draws.gaussian import law_of
from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.run.values.public import PublicValues
from bayesdp.programs.source import ProgramError
from bayesdp.programs.whole_numbers import is_whole, whole_names
from tests.programs.run.helpers import Noted, accepted, done, run_on

RECORD = """
@record
class R:
    x: Real[-1, 1]
    k: Int[0, 9]
    far: Int[0, 9007199254740991]
    b: Bool
    c: Category["u", "v", "w"]
    y: Public[Real[0, 1]]
    j: Public[Int[0, 3]]

@program
def f(db: Database[R], *, factor: Public[Int[1, 9]] = 3) -> Private[{kind}]:
    r = laplace(count(p for p in db if p.b), epsilon=1)
    s = laplace((count(p for p in db if p.b), count(db)), epsilon=1)
    h = laplace(sum(p.x for p in db), epsilon=1)
    if r > 2:
        t = r
        u = r
    else:
        t = 2
        u = h
    return {release}
"""
NOISE = {"laplace": "laplace({}, epsilon=1)", "gaussian": "gaussian({}, epsilon=1, delta=1e-6)"}
WHOLE = (
    "sum(p.k for p in db)",
    "sum(p.k for p in db) + db.size",
    "sum(p.k for p in db) + count(p for p in db if p.j > 1)",
    "sum(p.k for p in db) - sum(p.j for p in db)",
    "db.size * count(p for p in db if p.b)",
    "factor * count(p for p in db if p.b)",
    "clip(r, 1, 5) * count(p for p in db if p.b)",
    "count(p for p in db if p.b) + r",
    "count(p for p in db if p.b) + s[1]",
    "count(p for p in db if p.k <= clip(r, 1, 5))",
    "count(p for p in db if p.x <= clip(h, -1, 1))",
    "sum(p.k if p.x > 0.5 else 1 for p in db) + t",
    "sum(min(p.k, clip(r, 0, 5)) for p in db)",
    "sum(onehot(p.c)[0] for p in db)",
    "sum(onehot(p.c)[0] if p.x > 0 else 0 for p in db)",  # summed in steps of 2^-32
    "clip(count(p for p in db if p.b), 0, r)",
    "abs(count(p for p in db if p.b) - 3)",
    "max(sum(p.k for p in db), 0)",
    "sum(p.far for p in db)",
    "sum(p.far - p.far * 2 for p in db) + 1",
    "6 / 2 * count(p for p in db if p.b)",
)
REAL = (
    "sum(p.x for p in db)",
    "sum(p.k for p in db) + sum(p.y for p in db)",
    "count(p for p in db if p.b) + h",
    "count(p for p in db if p.b) + u",
    "count(p for p in db if p.b) * clip(h, 0, 1)",
    "sum(p.k for p in db) / db.size",
    "0.5 * count(p for p in db if p.b)",
    "clip(count(p for p in db if p.b), 0.5, 9.5)",
    "sum(p.k * 0.5 for p in db)",
)
ROWS = [
    {"x": x, "k": k, "far": 9007199254740991 - k, "b": b, "c": c, "y": 0.3, "j": j}
    for x, k, b, c, j in (
        (-1.0, 0, False, "u", 0),
        (1.0, 9, True, "v", 3),
        (0.1, 3, True, "w", 2),
        (0.7, 5, True, "u", 1),
    )
]


@pytest.mark.parametrize("op", NOISE)
@pytest.mark.parametrize("value", WHOLE)
def test_noise_on_whole_numbers_is_whole(value: str, op: str) -> None:
    core, verdict = accepted(RECORD.format(kind="Int", release=NOISE[op].format(value)))
    rows = load(core, ROWS)
    for _ in range(3):
        assert isinstance(run_on(core, verdict, rows).value, int)
    # The value itself, where no noise is drawn, is not shifted by any rounding.
    assert isinstance(done(core, verdict, ROWS, Noted(shift=1)).value, int)


@pytest.mark.parametrize("op", NOISE)
@pytest.mark.parametrize("value", REAL)
def test_other_numbers_are_not_called_whole(value: str, op: str) -> None:
    release = NOISE[op].format(value)
    with pytest.raises(ProgramError, match="real is returned as Int"):
        accepted(RECORD.format(kind="Int", release=release))
    core, _ = accepted(RECORD.format(kind="Real", release=release))
    names = whole_names(core.body, dict(core.record))
    assert not is_whole(core.body[-1].args[0], dict(core.record), names)  # type: ignore[union-attr]


def test_a_number_of_candidates_from_gaussian_noise_is_whole() -> None:
    """It was off the whole numbers once, and the run stopped after it had paid."""
    core, verdict = accepted(
        """
@program
def f(db: Database[Bool]) -> Private[Beta]:
    g = gaussian(sum(db) + db.size, epsilon=1, delta=1e-6)
    prior = beta(1, 1)
    posterior = infer(observe(db, bernoulli, prior=prior))
    few = posteriors_of(prior, n=clip(g, 2, 50))
    return exponential(score=hellinger(posterior), candidates=few, epsilon=1)
"""
    )
    for _ in range(20):
        law = run_on(core, verdict, load(core, [True, False, True] * 5)).value
        assert sum(law.parameters) <= 52


@pytest.mark.parametrize("size", [1, 3, 5])
def test_a_released_factor_gets_the_noise_of_the_largest_one(size: int) -> None:
    """Noise on whole steps that the largest factor calls for covers every smaller one."""
    release = "gaussian(clip(r, 0, 5) * count(p for p in db if p.b), epsilon=1, delta=1e-6)"
    core, verdict = accepted(RECORD.format(kind="Int", release=release))
    rows = load(core, ROWS)
    noted = Noted(shift=size - 3)  # 3 is the count that is released first
    run_on(core, verdict, rows, samplers=noted)
    (_, values, scale) = noted.seen[-1]
    assert values == (3 * size,)
    node = verdict.derivation["sequence"][-1]
    assert law_of(core.body[-1], node, PublicValues(core, rows)).name == "number"  # type: ignore[arg-type]
    assert gaussian_delta(F(scale), F(size * size), F(1), True) <= F(1, 10**6)
    assert gaussian_delta(F(scale), F(25), F(1), True) > F(1, 10**6) * F(9, 10)
