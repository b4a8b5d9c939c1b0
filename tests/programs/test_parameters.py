"""Parameters of models are above 0 before anything is paid, whatever was released."""

from __future__ import annotations

import pytest

from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.checked_files import confirmed
from bayesdp.programs.source import core_of, read_text
from tests.programs.run.helpers import IMPORTS, accepted, done

HEAD = """
@record
class R:
    x: Bool
    y: Int[0, 5]
    years: Public[Real[0, 1]]
    shift: Public[Real[-1, 1]]
    side: Public[Bool]
@program
def f(db: Database[R]) -> Private[Real]:
    a = laplace(count(r for r in db if r.x), epsilon=1 / 2)
    m = MODEL
    return plug_in(laplace(statistics(m), epsilon=1 / 2))
"""
TURNED = {
    "bernoulli": ("r.x", "Beta"),
    "categorical": ("r.x", "Dirichlet"),
    "poisson": ("r.y", "Gamma"),
    "normal": ("r.y", "Normal"),
    "linear_model": ("(1, r.y)", "Normal"),
}
MODELS = {
    "beta's a": "bernoulli, prior=beta(HERE, 1)",
    "beta's b": "bernoulli, prior=beta(1, HERE)",
    "dirichlet": "categorical, prior=dirichlet(1, HERE)",
    "gamma's shape": "poisson(exposure=1), prior=gamma(HERE, rate=1)",
    "gamma's rate": "poisson(exposure=1), prior=gamma(1, rate=HERE)",
    "exposure": "poisson(exposure=HERE), prior=gamma(1, rate=1)",
    "sd": "normal(sd=HERE), prior=normal(0, sd=1)",
    "prior's sd": "normal(sd=1), prior=normal(0, sd=HERE)",
    "noise_sd": "linear_model(noise_sd=HERE), prior=normal(0, sd=1)",
}


def _text(model: str, value: str) -> str:
    row, kind = TURNED[model.split("(")[0].split(",")[0]]
    made = f"observe(({row} for r in db), {model.replace('HERE', value)})"
    return HEAD.replace("MODEL", made).replace("[Real]:", f"[{kind}]:")


def _checked(model: str, value: str) -> ProgramVerdict:
    return check(core_of(read_text(IMPORTS + _text(model, value), "test"), None, {}))


@pytest.mark.parametrize("name", MODELS)
def test_a_parameter_that_may_be_0_or_less_is_refused(name: str) -> None:
    for value in (
        "a",
        "max(a, -1)",
        "min(a, 1)",
        "a * a",
        "db.size - 1",
        "sum(r.shift for r in db)",
    ):
        actual = _checked(MODELS[name], value)
        if name == "exposure" and value in ("a * a", "db.size - 1"):
            assert actual.verdict == "ACCEPTED"  # at least 0, and without any the prior stays
            continue
        assert (actual.verdict, actual.code) == ("REJECTED", "prior"), value
        assert "max(x, " in actual.accepted
        assert actual.where is not None


@pytest.mark.parametrize("name", MODELS)
def test_a_parameter_that_is_held_above_0_is_accepted(name: str) -> None:
    for value in ("max(a, 1)", "max(a, 0.001)", "db.size", "1 + abs(a)", "clip(a, 1, 5)"):
        text = _text(MODELS[name], value)
        core, verdict = accepted(text)
        assert confirmed(core, verdict).verdict == "ACCEPTED"
    table = {"x": [False] * 3, "y": [0, 1, 2], "years": [0.0, 0.5, 0], "shift": [0.0] * 3,
             "side": [True] * 3}  # fmt: skip
    assert done(core, verdict, table).value.family


def test_an_exposure_of_public_rows_may_be_0() -> None:
    core, verdict = accepted(_text(MODELS["exposure"], "sum(r.years for r in db if r.side)"))
    table = {"x": [False], "y": [3], "years": [0.5], "shift": [0.0], "side": [False]}
    assert done(core, verdict, table).value.parameters == (1.0, 1.0)


def test_the_mean_of_a_prior_is_any_number() -> None:
    accepted(_text("normal(sd=1), prior=normal(HERE, sd=1)", "a - 5"))


def test_parameters_of_what_scores_and_samples_are_held_too() -> None:
    for release in (
        "exponential(score=hellinger(infer(m)), candidates=posteriors_of(beta(a, 1), n=5), "
        "epsilon=1)",
        "posterior_sample(m, grid=linspace(0.1, 0.9, 9), power=1, log_likelihood=(-5, 0))",
    ):
        text = _text(MODELS["beta's a"], "a" if "sample" in release else "1")
        text = text.replace("plug_in(laplace(statistics(m), epsilon=1 / 2))", release)
        kind = "Real" if "sample" in release else "Beta"
        core = core_of(read_text(IMPORTS + text.replace("[Beta]:", f"[{kind}]:"), "test"), None, {})
        assert check(core).code == "prior", release
