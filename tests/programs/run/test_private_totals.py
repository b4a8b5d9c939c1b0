"""Rates with a private total: against sums over all pairs, a simulation, and in bounded time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp

from bayesdp.errors import InputError
from bayesdp.programs.ir import Expr
from bayesdp.programs.run import Density
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.interpolated import interpolated
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors.from_releases import FLAT_SIZE, MATCHED, MOST_PARTS, derived
from bayesdp.programs.run.posteriors.private_totals import (
    MOST_SCALE,
    log_likelihood,
    noisy_poisson,
    require_scale,
)
from bayesdp.programs.run.results import distributions
from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.run.values.public import PublicValues
from tests.effort import runs
from tests.programs.run.helpers import Noted, accepted, done

SCALES = [0.05, 0.7, 3.0, 40.0]
RELEASED = [(3, 5), (-4, 10), (200, 7), (1000, 1500), (-60, -2), (0, 0)]


class _Numbers(PublicValues):
    def __init__(self) -> None:
        self.names = {}


def posterior(
    y: float, z: float, noise: AddedNoise, prior: distributions.Distribution
) -> distributions.Univariate:
    law = derived(
        "noise-aware", Noisy((Fraction(y), Fraction(z)), noise),
        Expr("likelihood", (), ("bernoulli",)), prior, _Numbers(),
    )  # fmt: skip
    assert isinstance(law, distributions.Univariate)
    return law


def pairs(y: float, z: float, noise: AddedNoise) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair of counts that the noise allows, and the logarithm of its weight for any rate."""
    reach = 45 * noise.scale if noise.kind == "laplace" else 10 * noise.scale
    s, f = (
        np.arange(max(0, int(x - reach - 60)), int(max(x, 0) + reach + 60), dtype=float)
        for x in (y, z)
    )
    s, f = s[:, None], f[None, :]
    logs = gammaln(s + f + 1) - gammaln(s + 1) - gammaln(f + 1)
    return s, f, logs + noise.log(y - s) + noise.log(z - f)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("y", "z"), RELEASED)
