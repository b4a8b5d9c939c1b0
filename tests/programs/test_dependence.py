"""`dependence="declared"`: how much wider a posterior is, what is refused, and what it covers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import bayesdp as bdp
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.programs.check.checker import check
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.dependence import inflation, is_dependent, largest_row_sum
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Program
from bayesdp.programs.notes import WITHOUT_STUDY, notes_on
from bayesdp.programs.run.machine import session
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError
from tests.programs.run.helpers import IMPORTS, accepted, done

MEAN = """
@program
def f(db: Database[Real[0, 10]]) -> Private[Normal]:
    model = observe(db, normal(sd=2), prior=normal(5, sd=3), dependence="declared")
    return RELEASE
"""
RELEASES = {
    "aware": "noise_aware(laplace(statistics(model), epsilon=1))",
    "plugged": "plug_in(gaussian(statistics(model), epsilon=1, delta=0.000001))",
    "chosen": "exponential(score=hellinger(infer(model)), candidates=grid_of(normal, "
    "a=linspace(0, 10, 5), b=linspace(0.5, 2, 3)), epsilon=1)",
}


def lowered(text: str, factor: Fraction | None = None) -> Program:
    return core_of(read_text(IMPORTS + text, "test"), None, {}, factor)


def exact_sum(correlations: np.ndarray) -> float:
    """The largest variance of a sum of some records, over that of as many independent ones."""
    n = len(correlations)
    return max(
        float(correlations[np.ix_(chosen, chosen)].sum()) / k
        for k in range(1, n + 1)
        for chosen in combinations(range(n), k)
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_subset_of_a_cluster_is_wider_than_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(5, 4))
    covariance = roots @ roots.T + 0.3 * np.eye(5)
    spread = np.sqrt(np.diag(covariance))
    population = bdp.Gaussian(covariance=covariance.tolist())
    bound = float(largest_row_sum(population))
    assert bound >= exact_sum(covariance / np.outer(spread, spread)) - 1e-12
    assert float(inflation(population)) ** 2 >= bound


def test_equal_correlations_are_exact() -> None:
    assert largest_row_sum(bdp.Gaussian(size=3, max_correlation=0.25)) == Fraction(3, 2)
    equal = [[1, 0.25, 0.25], [0.25, 1, 0.25], [0.25, 0.25, 1]]
    assert largest_row_sum(bdp.Gaussian(covariance=equal)) == pytest.approx(1.5, rel=1e-11)
    assert largest_row_sum(bdp.Gaussian(covariance=[[4, -1], [-1, 1]])) == pytest.approx(1.5)
    assert largest_row_sum(bdp.Clusters(size=4)) == 4
    assert inflation(bdp.Clusters(size=4)) == 2
    assert inflation(bdp.Clusters(size=2)) == Fraction(1_414_213_563, 10**9)
    assert inflation(bdp.Independent()) == 1


@pytest.mark.parametrize("a", [0.5, -0.5, 0.0, 0.9])
@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_series_by_hand(a: float, length: int) -> None:
    lags = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    bound = float(largest_row_sum(bdp.Autoregressive(a, length=length)))
    assert bound == pytest.approx((abs(a) ** lags).sum(axis=1).max(), rel=1e-11)
    assert bound >= exact_sum(a**lags) - 1e-12
    assert largest_row_sum(bdp.Autoregressive(a, length=10**6)) == (1 + abs(Fraction(a))) / (
        1 - abs(Fraction(a))
    )


def test_functions_of_records_are_no_more_correlated() -> None:
    """Clipped, squared and compared, with numbers of their own: by simulation."""
    rng, r, n = np.random.default_rng(5), 0.6, 400_000
    x, y = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n).T
    u, v = rng.random((2, n))
    for f in (
        lambda z, _: np.clip(z, -0.3, 0.5), lambda z, _: z > 1, lambda z, _: z**2,
        lambda z, w: np.where(w < 0.5, z, -2 * z), lambda z, w: np.where(w < 0.7, z, 0),
    ):  # fmt: skip
        assert abs(np.corrcoef(f(x, u), f(y, v))[0, 1]) < r + 0.006


@pytest.mark.parametrize(
    "population",
    [
        None, bdp.Unknown(records=5), bdp.Gaussian(size=3, max_regression_sum=0.5),
        bdp.MarkovChain(transition=[[0.9, 0.1], [0.2, 0.8]], length=10),
        bdp.Gaussian(precision=[[1.0, 0.2], [0.2, 1.0]]),
    ],
)  # fmt: skip
def test_other_populations_are_refused(population: bdp.Population | None) -> None:
    with pytest.raises(UnsupportedError, match="one that bounds correlations"):
        inflation(population)


def test_who_is_dependent() -> None:
    assert is_dependent(bdp.Clusters(size=2))
    assert not is_dependent(bdp.Independent())
    assert not is_dependent(None)


@pytest.mark.parametrize("release", RELEASES.values())
def test_it_is_a_model_with_a_larger_sd(release: str) -> None:
    """The representation is that of the product, but for the flag."""
    text = MEAN.replace("RELEASE", release)
    widened = lowered(text, Fraction(3, 2))
    plain = text.replace(', dependence="declared"', "").replace("sd=2)", "sd=2 * 1.5)")
    assert widened.dependence == "declared"
    verdict, other = check(widened), check(lowered(plain))
    assert verdict.verdict == other.verdict == "ACCEPTED"
    assert (verdict.dp_epsilon, verdict.dp_delta) == (other.dp_epsilon, other.dp_delta)
    findings = falsify(widened, verdict, n_max=3)
    assert not findings.excess
    assert verdict_in(read_text(IMPORTS + text, "test"), None, None, {}, Fraction(3, 2)) is not None


def test_the_posterior_is_as_wide_as_the_factor_says() -> None:
    text = MEAN.replace("RELEASE", RELEASES["aware"])
    table = [4.0, 6.0] * 5000
    sds = []
    for factor in (Fraction(1), Fraction(2)):
        core = lowered(text, factor)
        value = done(core, check(core), table).value
        sds.append(value.sd)
    assert sds[1] / sds[0] == pytest.approx(2, rel=0.02)


def test_without_a_study_it_is_checked_and_not_run(tmp_path: object) -> None:
    text = MEAN.replace("RELEASE", RELEASES["aware"])
    core = lowered(text)
    assert core.dependence == "missing"
    assert notes_on(core) == (WITHOUT_STUDY,)
    verdict = check(core)
    assert verdict.verdict == "ACCEPTED"
    with pytest.raises(InputError, match="a study, whose population says"):
        session.run(core, verdict, [1.0, 2.0], ledger=f"{tmp_path}/l.db", dataset="d", dp_epsilon=2)
    plain, _ = accepted(text.replace(', dependence="declared"', ""))
    assert plain.dependence == "ignored"


def test_some_models_with_and_some_without() -> None:
    core = lowered(
        """
