"""The steps that noise is added to: sums fit them, whatever the bounds; public values decide."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.programs.run import load, run
from bayesdp.programs.run.draws.noise import NoiseCalibration
from bayesdp.programs.run.values.grid_steps import fits, in_steps
from bayesdp.programs.run.values.private import MOST, MOST_PRIVATE_ROWS, PrivateValue, PrivateValues
from bayesdp.programs.run.values.public import PublicValues
from tests.programs.run.helpers import Noted, accepted, run_on, seen

SUM = """
@program(ADJACENCY)
def f(db: Database[KIND]) -> Private[RESULT]:
    return RELEASE
"""
REPLACE, ENTER = 'adjacency="replace-one"', 'adjacency="add-remove"'
LAPLACE = "laplace(sum(db), epsilon=1)"
GAUSSIAN = "gaussian(sum(db), epsilon=1, delta=1e-6)"


def _program(kind: str, release: str, adjacency: str = REPLACE, result: str = "Real") -> Any:
    text = SUM.replace("KIND", kind).replace("RESULT", result)
    return accepted(text.replace("RELEASE", release).replace("ADJACENCY", adjacency))


@pytest.mark.parametrize("adjacency", [REPLACE, ENTER])
@pytest.mark.parametrize("release", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize(
    ("kind", "value", "n"),
    [
        ("Int[0, 2 ** 52]", 2**52, 1024),
        ("Int[-(2 ** 53), 2 ** 53]", -(2**53), 512),
        ("Int[0, 2 ** 40]", 2**40, 2**22),
        ("Int[2 ** 52, 2 ** 52 + 1]", 2**52, 1024),
        ("Int[0, 2 ** 30]", 2**30, 3),
        ("Real[1e15, 1000000000000001]", 1e15, 1000),
    ],
)
def test_large_sums_are_released_whole(
    kind: str, value: float, n: int, release: str, adjacency: str
) -> None:
    """They were held at 2^61 steps: half of 2^62 was released, without a word."""
    core, verdict = _program(kind, release, adjacency)
    noted = Noted()
    table = np.full(n, value) if n < 2**20 else {"db": np.full(n, value)}
    actual = run_on(core, verdict, load(core, table), samplers=noted)
    assert actual.value == pytest.approx(n * value, rel=1e-6)
    ((_, (steps,), _),) = noted.seen
    assert abs(steps) <= MOST


@pytest.mark.parametrize(
    "body",
    [
        "sum(clip(r.x, -1, 2) for r in db)",
        "sum(r.k for r in db if r.x > 0)",
        "sum(r.k * r.k - 3 for r in db)",
        "count(r for r in db) * 1000",
        "sum((r.x, 2 * r.k, 1) for r in db)",
        "sum(onehot(r.c) for r in db)",
        "sum(r.x for r in db) - 4 * sum(r.k for r in db)",
        "clip(sum(r.x for r in db), -2, 1/3)",
        "abs(sum(r.x for r in db) - 20)",
        "max(sum(r.x for r in db), sum(r.k for r in db), -5)",
        "min(sum(r.x for r in db), 3)",
        "sum(r.x for r in db) / 7",
        "(sum(r.x for r in db), count(r for r in db if r.k > 3))",
        "sum((r.x, r.k) for r in db)[1]",
        "sum((7 if r.x > 1 else r.k) for r in db)",
        "fold((r for r in db), 40, step)",
        "fold((r for r in db), -1/3, held)",
        "fold((r for r in db), 40, grown)",
        "statistics(observe(((1, clip(r.x, -1, 1), clip(r.k, 0, 1)) for r in db), "
        "linear_model(noise_sd=1), prior=normal(0, sd=1)))",
    ],
)
def test_no_value_is_larger_than_what_is_said_of_it_beforehand(body: str) -> None:
    """At the ends of the bounds, and between."""
    text = """
@record
class R:
    x: Real[-3, 5.5]
    k: Int[-2, 9]
    c: Category["a", "b"]
@helper
def step(so_far, r):
    return max(so_far - 1, r.k)
@helper
def grown(so_far, r):
    return so_far + r.k
@helper
def held(so_far, r):
    return clip(so_far + r.x / 9, -2, 2)
@program
def f(db: Database[R]) -> Private[RESULT]:
    return laplace(BODY, epsilon=1)
