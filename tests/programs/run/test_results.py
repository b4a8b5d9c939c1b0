"""Results: what they offer, and that they show nothing else."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.programs.run import Samples
from bayesdp.programs.run.numerics.quadrature import by_quadrature
from bayesdp.programs.run.results.diagnostics import effective, split_r_hat
from bayesdp.programs.run.results.distributions import dirichlet, mixture, single
from tests.programs.run.helpers import accepted, done, rng

BETA, GAMMA, NORMAL = single("beta", 2, 5), single("gamma", 3, 2), single("normal", 1, 2)
MIXED = mixture("beta", np.asarray([2.0, 9.0]), np.asarray([5.0, 1.0]), np.log([0.25, 0.75]))
DENSE = by_quadrature("normal", NORMAL.log_density, "identity", (-99.0, 99.0))
TABLE = dirichlet(np.asarray([1.0, 2.0, 3.0]), ("a", "b", "c"))
DRAWS = Samples("regression", ("b0", "b1"), rng().normal(size=(500, 2)), {"b0": {"ess": 1.0}})
ALL = [BETA, GAMMA, NORMAL, MIXED, DENSE, TABLE, DRAWS]


@pytest.mark.parametrize("posterior", ALL, ids=repr)
def test_numbers_agree_with_draws_and_not_with_others(posterior: Any) -> None:
    """Draws that lie a tenth too far from their mean, or too near, are seen."""
    draws = posterior.samples(20_000, rng(7)).reshape(20_000, -1)
    mean, sd = np.atleast_1d(posterior.mean), np.atleast_1d(posterior.sd)
    low, high = np.atleast_2d(posterior.interval(0.9)).T

    def agree(drawn: np.ndarray) -> bool:
        inside = ((drawn >= low) & (drawn <= high)).mean(axis=0)
        return bool(
            np.all(np.abs(drawn.mean(axis=0) - mean) <= 6 * max(sd) / 20_000**0.5)
            and np.allclose(drawn.std(axis=0), sd, rtol=0.06)
            and np.allclose(inside, 0.9, atol=0.015)
        )

    assert agree(draws)
    assert not agree(mean + 1.1 * (draws - mean))
    assert not agree(mean + 0.9 * (draws - mean))
    assert not agree(draws + 0.1 * sd)


@pytest.mark.parametrize("posterior", ALL, ids=repr)
def test_plain_data_and_figures(posterior: object) -> None:
    plain = json.loads(json.dumps(posterior.to_dict()))  # type: ignore[attr-defined]
    assert plain["family"] == posterior.family  # type: ignore[attr-defined]
    figure = posterior.figure("A <title>")  # type: ignore[attr-defined]
    assert figure._repr_svg_() == str(figure)
    root = ElementTree.fromstring(figure)
    assert root.tag.endswith("svg")
    assert root[0].text == "A <title>"


@pytest.mark.parametrize("posterior", ALL, ids=repr)
def test_a_figure_says_the_mean_and_the_interval_of_each_entry(posterior: Any) -> None:
    described = ElementTree.fromstring(posterior.figure())[1].text or ""
    names = getattr(posterior, "names", (posterior.family,))
    means, intervals = np.atleast_1d(posterior.mean), np.atleast_2d(posterior.interval(0.95))
    number = r"(-?[0-9.e+-]+)"
    sentences = described.split("; ")
    for said, name, mean, (low, high) in zip(sentences, names, means, intervals, strict=True):
        form = rf"{re.escape(name)}: mean {number}, 95 % interval {number} to {number}"
        match = re.fullmatch(form, said)
        assert match is not None, said
        shown = [float(part) for part in match.groups()]
        assert shown == pytest.approx([mean, low, high], rel=0, abs=(high - low) / 2000)
    assert posterior.figure().count("<polyline") == len(names)


@pytest.mark.parametrize("posterior", [BETA, GAMMA, NORMAL, MIXED, DENSE])
def test_densities_and_quantiles(posterior: object) -> None:
    x = np.linspace(posterior.quantile(1e-6), posterior.quantile(1 - 1e-6), 20_001)  # type: ignore[attr-defined]
    y = posterior.density(x)  # type: ignore[attr-defined]
    assert np.trapezoid(y, x) == pytest.approx(1.0, abs=1e-4)
    for p in (0.01, 0.5, 0.9):
        assert posterior.cdf(posterior.quantile(p)) == pytest.approx(p, abs=1e-6)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="between 0 and 1"):
        posterior.interval(1.5)  # type: ignore[attr-defined]


def test_quadrature_of_a_known_density() -> None:
    assert DENSE.mean == pytest.approx(1.0, abs=1e-9)
    assert DENSE.sd == pytest.approx(2.0, abs=1e-9)
    sharp = by_quadrature(
        "normal", lambda x: -0.5 * ((x - 0.1234) / 1e-5) ** 2, "identity", (-1e3, 1e3)
    )
    assert sharp.mean == pytest.approx(0.1234, abs=1e-9)
    assert sharp.sd == pytest.approx(1e-5, rel=1e-6)


def test_results_are_frozen_and_named() -> None:
    core, verdict = accepted("""