@program
def f(db: Database[Real[0, 10]]) -> Private[tuple[Normal, Normal]]:
    m = observe(db, normal(sd=2), prior=normal(5, sd=3), dependence="declared")
    k = observe(db, normal(sd=2), prior=normal(5, sd=3))
    return plug_in(laplace(statistics(m), epsilon=1)), plug_in(laplace(statistics(k), epsilon=1))
""",
        Fraction(2),
    )
    assert core.dependence == "partly"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"declared"', '"independent"', "dependence is what the population"),
        ('"declared"', "True", "dependence is what the population"),
        ('"declared"', "db", "dependence is what the population"),
        ("dependence=", "dependance=", "has no argument 'dependance'"),
        ("normal(sd=2), prior=normal(5, sd=3)", "poisson(exposure=db.size), prior=gamma(1, 1)",
         "How poisson records depend"),
        ("normal(sd=2), prior=normal(5, sd=3)", "bernoulli, prior=beta(1, 1)",
         "How bernoulli records depend"),
        ("normal(sd=2)", "normal(sd=sum(db))", "private"),
    ],
)  # fmt: skip
def test_what_is_refused(old: str, new: str, message: str) -> None:
    text = MEAN.replace("RELEASE", RELEASES["aware"]).replace(old, new)
    with pytest.raises(ProgramError, match=message):
        lowered(text)
    # No factor makes a model's cost less: what is unsound without it is so with it.


@pytest.mark.prove
def test_intervals_of_dependent_records_hold() -> None:
    """Clusters of 4, correlation .5: 95 % hold with it, and far fewer without."""
    text = MEAN.replace("RELEASE", RELEASES["aware"])
    rng, held = np.random.default_rng(2), {1: 0, 2: 0}
    population = bdp.Gaussian(size=4, max_correlation=0.5)
    cores = {1: lowered(text, Fraction(1)), 2: lowered(text, inflation(population))}
    verdicts = {key: check(core) for key, core in cores.items()}
    runs = 200
    for _ in range(runs):
        mean = rng.normal(5, 1)
        shared = np.repeat(rng.normal(size=100), 4)
        x = mean + 2 * (np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=400))
        for key, core in cores.items():
            low, high = done(core, verdicts[key], np.clip(x, 0, 10).tolist()).value.interval(0.9)
            held[key] += low <= mean <= high
    assert held[2] > 0.82 * runs
    assert held[1] < 0.8 * runs
