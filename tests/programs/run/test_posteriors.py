"""Posteriors against brute force: true statistics enumerated, integrals on fine grids."""

from __future__ import annotations

import sys
import tracemalloc
from fractions import Fraction
from itertools import product
from math import exp, lgamma, log, sqrt

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, gammaln, logsumexp

from bayesdp.errors import InputError
from bayesdp.programs.ir import Expr
from bayesdp.programs.run import Density, Joint, Mixture
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise, cells, window
from bayesdp.programs.run.numerics.observed import Answers, Noisy
from bayesdp.programs.run.numerics.private_sizes import log_over_sizes
from bayesdp.programs.run.posteriors.from_releases import derived
from bayesdp.programs.run.posteriors.linear_regression import closed_form
from bayesdp.programs.run.results import distributions
from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.run.values.public import PublicValues
from tests.programs.run.helpers import Noted, accepted, done, rng, seen

LAPLACE, GAUSS = AddedNoise("laplace", 2.5), AddedNoise("gaussian", 1.7)
NOISES = [LAPLACE, GAUSS]


class _Numbers(PublicValues):
    """Just enough to evaluate literal parameters."""

    def __init__(self) -> None:
        self.names = {}


def _likelihood(family: str, *parameters: float) -> Expr:
    parts = tuple(Expr("const", (), (Fraction(parameter),)) for parameter in parameters)
    return Expr("likelihood", parts, (family,))


def posterior(
    source: Noisy | Answers,
    likelihood: Expr,
    prior: distributions.Distribution,
    op: str = "noise-aware",
) -> distributions.Distribution:
    """What the interpreter derives."""
    return derived(op, source, likelihood, prior, _Numbers())


def noisy(*values: float, noise: AddedNoise, size: int | None = None) -> Noisy:
    return Noisy(tuple(Fraction(value) for value in values), noise, size)


def on_grid(log_density: object, low: float, high: float) -> tuple[float, float]:
    """Mean and sd by brute force."""
    x = np.linspace(low, high, 200_001)[1:-1]
    logs = np.asarray([0.0])
    logs = log_density(x)  # type: ignore[operator]
    w = np.exp(logs - logs.max())
    w /= w.sum()
    mean = float(w @ x)
    return mean, float(np.sqrt(w @ (x - mean) ** 2))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("y", [-4, 2, 9])
def test_beta_bernoulli(noise: AddedNoise, y: int) -> None:
    n, a, b = 6, 2.0, 5.0
    law = posterior(
        noisy(y, noise=noise, size=n), _likelihood("bernoulli"), distributions.single("beta", a, b)
    )
    assert isinstance(law, Mixture)
    s = np.arange(n + 1)

    def logs(x: np.ndarray) -> np.ndarray:
        each = stats.binom.logpmf(s[None, :], n, x[:, None]) + noise.log(y - s)[None, :]
        return stats.beta.logpdf(x, a, b) + logsumexp(each, axis=1)

    mean, sd = on_grid(logs, 0, 1)
    assert law.mean == pytest.approx(mean, abs=1e-7)
    assert law.sd == pytest.approx(sd, abs=1e-7)
    w = np.exp(betaln(a + s, b + n - s) + gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
               + noise.log(y - s))  # fmt: skip
    assert law.weights == pytest.approx(w / w.sum(), abs=1e-12)
    low, high = law.interval(0.9)
    assert law.cdf(low) == pytest.approx(0.05, abs=1e-9)
    assert law.cdf(high) == pytest.approx(0.95, abs=1e-9)


@pytest.mark.parametrize("n", [20_000])
@pytest.mark.parametrize(("a", "b", "y"), [(1e5, 1e5, 3000), (0.5, 0.5, 0), (0.01, 3.0, 40)])
def test_windows_hold_all_that_counts(n: int, a: float, b: float, y: int) -> None:
    noise = AddedNoise("laplace", 4.0)
    law = posterior(
        noisy(y, noise=noise, size=n), _likelihood("bernoulli"), distributions.single("beta", a, b)
    )
    s = np.arange(n + 1)
    logs = betaln(a + s, b + n - s) - gammaln(s + 1) - gammaln(n - s + 1) + noise.log(y - s)
    w = np.exp(logs - logs.max())
    w /= w.sum()
    assert law.mean == pytest.approx(float(w @ ((a + s) / (a + b + n))), rel=1e-9)


