"""Regression from noisy moments by NUTS; and what is said where NumPyro is absent."""

from __future__ import annotations

import importlib.util
from fractions import Fraction

import numpy as np
import pytest

from bayesdp.errors import UnsupportedError
from bayesdp.programs.run import prepared
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.results import distributions
from bayesdp.programs.run.tables.loading import load
from tests.effort import in_full
from tests.programs.run.helpers import Noted, accepted, rng, run_on

TEXT = """
@record
class R:
    x: Real[-1, 1]
    y: Real[-1, 1]
@program
def f(db: Database[R]) -> Private[Samples]:
    rows = ((1, r.x, r.y) for r in db)
    model = observe(rows, linear_model(noise_sd=0.2), prior=normal(0, sd=1))
    return nuts(gaussian(statistics(model), epsilon=1, delta=1e-6), draws=40)
"""


def test_absent_numpyro_is_said_before_anything_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    core, verdict = accepted(TEXT)
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numpyro" else real(name)
    )
    with pytest.raises(UnsupportedError, match=r"bayesdp\[inference\]"):
        prepared(core)
    noted = Noted()
    with pytest.raises(UnsupportedError):
        run_on(core, verdict, load(core, {"x": [0.1], "y": [0.2]}), samplers=noted)
    assert noted.seen == []


def test_nuts_of_a_known_posterior_draws_it_exactly() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Samples]:
    model = observe(db, bernoulli, prior=beta(2, 3))
    return nuts(laplace(statistics(model), epsilon=1), draws=4000)
""")
    rows = load(core, [True] * 30 + [False] * 20)
    value = run_on(core, verdict, rows, samplers=Noted()).value
    assert value.draws.shape == (4000, 1)
    assert value.mean[0] == pytest.approx(32 / 55, abs=0.01)
    assert value.diagnostics["beta"]["r_hat"] == 1.0


@pytest.mark.prove
def test_nuts_against_the_closed_form_where_noise_is_small() -> None:
    pytest.importorskip("numpyro")
    from bayesdp.programs.run.posteriors.linear_regression import closed_form, nuts

    r = rng(4)
    n = 4000
    x = np.c_[np.ones(n), r.uniform(-1, 1, n)]
    y = x @ [0.2, -0.4] + 0.2 * r.normal(size=n)
    whole = np.c_[x, y].T @ np.c_[x, y] + 0.0
    # One of the two takes all its time for compiling, so `make test` leaves the other out.
    for kind, scale in (("gaussian", 6.0), ("laplace", 4.0))[-1 - in_full() :]:
        seen = whole[np.triu_indices(3)] + scale * r.normal(size=6)
        values = tuple(Fraction(float(case)) for case in seen)
        source = Noisy(values, AddedNoise(kind, scale), n, (), (Fraction(1), None, None))
        prior = distributions.single("normal", 0.0, 1.0)
        actual = nuts(source, 0.2, prior, 1200)
        near = closed_form(source, 0.2, prior)
        assert actual.mean == pytest.approx(near.mean, abs=4 * max(near.sd))
        assert all(0.8 * b < a < 1.25 * b for a, b in zip(actual.sd, near.sd, strict=True))
        assert max(value["r_hat"] for value in actual.diagnostics.values()) < 1.05
        assert min(value["ess"] for value in actual.diagnostics.values()) > 200
        truth = np.asarray([0.2, -0.4])
        assert np.abs(np.asarray(actual.mean) - truth).max() < 6 * max(actual.sd)