def test_the_likelihood_is_the_sum_over_all_pairs(kind: str, scale: float, y: int, z: int) -> None:
    noise = AddedNoise(kind, scale)
    logs, off = log_likelihood((y, z), noise)
    share = max(y, 0.5) / (max(y, 0.5) + max(z, 0.5))
    logit = np.log(share / (1 - share)) + np.linspace(-4, 4, 7) / np.sqrt(max(1, min(y, z)))
    rates = 1 / (1 + np.exp(-logit))
    s, f, weight = pairs(y, z, noise)
    direct = [logsumexp(weight + s * np.log(x) + f * np.log1p(-x)) for x in rates]
    actual = logs(rates)
    assert actual - actual[3] == pytest.approx(np.asarray(direct) - direct[3], abs=2e-9)
    assert off < 1e-8


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("y", [-30.0, 0.0, 2.5, 12.0, 700.5])
def test_a_noisy_poisson_number_and_its_slope(kind: str, scale: float, y: float) -> None:
    noise, s = AddedNoise(kind, scale), np.arange(6000.0)
    u = np.linspace(-25, 7.8, 50)
    terms = s * u[:, None] - np.exp(u)[:, None] - gammaln(s + 1) + noise.log(y - s)
    direct = logsumexp(terms, axis=1)
    mean = np.exp(terms - direct[:, None]) @ s - np.exp(u)
    values, slopes = noisy_poisson(u, y, noise)
    allowed = 1e-10 * np.maximum(1.0, direct.max() - direct)
    assert (np.abs((values - direct) - (values - direct)[0]) < allowed).all()
    assert slopes == pytest.approx(mean, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("prior", [(1, 1), (0.5, 0.5), (40, 3)])
@pytest.mark.parametrize(("y", "z", "scale"), [(3, 5, 2.5), (-6, 9, 4.0), (60, 20, 8.0)])
def test_every_number_of_the_posterior(
    kind: str, prior: tuple[float, float], y: int, z: int, scale: float
) -> None:
    noise = AddedNoise(kind, scale)
    (a, b), (s, f, weight) = prior, pairs(y, z, noise)
    logs = weight + betaln(a + s, b + f)
    first, last = np.broadcast_to(a + s, logs.shape), np.broadcast_to(b + f, logs.shape)
    direct = distributions.mixture("beta", first.ravel(), last.ravel(), logs.ravel())
    law = posterior(y, z, noise, distributions.single("beta", a, b))
    assert isinstance(law, Density)
    assert law.error < 1e-6
    assert law.notes == (FLAT_SIZE,)
    assert law.mean == pytest.approx(direct.mean, abs=2e-8)
    assert law.sd == pytest.approx(direct.sd, abs=2e-8)
    for p in (0.01, 0.5, 0.975):
        assert direct.cdf(law.quantile(p)) == pytest.approx(p, abs=1e-5)
    assert law.interval(0.9) == pytest.approx(direct.interval(0.9), abs=1e-5)
    between = direct.cdf(0.6) - direct.cdf(0.3)
    assert law.cdf(0.6) - law.cdf(0.3) == pytest.approx(between, abs=3e-5)


def test_a_prior_far_from_what_was_released() -> None:
    """The counts are then far out in the noise's tail, where no window around them reaches."""
    noise, (y, z), (a, b) = AddedNoise("laplace", 2.0), (-5, 10), (1000, 1)
    s, f = np.arange(0.0, 400)[:, None], np.arange(0.0, 400)[None, :]
    logs = (
        gammaln(s + f + 1) - gammaln(s + 1) - gammaln(f + 1) + betaln(a + s, b + f)
        + noise.log(y - s) + noise.log(z - f)
    )  # fmt: skip
    share = np.exp(logs - logs.max())
    mean = float((share * (a + s) / (a + b + s + f)).sum() / share.sum())
    law = posterior(y, z, noise, distributions.single("beta", a, b))
    assert law.mean == pytest.approx(mean, abs=1e-9)


def test_a_prior_of_several_parts_is_taken_as_it_is() -> None:
    noise, y, z = AddedNoise("laplace", 3.0), 12, 30
    prior = distributions.mixture(
        "beta", np.asarray([2.0, 30.0]), np.asarray([8.0, 10.0]), np.log([0.7, 0.3])
    )
    s, f, weight = pairs(y, z, noise)
    parts = []
    for a, b in ((2, 8), (30, 10)):
        logs = weight + betaln(a + s, b + f) - betaln(a, b)
        parts.append((logsumexp(logs), float(np.exp(logs - logsumexp(logs)).ravel() @ (
            np.broadcast_to((a + s) / (a + b + s + f), logs.shape).ravel()))))  # fmt: skip
    shares = np.exp([log for log, _ in parts] - parts[0][0]) * [0.7, 0.3]
    mean = float(shares @ [mean for _, mean in parts] / shares.sum())
    law = posterior(y, z, noise, prior)
    assert law.mean == pytest.approx(mean, abs=1e-8)
    assert law.notes == (FLAT_SIZE,)
    # A posterior of one release as the prior of the next, and then as a prior here.
    again = posterior(y, z, noise, law)
    assert again.sd < law.sd
    many = MOST_PARTS + 1
    wide = distributions.mixture(
        "beta", 5 + np.arange(many) / 9, np.full(many, 7.0), np.zeros(many)
    )
    matched = posterior(y, z, noise, wide)
    assert matched.notes == (MATCHED, FLAT_SIZE)
    assert matched.mean == pytest.approx(
        posterior(y, z, noise, distributions.single("beta", *_moments(wide))).mean, abs=1e-9
    )


def _moments(law: distributions.Univariate) -> tuple[float, float]:
    total = law.mean * (1 - law.mean) / law.sd**2 - 1
    return law.mean * total, (1 - law.mean) * total


@pytest.mark.prove
def test_intervals_hold_as_often_as_they_say() -> None:
    """Rates from the prior, totals from a wide uniform law: the posterior is calibrated."""
    rng, noise, held = np.random.default_rng(7), AddedNoise("laplace", 8.0), 0
    tables = runs(150, 20)
    for _ in range(tables):
        rate, total = rng.beta(2, 2), rng.integers(0, 2000)
        s = rng.binomial(total, rate)
        y, z = (int(x + np.rint(rng.laplace(scale=8.0))) for x in (s, total - s))
        law = posterior(y, z, noise, distributions.single("beta", 2, 2))
        held += law.quantile(0.1) <= rate <= law.quantile(0.9)
    assert 1e-5 < stats.binom.cdf(held, tables, 0.8) < 1 - 1e-5


TEXT = """
@record
class R:
    on: Bool
    sick: Bool
@program
def f(db: Database[R]) -> Private[Beta]:
    model = observe((r.sick for r in db if r.on), bernoulli, prior=beta(1, 1))
    return noise_aware(RELEASE)
"""
RELEASES = {
    "laplace": "laplace(statistics(model), epsilon=1 / 10**6)",
    "gaussian": "gaussian(statistics(model), epsilon=1 / 10**4, delta=1 / 10**6)",
}
TABLE = {"on": [True, True, False], "sick": [True, False, True]}


@pytest.mark.parametrize("noise", RELEASES)
@pytest.mark.parametrize("shift", [-(2**90), -(2**60), 0, 2**50, 2**60, 2**90])
def test_no_run_stops_whatever_was_drawn(noise: str, shift: int) -> None:
    core, verdict = accepted(TEXT.replace("RELEASE", RELEASES[noise]))
    ready(core, verdict, load(core, TABLE))
    value = done(core, verdict, TABLE, Noted(shift=shift)).value
    low, high = value.interval(0.95)
    assert 0 <= low < value.mean < high <= 1


def test_noise_beyond_all_scales_is_refused_before() -> None:
    text = TEXT.replace("RELEASE", RELEASES["laplace"]).replace("10**6", "10**12")
    core, verdict = accepted(text)
    with pytest.raises(InputError, match="noise_aware of counts with a private total"):
        ready(core, verdict, load(core, TABLE))
    core, verdict = accepted(text.replace("noise_aware", "plug_in"))
    ready(core, verdict, load(core, TABLE))
    require_scale(AddedNoise("laplace", MOST_SCALE))
    with pytest.raises(InputError, match="noise of a scale below 16777216"):
        require_scale(AddedNoise("gaussian", MOST_SCALE * 1.01))
    prior = distributions.single("beta", 1, 1)
    for kind in ("laplace", "gaussian"):
        for far in (1e300, -1e300, 0.0):
            law = posterior(far, -far, AddedNoise(kind, MOST_SCALE), prior)
            assert np.isfinite([law.mean, law.sd, *law.interval(0.5)]).all()


def test_pieces_are_halved_until_they_fit() -> None:
    def bent(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log1p(np.exp(-50 * np.abs(x - 0.3))), -50 * np.sign(x - 0.3) / (
            1 + np.exp(50 * np.abs(x - 0.3))
        )

    pieces = interpolated(bent, -2.0, 5.0, 0.3)
    x = np.linspace(-2, 5, 4321)
    assert np.abs(pieces(x) - bent(x)[0]).max() < 3e-9
    assert pieces.error <= 1
    assert pieces.with_slopes(np.asarray([1.0]))[1] == pytest.approx(bent(np.asarray([1.0]))[1])
    # Outside it goes on as a line.
    line = interpolated(lambda x: (2 * x, np.full(len(x), 2.0)), 0.0, 1.0)
    assert line(np.asarray([-3.0, 7.0])) == pytest.approx([-6.0, 14.0])
    # A jump has no piece that fits: it is said.
    torn = interpolated(lambda x: (np.where(x > 0.123, 1.0, 0.0), np.zeros(len(x))), 0.0, 1.0)
    assert torn.error > 1