@program
def coin(obs: Database[Bool]) -> Private[tuple[Beta, Int]]:
    noisy = laplace(statistics(observe(obs, bernoulli, prior=beta(1, 1))), epsilon=1)
    return plug_in(noisy), noisy
""")
    actual = done(core, verdict, [True, True, False])
    posterior, count = actual
    assert posterior.parameters == (3.0, 2.0)
    assert count == 2
    assert isinstance(count, int)
    assert dict(actual.releases) == {"laplace_1": 2}
    assert repr(actual) == "<coin: beta(3, 2), 2 (epsilon 1)>"
    assert json.loads(json.dumps(actual.to_dict()))["outputs"][1] == {"type": "Int", "value": 2}
    with pytest.raises(AttributeError):
        actual.outputs = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        actual.releases["x"] = 1  # type: ignore[index]
    with pytest.raises(InputError, match="one output"):
        actual.interval()


def test_diagnostics_tell_good_chains_from_bad() -> None:
    good = rng(1).normal(size=(4, 1000))
    assert split_r_hat(good) == pytest.approx(1.0, abs=0.01)
    assert effective(good) == pytest.approx(4000, rel=0.2)
    apart = good + np.arange(4)[:, None]
    assert split_r_hat(apart) > 1.3
    slow = np.cumsum(good, axis=1)
    assert effective(slow) < 100
    # An autoregressive chain has (1 - phi) / (1 + phi) of its length.
    chain = np.zeros((4, 5000))
    steps = rng(2).normal(size=(4, 5000))
    for t in range(1, 5000):
        chain[:, t] = 0.8 * chain[:, t - 1] + steps[:, t]
    assert effective(chain) == pytest.approx(20_000 / 9, rel=0.25)


@pytest.mark.parametrize(
    ("posterior", "ends"),
    [
        (single("gamma", 1.0, 1.0), (0.0, None)),
        (single("beta", 1.0, 30.0), (0.0, None)),
        (single("beta", 30.0, 1.0), (None, 1.0)),
        (single("beta", 1.0, 1.0), (0.0, 1.0)),
        (mixture("beta", [2.0, 1.0, 1.5], [1.0, 1.0, 1.0], np.log([0.1, 0.2, 0.7])), (0.0, 1.0)),
        (single("normal", 0.0, 1.0), (None, None)),
        (dirichlet(np.array([1.0, 2.0, 40.0]), ("a", "b", "c")), (0.0, 1.0)),
    ],
)
def test_axes_end_where_values_do(posterior: Any, ends: tuple[float | None, float | None]) -> None:
    ticks = [
        float(text) for text in re.findall(r'class="bd-tick"[^>]*>([^<]*)<', posterior.figure())
    ]
    low, high = min(ticks), max(ticks)
    assert low == ends[0] if ends[0] is not None else low != 0.0
    assert high == ends[1] if ends[1] is not None else high != 1.0
    if posterior.family != "normal":
        assert low >= 0.0