@pytest.mark.parametrize("good", [0, 3, 7])
def test_randomized_response_sums_over_the_true_count(good: int) -> None:
    n, kept, other, a, b = 7, 0.7, 0.3, 0.5, 0.5
    answers = Answers(np.asarray([1] * good + [0] * (n - good)), ("False", "True"), kept, other)
    actual = posterior(answers, _likelihood("bernoulli"), distributions.single("beta", a, b))
    logs = []
    for s in range(n + 1):
        law = sum(
            stats.binom.pmf(j, s, kept) * stats.binom.pmf(good - j, n - s, other)
            for j in range(good + 1)
        )
        prior = betaln(a + s, b + n - s) + gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
        logs.append(prior + log(law))
    w = np.exp(logs - np.max(logs))
    w /= w.sum()
    s = np.arange(n + 1)
    m = (a + s) / (a + b + n)
    v = m * (1 - m) / (a + b + n + 1)
    assert isinstance(actual, Density)
    assert actual.error < 1e-9
    assert actual.mean == pytest.approx(float(w @ m), abs=1e-8)
    assert actual.sd == pytest.approx(sqrt(float(w @ (v + m * m)) - float(w @ m) ** 2), abs=1e-8)


def _tables(total: int, k: int) -> list[tuple[int, ...]]:
    return [t for t in product(range(total + 1), repeat=k) if sum(t) == total]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("y", [(2, 1, 4), (-3, 6, 1), (9, 9, 9)])
def test_dirichlet_sums_over_all_tables(noise: AddedNoise, y: tuple[int, ...]) -> None:
    n, alpha = 7, np.asarray([1.0, 0.3, 4.0])
    law = posterior(
        noisy(*y, noise=noise, size=n),
        _likelihood("categorical"),
        distributions.dirichlet(alpha, ("a", "b", "c")),
    )
    assert isinstance(law, Joint)
    total, mean, square, mass = alpha.sum(), np.zeros(3), np.zeros(3), 0.0
    for table in _tables(n, 3):
        w = exp(sum(lgamma(p + c) - lgamma(c + 1) + float(noise.log(z - c))
                    for p, c, z in zip(alpha, table, y, strict=True)))  # fmt: skip
        m = (alpha + table) / (total + n)
        mean, mass = mean + w * m, mass + w
        square += w * (m * (1 - m) / (total + n + 1) + m * m)
    assert law.mean == pytest.approx(mean / mass, abs=1e-9)
    assert law.sd == pytest.approx(np.sqrt(square / mass - (mean / mass) ** 2), abs=1e-8)
    draws = law.samples(4000, rng())
    assert draws.sum(axis=1) == pytest.approx(1.0)
    assert draws.mean(axis=0) == pytest.approx(mean / mass, abs=5 * max(law.sd) / sqrt(4000))


def test_dirichlet_with_many_large_cells() -> None:
    """Chains of convolutions in the middle of things: means add up, and lie near the counts."""
    r = rng(5)
    true = r.multinomial(200_000, r.dirichlet(np.full(40, 0.7)))
    noise = AddedNoise("laplace", 20.0)
    y = true + np.rint(r.laplace(scale=20, size=40))
    actual = cells(y.tolist(), noise, np.full(40, 1.0), 200_000)
    means = [float(v @ w) for v, w in zip(actual.values, actual.weights, strict=True)]
    assert sum(means) == pytest.approx(200_000, abs=1e-3)
    # The total is known, so what the noise took away is given back, a little to each cell.
    assert 0 < (np.asarray(means) - y).mean() == pytest.approx(-(y - true).mean(), abs=1e-4)
    assert np.abs(np.asarray(means) - y).max() < 40


def test_a_private_size_has_a_flat_prior() -> None:
    y, alpha, noise = (3, 5), np.asarray([2.0, 1.0]), LAPLACE
    two = posterior(
        noisy(*y, noise=noise), _likelihood("bernoulli"), distributions.single("beta", 2, 1)
    )
    cell = posterior(
        noisy(*y, noise=noise), _likelihood("categorical"),
        distributions.dirichlet(alpha, ("t", "f")),
    )  # fmt: skip
    mean = mass = 0.0
    for s, f in product(range(200), repeat=2):
        w = exp(
            float(noise.log(y[0] - s) + noise.log(y[1] - f))
            + lgamma(s + f + 1) - lgamma(s + 1) - lgamma(f + 1) + betaln(2 + s, 1 + f)
        )  # fmt: skip
        mean, mass = mean + w * (2 + s) / (3 + s + f), mass + w
    assert two.mean == pytest.approx(mean / mass, abs=1e-9)
    assert cell.mean[0] == pytest.approx(mean / mass, abs=1e-9)  # type: ignore[index]
    assert cell.samples(4000, rng())[:, 0].mean() == pytest.approx(mean / mass, abs=0.02)