"""
    several = body.startswith(("sum((r.x, 2", "sum(onehot", "(", "statistics"))
    core, _ = accepted(
        text.replace("BODY", body).replace("RESULT", "Vector" if several else "Real")
    )
    rng = np.random.default_rng(4)
    said, met = set(), Fraction(0)
    ends: list[Any] = [(-3, -2), (5.5, 9), (-3, 9), (5.5, -2)]
    for x, k in [*ends, *zip(rng.uniform(-3, 5.5, 4), rng.integers(-2, 10, 4), strict=True)]:
        table = {"x": [float(x)] * 6, "k": [int(k)] * 6, "c": ["b"] * 6}
        values = PublicValues(core, load(core, table))
        amount = PrivateValues(values).amount(values.filled(core.body[0].args[0]))  # type: ignore[union-attr]
        said.add(amount.largest)
        met = max(met, *(abs(value) for value in amount.values))
    assert len(said) == 1  # no cell decides
    (largest,) = said
    assert met <= largest


def test_what_is_said_of_private_rows_depends_on_none() -> None:
    core, verdict = _program("Int[0, 2 ** 30]", LAPLACE, ENTER)
    laws = {seen(core, verdict, [2**30] * n)[0][2] for n in (0, 1, 5, 1000)}
    assert len(laws) == 1
    values = PublicValues(core, load(core, [1, 2]))
    amount = PrivateValues(values).amount(core.body[0].args[0])
    assert amount.largest == 2**30 * MOST_PRIVATE_ROWS


def test_steps_hold_the_largest_value() -> None:
    for largest in (Fraction(1), Fraction(MOST), Fraction(MOST) + 1, Fraction(10) ** 30):
        amount = PrivateValue((largest,), (Fraction(0),), Fraction(1), largest=largest)
        steps = in_steps(amount, Fraction(1))
        assert abs(steps.whole[0]) <= MOST
        assert abs(steps.unit * steps.whole[0] - largest) <= steps.unit / 2
        assert steps.slack == (0 if largest <= MOST else steps.unit)
        assert fits(amount, steps.unit)
        assert steps.unit == 1 or not fits(amount, steps.unit / 4)


def test_an_asserted_sigma_on_sums_that_don_t_fit_is_refused_before_the_debit(
    tmp_path: Path,
) -> None:
    """Its price is that of the law on whole numbers, which no coarser grid has."""
    release = "gaussian(sum(db), epsilon=1, delta=1e-6, sigma=50)"
    core, verdict = _program("Int[2 ** 52, 2 ** 52 + 1]", release)
    kept: dict[str, Any] = {"ledger": tmp_path / "l.db", "dataset": "d"}
    with pytest.raises(InputError, match="64-bit"):
        run(core, verdict, [2**52] * 1024, dp_epsilon=9.0, dp_delta=1e-3, **kept)
    assert not (tmp_path / "l.db").exists()
    assert seen(core, verdict, [2**52] * 8)[0][1:] == ((2**55,), 50.0)


# -- what is asserted ------------------------------------------------------------------------------

PIECES = """
@record
class R:
    c: Category["a", "b"]
    x: KIND
@program
def f(db: Database[R]) -> Private[Vector]:
    return [laplace(VALUE, epsilon=1, sensitivity=ASSERTED) for part in partition(db, by="c")]
"""


@pytest.mark.parametrize(
    ("kind", "asserted"),
    [("Bool", "1e15"), ("Int[0, 9]", "1e13"), ("Real[0, 1]", "1e12"), ("Real[0, 1]", "1e15")],
)
def test_an_asserted_sensitivity_gives_its_noise_and_no_more(kind: str, asserted: str) -> None:
    """A record that enters pays so little that a grid coarse against it would widen the noise."""
    value = "count(r for r in part if r.x)" if kind == "Bool" else "sum(r.x for r in part)"
    text = PIECES.replace("KIND", kind).replace("ASSERTED", asserted)
    core, verdict = accepted(text.replace("VALUE", value))
    noted = Noted()
    run_on(core, verdict, load(core, {"c": ["a", "b"], "x": [1, 1]}), samplers=noted)
    (_, (steps,), scale), _ = noted.seen
    assert float(asserted) <= scale / steps <= float(asserted) * 1.01


def test_an_asserted_sensitivity_that_no_grid_holds_is_refused() -> None:
    core, verdict = accepted(
        PIECES.replace("KIND", "Bool").replace("ASSERTED", "1e30").replace(
            "VALUE", "count(r for r in part if r.x)"
        )
    )  # fmt: skip
    with pytest.raises(InputError, match="noise"):
        run_on(core, verdict, load(core, {"c": ["a"], "x": [True]}), samplers=Noted())


def test_steps_for_noise_answer_for_both_prices() -> None:
    """Replaced: (S + slack) / scale <= epsilon; entered: (s + slack) / scale <= entering."""
    for exponent in range(0, 50, 7):
        moved, small = Fraction(2) ** exponent, Fraction(1)
        for lattice in (Fraction(1), Fraction(1, 2**32), Fraction(1, 2**70)):
            actual = NoiseCalibration(Fraction(1), moved, small / moved)
            steps = actual.steps(
                PrivateValue((lattice,), (Fraction(0),), lattice, largest=Fraction(8))
            )
            scale = Fraction(actual.laplace(steps.unit, steps.slack)) * steps.unit
            assert (moved + steps.slack) / scale <= 1
            assert (small + steps.slack) / scale <= small / moved
            assert scale <= moved * Fraction(11, 10)


def test_a_choice_s_grid_is_fine_against_a_record_that_enters() -> None:
    text = """
@record
class R:
    c: Category["a", "b"]
    x: Real[0, 1]
@program
def f(db: Database[R]) -> Private[Vector]:
    return [
        exponential(score=lambda t: -abs(sum(r.x for r in part) - t), candidates=(0, 100),
            epsilon=1, sensitivity=1e9)
        for part in partition(db, by="c")
    ]
"""
    core, verdict = accepted(text)
    ((_, scores, scale), _) = seen(core, verdict, {"c": ["a"] * 3, "x": [0.0] * 3})
    step = 100 / (max(scores) - min(scores))
    assert 2e9 <= scale * step <= 2.02e9


@pytest.mark.parametrize("sign", [1, -1])
def test_posterior_samples_without_a_step_between_their_bounds_tell_nothing(sign: int) -> None:
    """All records then have one log-likelihood for all candidates: the prior is drawn from."""
    ends = sorted((sign * (2**60 + 300), sign * (2**60 + 400)))  # the step is 512
    release = (
        "posterior_sample(observe(db, bernoulli, prior=beta(2, 1)), grid=(0.25, 0.75), "
        f"log_likelihood=({ends[0]}, {ends[1]}), power=1 / 2 ** 60 / 1024)"
    )
    core, verdict = _program("Bool", release, ENTER)
    laws = [seen(core, verdict, [True] * n) for n in (0, 1, 5)]
    assert laws[0] == laws[1] == laws[2]
