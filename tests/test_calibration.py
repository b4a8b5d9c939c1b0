"""Calibration to `(epsilon, delta)`: the certified point, and the least noise on its curve."""

from __future__ import annotations

import json
import math

import pytest
from typer.testing import CliRunner

from bayesdp.calibration import _GaussianSearch, calibrate_gaussian, largest_within
from bayesdp.cli import app
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.mechanisms.gaussian import discrete_gaussian_delta, smallest_sigma
from bayesdp.notions import ApproxDP
from bayesdp.populations import Clusters, Family, Independent, MarkovChain, Unknown
from bayesdp.theorems import Question, approximate

CHAIN = MarkovChain(transition=[[0.7, 0.3], [0.4, 0.6]], length=10**5)


def test_independent_records_need_no_more_than_the_curve() -> None:
    calibration = calibrate_gaussian(Independent(), 1.0, 1e-5)
    assert calibration.noise_multiplier == pytest.approx(1.0, rel=1e-4)
    assert calibration.sigma == pytest.approx(smallest_sigma(1, 1.0, 1e-5), rel=1e-4)
    assert calibration.dp_epsilon == pytest.approx(1.0, rel=1e-3)
    assert calibration.certified_delta <= 1e-5


def test_clusters_by_hand() -> None:
    """Three records: `(3 eps, delta (1 + e^eps + e^2eps))`, and the best point on that curve."""
    calibration = calibrate_gaussian(Clusters(size=3), 1.5, 1e-4)
    best = math.inf
    for step in range(1, 60):
        eps = 0.5 * step / 60
        growth = 1 + math.exp(eps) + math.exp(2 * eps)
        best = min(best, smallest_sigma(1, eps, 1e-4 / growth, precision=1e-5))
    assert calibration.sigma <= best * 1.001
    assert calibration.theorem == "cluster-size"
    growth = math.expm1(3 * calibration.dp_epsilon) / math.expm1(calibration.dp_epsilon)
    assert calibration.dp_delta * growth <= 1e-4
    assert 3 * calibration.dp_epsilon <= 1.5 * (1 + 1e-12)


@pytest.mark.parametrize(
    "population", [CHAIN, Clusters(size=4), Family(members=[CHAIN, Independent()])]
)
@pytest.mark.parametrize("sensitivity", [1, 4])
def test_what_is_returned_holds(population, sensitivity: int) -> None:
    calibration = calibrate_gaussian(population, 1.0, 1e-5, sensitivity=sensitivity)
    delta = discrete_gaussian_delta(calibration.sigma, sensitivity, calibration.dp_epsilon)
    assert delta <= calibration.dp_delta
    report = approximate(
        Question(population), ApproxDP(calibration.dp_epsilon, calibration.dp_delta)
    )
    bound = next(b for b in report.bounds if b.theorem == calibration.theorem)
    assert bound.epsilon <= calibration.certified_epsilon <= 1.0
    assert bound.delta <= calibration.certified_delta <= 1e-5
    assert calibration.noise_multiplier >= 1.0
    # and not much is wasted: a twentieth less noise breaks the target at this point and around it
    for eps in (
        calibration.dp_epsilon * 0.9,
        calibration.dp_epsilon,
        calibration.dp_epsilon * 1.05,
    ):
        less = discrete_gaussian_delta(calibration.sigma * 0.95, sensitivity, eps)
        pairs = approximate(Question(population), ApproxDP(eps, less)).bounds
        assert not any(b.epsilon <= 1.0 and b.delta <= 1e-5 for b in pairs)


def test_a_tighter_target_needs_more_noise() -> None:
    sigmas = [calibrate_gaussian(CHAIN, eps, 1e-5).sigma for eps in (2.0, 1.0, 0.5)]
    assert sigmas == sorted(sigmas)
    assert calibrate_gaussian(CHAIN, 1.0, 1e-7).sigma > sigmas[1]
    informed = calibrate_gaussian(CHAIN, 1.0, 1e-5, adversary="informed")
    assert informed.sigma < sigmas[1]
    assert informed.noise_multiplier == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize(
    ("target", "delta", "name"),
    [
        (0.0, 1e-5, "bdp_epsilon"),
        (math.inf, 1e-5, "bdp_epsilon"),
        (1.0, 0.0, "bdp_delta"),
        (1.0, 1.0, "bdp_delta"),
        (1.0, math.nan, "bdp_delta"),
    ],
)
def test_wrong_targets_are_named(target: float, delta: float, name: str) -> None:
    with pytest.raises(InputError, match=name):
        calibrate_gaussian(CHAIN, target, delta)


def test_a_population_that_no_theorem_with_delta_reaches() -> None:
    with pytest.raises(UnsupportedError, match="delta"):
        calibrate_gaussian(Unknown(records=10**9), 1.0, 1e-5)


def test_a_search_that_errs_is_caught_by_the_certificate(monkeypatch) -> None:
    """The conversion of the noise's own curve decides, not the search that proposed it."""
    monkeypatch.setattr(_GaussianSearch, "_largest_delta", lambda self, eps: self.target_delta)
    with pytest.raises(UnsupportedError):
        calibrate_gaussian(Clusters(size=3), 1.5, 1e-4)
    monkeypatch.undo()
    monkeypatch.setattr(_GaussianSearch, "_epsilon", lambda self, eps: eps)
    assert calibrate_gaussian(Clusters(size=3), 1.5, 1e-4).certified_epsilon <= 1.5


def run(*arguments: str) -> dict:
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_command_line_gives_the_same() -> None:
    spec = json.dumps(CHAIN.spec())
    outcome = run("calibrate", spec, "--target", "1", "--delta", "1e-5", "--sensitivity", "4")
    due = calibrate_gaussian(CHAIN, 1.0, 1e-5, sensitivity=4).to_dict()
    assert {key: outcome[key] for key in due} == due
    level = run(
        "leakage", spec, "--epsilon", repr(due["dp_epsilon"]), "--delta", repr(due["dp_delta"])
    )
    assert level["best"]["epsilon"] <= 1.0
    assert level["best"]["delta"] <= 1e-5


def test_the_search_finds_the_largest() -> None:
    assert largest_within(lambda x: 3 * x, 1.5) == pytest.approx(0.5, rel=1e-11)
    assert largest_within(lambda x: x, 1.5) == 1.5
    assert largest_within(lambda x: math.inf, 1.0) == 0.0
    steps = largest_within(lambda x: x if x <= 0.2 else x + 1, 1.0)
    assert steps == pytest.approx(0.2, rel=1e-10)
    assert steps <= 0.2