@pytest.mark.parametrize("noise", NOISES)
def test_gamma_poisson(noise: AddedNoise) -> None:
    y, exposure, a, b = 11.0, 7.3, 2.0, 4.0
    prior = distributions.single("gamma", a, b)
    law = posterior(noisy(y, noise=noise), _likelihood("poisson", exposure), prior)
    s = np.arange(200)

    def logs(x: np.ndarray) -> np.ndarray:
        actual = np.empty(len(x))
        for start in range(0, len(x), 5000):
            part = x[start : start + 5000]
            each = stats.poisson.logpmf(s[None, :], part[:, None] * exposure) + noise.log(y - s)
            actual[start : start + 5000] = logsumexp(each, axis=1)
        return actual + stats.gamma.logpdf(x, a, scale=1 / b)

    mean, sd = on_grid(logs, 0, 12)
    assert law.mean == pytest.approx(mean, abs=1e-7)
    assert law.sd == pytest.approx(sd, abs=1e-7)


@pytest.mark.parametrize("noise", NOISES)
def test_normal_mean(noise: AddedNoise) -> None:
    y, n, sd, m, t = 31.0, 9, 2.0, 3.0, 1.5
    prior = distributions.single("normal", m, t)
    actual = posterior(noisy(y, noise=noise, size=n), _likelihood("normal", sd), prior)
    z = np.linspace(-80, 80, 8001)
    law = np.exp(noise.log(z))

    def logs(x: np.ndarray) -> np.ndarray:
        means = np.linspace(x[0], x[-1], 801)
        at = [
            log(float(integrate.simpson(law * stats.norm.pdf(y - z, n * u, sqrt(n) * sd), x=z)))
            for u in means
        ]
        return np.interp(x, means, at) + stats.norm.logpdf(x, m, t)

    mean, spread = on_grid(logs, m - 4 * t, m + 4 * t)
    assert actual.mean == pytest.approx(mean, abs=2e-4)
    assert actual.sd == pytest.approx(spread, abs=2e-4)
    assert isinstance(actual, Mixture if noise.kind == "gaussian" else Density)


