"""Priors at the ends of what is admitted: no run stops after it has paid."""

from __future__ import annotations

from itertools import product

import pytest

from bayesdp.programs.run import load
from bayesdp.programs.run.results.program_result import require_finite
from tests.programs.run.helpers import accepted, run_on

ENDS = ("1e-12", "1e-3", "1", "1e3", "1e12")
MODELS = {
    "beta": ("Beta", "Bool", "bernoulli", "beta({}, {})"),
    "dirichlet": ("Dirichlet", 'Category["u", "v", "w"]', "categorical", "dirichlet({}, {}, 1)"),
    "gamma": ("Gamma", "Int[0, 9]", "poisson(exposure=db.size)", "gamma({}, rate={})"),
    "normal": ("Normal", "Real[0, 9]", "normal(sd=1)", "normal(1e-3 * {}, sd={})"),
}
DATA = {"beta": [True, False], "dirichlet": ["u", "v"], "gamma": [0, 9], "normal": [0.5, 8.5]}


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("after", ["noise_aware", "plug_in"])
def test_every_posterior_can_be_stored(family: str, after: str) -> None:
    kind, record, likelihood, prior = MODELS[family]
    for first, second in product(ENDS, ENDS):
        if family == "gamma" and first == "1e12":
            first = "1e4"
        if family == "normal" and float(second) < 1e-14 * float(first):
            continue
        core, verdict = accepted(
            f"""
@program
def f(db: Database[{record}]) -> Private[{kind}]:
    model = observe(db, {likelihood}, prior={prior.format(first, second)})
    return {after}(laplace(statistics(model), epsilon=1))
"""
        )
        result = run_on(core, verdict, load(core, DATA[family] * 20))
        require_finite(result.to_dict())