def test_normal_mean_with_a_private_size() -> None:
    noise = AddedNoise("laplace", 1.0)
    prior = distributions.single("normal", 0.0, 2.0)
    actual = posterior(noisy(6.0, 9.0, noise=noise), _likelihood("normal", 1.0), prior)
    x = np.linspace(-12, 12, 4001)
    z = np.linspace(-60, 60, 6001)
    law = np.exp(noise.log(z))
    w = np.zeros_like(x)
    for n in range(0, 40):
        if n == 0:
            w += np.exp(noise.log(6.0 - n)) * np.exp(noise.log(9.0)) / 2 * stats.norm.pdf(x, 0, 2)
            continue
        sums = np.linspace(-60, 60, 6001)
        known = np.interp(9.0 - sums, z, law) / 2
        each = np.asarray([
            float(np.sum(known * stats.norm.pdf(sums, n * u, sqrt(n)))) * (sums[1] - sums[0])
            for u in x[::20]
        ])  # fmt: skip
        w += np.exp(noise.log(6.0 - n)) * np.interp(x, x[::20], each) * stats.norm.pdf(x, 0, 2)
    w /= w.sum()
    assert actual.mean == pytest.approx(float(w @ x), abs=5e-3)
    assert "private" in " ".join(actual.notes)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("released", "sd", "scale", "prior"),
    [
        ((6.0, 9.0), 1.0, 2.0, (0.0, 2.0)),
        ((30.0, 4000.0), 7.0, 9.0, (165.0, 15.0)),
        ((-12.0, 510.0), 7.0, 9.0, (165.0, 15.0)),
        ((40.5, -5.0), 3.0, 8.0, (0.0, 5.0)),
        ((40.0, 2e6), 2e4, 8.0, (4e4, 2e4)),
        ((100.0, 100.0), 0.01, 8.0, (1.0, 0.5)),
        ((300.0, 51_000.0), 7.0, 9.0, (165.0, 15.0)),
    ],
)
def test_blocks_of_sizes_are_the_sum_over_sizes(
    kind: str,
    released: tuple[float, float],
    sd: float,
    scale: float,
    prior: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = noisy(*released, noise=AddedNoise(kind, scale))
    arguments = source, _likelihood("normal", sd), distributions.single("normal", *prior)
    monkeypatch.setattr("bayesdp.programs.run.numerics.private_sizes.FEW", 10**6)
    exact = posterior(*arguments)
    monkeypatch.setattr("bayesdp.programs.run.numerics.private_sizes.FEW", 0)
    law = posterior(*arguments)
    assert law.mean == pytest.approx(exact.mean, rel=1e-9, abs=1e-9)
    assert law.sd == pytest.approx(exact.sd, rel=1e-9)
    assert law.interval(0.95) == pytest.approx(exact.interval(0.95), rel=1e-6)


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_mean_s_likelihood_is_the_sum_over_sizes(
    kind: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody at all weighs what it should beside the others."""
    monkeypatch.setattr("bayesdp.programs.run.numerics.private_sizes.FEW", few)
    b, sd, y = 3.0, 2.0, (1.0, 4.0)
    law = stats.laplace(scale=b) if kind == "laplace" else stats.norm(scale=b)
    x = np.asarray([-2.0, 0.0, 0.5, 3.0])
    z = np.linspace(-150, 150, 60_001)
    brute = []
    for mean in x:
        total = law.pdf(y[0]) * law.pdf(y[1])
        for n in range(1, 80):
            sums = stats.norm.pdf(y[1] - z, n * mean, sqrt(n) * sd)
            total += law.pdf(y[0] - n) * float(integrate.simpson(law.pdf(z) * sums, x=z))
        brute.append(log(total))
    actual = log_over_sizes(y, sd, AddedNoise(kind, b))(x)
    assert actual - actual[0] == pytest.approx(np.asarray(brute) - brute[0], abs=1e-7)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_larger_noise_on_a_private_size_takes_no_more_memory(kind: str) -> None:
    prior, means = distributions.single("normal", 165, 15), []
    for scale in (2e3, 1e9, 2.0**60, 1e300):
        tracemalloc.start()
        law = posterior(
            noisy(scale, -scale, noise=AddedNoise(kind, scale)), _likelihood("normal", 7.0), prior
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6
        means.append(law.mean)
    # Where there is hardly anything but noise, only the ratio of the two released numbers counts.
    assert means[1:] == pytest.approx([means[1]] * 3, rel=1e-6)
    assert means[0] == pytest.approx(means[1], abs=1)


FILTERED = """
@record
class R:
    x: Real[0, 10]
    on: Bool
    kind: Category["a", "b", "c"]
@program
def f(db: Database[R]) -> Private[DISTRIBUTION]:
    model = observe((r.ENTRY for r in db if r.on), LIKELIHOOD)
    return noise_aware(NOISE)
"""
HUGE = {
    "laplace": "laplace(statistics(model), epsilon=1 / 10**6)",
    "gaussian": "gaussian(statistics(model), epsilon=1 / 10**4, delta=1 / 10**6)",
}
TABLE = {"x": [1.0, 5.0], "on": [True, False], "kind": ["a", "c"]}


@pytest.mark.parametrize("noise", HUGE)
@pytest.mark.parametrize("shift", [-(2**90), -(2**60), 0, 2**50, 2**60, 2**90])
def test_a_filtered_normal_under_huge_noise(noise: str, shift: int) -> None:
    text = FILTERED.replace("DISTRIBUTION", "Normal").replace("ENTRY", "x")
    text = text.replace("LIKELIHOOD", "normal(sd=2), prior=normal(5, sd=3)")
    core, verdict = accepted(text.replace("NOISE", HUGE[noise]))
    value = done(core, verdict, TABLE, Noted(shift=shift)).value
    assert np.isfinite([value.mean, *value.interval(0.95)]).all()
    if 0 <= shift <= 2**50:
        assert abs(value.mean - 5) < 5
        assert 0 < value.sd < 4


@pytest.mark.parametrize("noise", HUGE)
def test_counts_with_a_private_total_that_noise_drowns_are_refused_before(noise: str) -> None:
    text = FILTERED.replace("DISTRIBUTION", "Dirichlet").replace("ENTRY", "kind")
    text = text.replace("LIKELIHOOD", "categorical, prior=dirichlet(1, 1, 1)")
    text = text.replace("NOISE", HUGE[noise])
    core, verdict = accepted(text)
    with pytest.raises(InputError, match="noise_aware of counts with a private total"):
        ready(core, verdict, load(core, TABLE))
    core, verdict = accepted(text.replace("noise_aware", "plug_in"))
    ready(core, verdict, load(core, TABLE))


SELECTED = """
@record
class R:
    x: Real[0, 10]
    q: Public[Real[0, 10]]
    c: Category["u", "v", "w"]

@program{options}
def f(db: Database[R]) -> Private[Dirichlet]:
    t = laplace(count(r for r in db if r.x > 5), epsilon=1)
    if t > 100:
        t = 0
    model = observe((r.c for r in db if r.{column} > t), categorical, prior=dirichlet(1, 1, 1))
    return noise_aware({noise})
"""
DROWNED = {
    "laplace": "laplace(statistics(model), epsilon=1 / 1000)",
    "gaussian": "gaussian(statistics(model), epsilon=1 / 1000, delta=1e-9)",
}


@pytest.mark.parametrize("noise", DROWNED)
@pytest.mark.parametrize("options", ["", '(adjacency="add-remove")'], ids=["replaced", "entering"])
def test_so_are_counts_of_records_that_a_released_number_selects(noise: str, options: str) -> None:
    """Their noise doesn't depend on that number, so nothing has to be paid to know it."""
    row = {"x": [1.0, 6.0], "q": [1.0, 6.0], "c": ["u", "v"]}
    text = SELECTED.format(options=options, column="x", noise=DROWNED[noise])
    core, verdict = accepted(text)
    with pytest.raises(InputError, match="noise_aware of counts with a private total"):
        ready(core, verdict, load(core, row))
    core, verdict = accepted(text.replace("1 / 1000", "1"))
    ready(core, verdict, load(core, row))
    assert done(core, verdict, row, Noted(shift=7)).value.mean[0] > 0
    # A public column selects: how many records there are is known, and any noise will do.
    core, verdict = accepted(SELECTED.format(options="", column="q", noise=DROWNED[noise]))
    ready(core, verdict, load(core, row))
    assert done(core, verdict, row, Noted(shift=7)).value.mean[0] > 0


def test_what_draws_noise_is_loaded_before_the_debit(monkeypatch: pytest.MonkeyPatch) -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Int]:
    return laplace(count(db), epsilon=1)
""")
    rows = load(core, [True])
    monkeypatch.delitem(sys.modules, "opendp.prelude", raising=False)
    ready(core, verdict, rows)
    assert "opendp.prelude" in sys.modules


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("far", [2.0**60, -(2.0**60), 1e300])
def test_counts_that_noise_drowns_leave_their_prior(kind: str, far: float) -> None:
    noise = AddedNoise(kind, max(abs(far), 1e200))
    gamma, beta = distributions.single("gamma", 2, 4), distributions.single("beta", 2, 3)
    law = posterior(noisy(far, noise=noise), _likelihood("poisson", 3.0), gamma)
    assert law.mean == pytest.approx(0.5, rel=1e-6)
    law = posterior(noisy(far, noise=noise, size=9), _likelihood("bernoulli"), beta)
    assert law.mean == pytest.approx(0.4, rel=1e-6)
    cells_of = Noisy((Fraction(far), Fraction(-far)), noise, 9, ("a", "b"))
    start = distributions.dirichlet(np.asarray([1.0, 3.0]), ("0", "1"))
    law = posterior(cells_of, _likelihood("categorical"), start)
    assert law.mean == pytest.approx((0.25, 0.75), rel=1e-6)


def test_without_noise_all_ways_agree() -> None:
    """With noise far below one, noise-aware is plug-in is the conjugate posterior."""
    tiny = AddedNoise("laplace", 1e-6)
    for source, likelihood, prior, expected in (
        (noisy(3, noise=tiny, size=10), _likelihood("bernoulli"),
         distributions.single("beta", 2, 5), 5 / 17),
        (noisy(3, noise=tiny), _likelihood("poisson", 4.0),
         distributions.single("gamma", 2, 5), 5 / 9),
        (noisy(30, noise=tiny, size=10), _likelihood("normal", 2.0),
         distributions.single("normal", 1, 3), (1 / 9 + 30 / 4) / (1 / 9 + 10 / 4)),
    ):  # fmt: skip
        for op in ("noise-aware", "plug-in"):
            law = posterior(source, likelihood, prior, op)
            assert law.mean == pytest.approx(expected, abs=1e-6)


def test_a_released_posterior_as_a_later_prior() -> None:
    """Two noisy counts of two halves, one after the other: as both together, by brute force."""
    core, verdict = accepted("""
@record
class R:
    half: Public[Bool]
    x: Bool
@program
def f(db: Database[R]) -> Private[Beta]:
    first = observe((r.x for r in db if r.half), bernoulli, prior=beta(2, 1))
    between = noise_aware(laplace(statistics(first), epsilon=1 / 2))
    second = observe((r.x for r in db if not r.half), bernoulli, prior=between)
    return noise_aware(laplace(statistics(second), epsilon=1 / 2))
""")
    table = {"half": [True] * 5 + [False] * 4, "x": [1, 1, 0, 1, 0, 0, 1, 1, 1]}
    value = done(core, verdict, table, Noted(shift=1)).value
    noise = AddedNoise("laplace", 2.0)
    logs, means = [], []
    for s, u in product(range(6), range(5)):
        parts = [
            float(noise.log(4 - s) + noise.log(4 - u)), betaln(2 + s + u, 1 + 9 - s - u),
            -gammaln(s + 1) - gammaln(6 - s) - gammaln(u + 1) - gammaln(5 - u),
        ]  # fmt: skip
        logs.append(sum(parts))
        means.append((2 + s + u) / 12)
    w = np.exp(logs - np.max(logs))
    assert value.mean == pytest.approx(float(w @ means) / w.sum(), abs=1e-10)


def test_a_density_as_a_later_prior() -> None:
    start = Answers(np.asarray([1, 1, 0]), ("False", "True"), 0.8, 0.2)
    prior = posterior(start, _likelihood("bernoulli"), distributions.single("beta", 2, 2))
    law = posterior(noisy(3, noise=LAPLACE, size=4), _likelihood("bernoulli"), prior)
    s = np.arange(5)

    def logs(x: np.ndarray) -> np.ndarray:
        q = 0.8 * x + 0.2 * (1 - x)
        each = stats.binom.logpmf(s[None, :], 4, x[:, None]) + LAPLACE.log(3 - s)[None, :]
        base = stats.beta.logpdf(x, 2, 2) + 2 * np.log(q) + np.log(1 - q)
        return base + logsumexp(each, axis=1)

    mean, sd = on_grid(logs, 0, 1)
    assert law.mean == pytest.approx(mean, abs=1e-6)
    assert law.sd == pytest.approx(sd, abs=1e-6)


def test_categorical_answers_by_data_augmentation() -> None:
    """Against the integral over the simplex of three chances."""
    counts, kept, other = (20, 5, 8), 0.6, 0.2
    values = np.repeat([0, 1, 2], counts)
    answers = Answers(values, ("a", "b", "c"), kept, other)
    prior = distributions.dirichlet(np.asarray([1.0, 2.0, 1.0]), ("a", "b", "c"))
    actual = posterior(answers, _likelihood("categorical"), prior)
    g = (np.arange(600) + 0.5) / 600
    p, q = np.meshgrid(g, g, indexing="ij")
    r = 1 - p - q
    inside = r > 0
    law = [other + (kept - other) * item for item in (p, q, np.where(inside, r, 0.1))]
    w = np.where(inside, q * np.prod([a**c for a, c in zip(law, counts, strict=True)], axis=0), 0)
    mean = [float((w * item).sum() / w.sum()) for item in (p, q, r)]
    assert actual.mean == pytest.approx(mean, abs=0.01)
    worst = max(value["r_hat"] for value in actual.diagnostics.values())  # type: ignore[union-attr]
    assert worst < 1.05


def test_a_window_reaches_over_a_flat_stretch() -> None:
    c, logs = window(lambda c: np.where(c < 5000, 0.0, -0.01 * (c - 5000)), 0.0, 0, None)
    assert c[0] == 0
    assert c[-1] >= 9000
    assert logs[-1] < -40


def test_regression_in_closed_form() -> None:
    """Exact moments and hardly any noise: the ordinary conjugate posterior."""
    r = rng(2)
    x = np.c_[np.ones(50), r.uniform(-1, 1, 50)]
    y = x @ [0.3, -0.6] + 0.2 * r.normal(size=50)
    whole = np.c_[x, y].T @ np.c_[x, y]
    values = tuple(Fraction(float(item)) for item in whole[np.triu_indices(3)])
    source = Noisy(values, AddedNoise("gaussian", 1e-9), 50, (), (Fraction(1), None, None))
    for aware in (True, False):
        actual = closed_form(source, 0.2, distributions.single("normal", 0.5, 2.0), aware)
        precision = np.eye(2) / 4 + x.T @ x / 0.04
        mean = np.linalg.solve(precision, np.full(2, 0.5) / 4 + x.T @ y / 0.04)
        assert actual.mean == pytest.approx(mean, abs=1e-6)
        assert actual.sd == pytest.approx(np.sqrt(np.diag(np.linalg.inv(precision))), abs=1e-6)
        assert actual.names == ("intercept", "b1")


@pytest.mark.parametrize("op", ["plug-in", "noise-aware"])
@pytest.mark.parametrize("noise", NOISES)
def test_where_nobody_is_observed_the_posterior_is_the_prior(noise: AddedNoise, op: str) -> None:
    """The statistics are 0, and that is public: what was released is all noise."""
    beta, gamma = distributions.single("beta", 2, 3), distributions.single("gamma", 2, 4)
    normal = distributions.single("normal", 1, 3)
    mixed = distributions.mixture("gamma", [1.0, 5.0], [2.0, 2.0], [0.0, 0.0])
    for y in (-7, 0, 9):
        for source, likelihood, prior in (
            (noisy(y, noise=noise, size=0), _likelihood("bernoulli"), beta),
            (noisy(y, noise=noise, size=0), _likelihood("normal", 2.0), normal),
            (noisy(y, noise=noise), _likelihood("poisson", 0.0), gamma),
            (noisy(y, noise=noise, size=0), _likelihood("poisson", 0.0), mixed),
        ):
            law = posterior(source, likelihood, prior, op)
            assert (law.mean, law.sd) == pytest.approx((prior.mean, prior.sd))
        cells_of = Noisy((Fraction(y), Fraction(1)), noise, 0, ("a", "b"))
        start = distributions.dirichlet(np.asarray([1.0, 3.0]), ("0", "1"))
        law = posterior(cells_of, _likelihood("categorical"), start, op)
        assert law.mean == pytest.approx((0.25, 0.75))
        assert isinstance(law, Joint)
        assert law.names == ("a", "b")
        moments = noisy(y, 1, 2, 3, 4, 5, noise=noise, size=0)
        line = posterior(moments, _likelihood("linear_model", 0.5), normal, op)
        assert (line.mean, line.sd) == ((1.0, 1.0), (3.0, 3.0))
        drawn = line.samples(4000, rng())
        assert drawn.mean(axis=0) == pytest.approx([1, 1], abs=0.3)


def test_a_piece_without_rows_keeps_its_prior() -> None:
    """A public region in which nobody lives, by each likelihood that has a public size."""
    text = """
@record
class Policy:
    claims: Int[0, 4]
    good: Bool
    years: Public[Real[0.1, 1]]
    region: Public[Category["n", "s"]]
@program
def f(book: Database[Policy]) -> Private[tuple[Gamma, Beta, Normal, Dirichlet, Samples]]:
    here = (p for p in book if p.region == "n")
    spent = sum(p.years for p in here)
    g = observe((p.claims for p in here), poisson(exposure=spent), prior=gamma(2, rate=4))
    b = observe((p.good for p in here), bernoulli, prior=beta(1, 3))
    m = observe((p.claims for p in here), normal(sd=2), prior=normal(1, sd=3))
    d = observe((p.good for p in here), categorical, prior=dirichlet(1, 3))
    x = observe(((1, p.claims) for p in here), linear_model(noise_sd=1), prior=normal(5, sd=2))
    return (
        noise_aware(laplace(statistics(g), epsilon=1 / 2)),
        noise_aware(laplace(statistics(b), epsilon=1 / 2)),
        noise_aware(laplace(statistics(m), epsilon=1 / 2)),
        noise_aware(laplace(statistics(d), epsilon=1 / 2)),
        nuts(laplace(statistics(x), epsilon=1 / 2), draws=2000),
    )
"""
    core, verdict = accepted(text)
    table = {"claims": [3], "good": [True], "years": [0.5], "region": ["s"]}
    actual = done(core, verdict, table, Noted(shift=3))
    means = [output.mean for output in actual.outputs]
    assert means[:3] == pytest.approx([0.5, 0.25, 1.0])
    assert means[3] == pytest.approx((0.25, 0.75))
    assert means[4] == pytest.approx((5.0,), abs=0.5)


def test_a_window_holds_its_peak_however_far_the_release_lies() -> None:
    """There doubles hold no difference of 45 nats, and the window was empty."""
    for kind in ("laplace", "gaussian"):
        noise = AddedNoise(kind, 1.0)
        for far in (2.0**60, -(2.0**60)):
            c, logs = window(lambda c, n=noise, y=far: n.log(y - c), 0.0, 0, 50)
            assert len(c) == len(logs) >= 1


def test_what_no_model_can_have_given_is_said() -> None:
    for nothing in (-np.inf, np.nan):
        with pytest.raises(InputError, match="released value that this model can have given"):
            window(lambda c, nothing=nothing: np.full(len(c), nothing), 3.0, 0, None)


def test_parts_of_a_mixture_that_are_alike_are_one() -> None:
    """0.1 + 0.2 and 0.3 are the same parameter; 0.3 and 0.3 + 1e-9 are not."""
    first = [0.1 + 0.2, 0.3, 0.3 + 1e-9, 2.0, 2.0, -0.0, 0.0]
    second = [1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0]
    actual = distributions.mixture("normal", first, second, np.log([1, 2, 3, 4, 5, 6, 7]))
    assert len(actual.weights) == 5
    assert actual.weights @ actual.first == pytest.approx(np.dot([1, 2, 3, 4, 5, 6, 7], first) / 28)
    by_place = dict(zip(zip(actual.first, actual.second, strict=True), actual.weights, strict=True))
    assert by_place[2.0, 1.0] == pytest.approx(4 / 28)
    assert by_place[2.0, 3.0] == pytest.approx(5 / 28)
    assert by_place[0.0, 1.0] == pytest.approx(13 / 28)


WAVES = """
@record
class R:
    c: Int[0, 5]
    wave: Public[Category["1", "2", "3"]]
@program
def f(db: Database[R]) -> Private[Gamma]:
    prior = gamma(0.1, rate=0.3)
    for part in partition(db, by="wave"):
        m = observe((r.c for r in part), poisson(exposure=part.size), prior=prior)
        prior = noise_aware(laplace(statistics(m), epsilon=2))
    return prior
"""


def test_three_waves_are_as_brute_force_has_them() -> None:
    """Each noise-aware posterior is the next prior. Sums over all three true counts together."""
    core, verdict = accepted(WAVES)
    counts = [3, 1, 0, 2, 5, 1]
    table = {"c": counts, "wave": ["1", "1", "2", "2", "3", "3"]}
    value = done(core, verdict, table, Noted(shift=1)).value
    noise, top = AddedNoise("laplace", 2.5), 60
    s = np.arange(top)
    each = [np.asarray(noise.log(y - s)) + s * log(2.0) - gammaln(s + 1) for y in (5, 3, 7)]
    both = np.log(np.convolve(np.exp(each[0]), np.exp(each[1])))
    total = np.log(np.convolve(np.exp(both), np.exp(each[2])))
    t = np.arange(len(total))
    w = total + gammaln(0.1 + t) - (0.1 + t) * log(6.3)
    w = np.exp(w - w.max())
    w /= w.sum()
    mean = float(w @ (0.1 + t) / 6.3)
    assert value.mean == pytest.approx(mean, rel=1e-8)
    square = float(w @ ((0.1 + t) * (1.1 + t))) / 6.3**2
    assert value.sd == pytest.approx(sqrt(square - mean**2), rel=1e-8)
    assert len(value.weights) < 300


def test_three_waves_of_a_hundred_have_as_many_parts_as_sums() -> None:
    core, verdict = accepted(WAVES)
    r = rng(4)
    table = {"c": r.integers(0, 6, 300), "wave": r.choice(["1", "2", "3"], 300)}
    value = done(core, verdict, table, Noted(shift=2)).value
    assert len(value.weights) < 600
    assert value.mean == pytest.approx(table["c"].mean(), abs=0.1)


def test_those_observed_share_a_sample_s_exposure() -> None:
    """A public half by itself has the scores that it has beside the other half."""
    text = """
@record
class R:
    c: Int[0, 5]
    half: Public[Bool]
@program
def f(db: Database[R]) -> Private[Real]:
    m = observe((r.c for r in db if r.half), poisson(exposure=6), prior=gamma(1, rate=1))
    return posterior_sample(m, grid=linspace(0.5, 5, 10), log_likelihood=(-9, 0), power=1)
"""
    core, verdict = accepted(text)
    alone = seen(core, verdict, {"c": [1, 4, 2], "half": [True] * 3})
    beside = seen(core, verdict, {"c": [1, 4, 5, 2, 0], "half": [True, True, False, True, False]})
    assert alone == beside
    grid = np.linspace(0.5, 5, 10)
    logs = stats.poisson.logpmf(np.asarray([[1], [4], [2]]), 2 * grid).sum(axis=0) - grid
    scores = np.asarray(beside[0][1], dtype=float) / beside[0][2]
    assert scores - scores[0] == pytest.approx(logs - logs[0], abs=1e-6)
