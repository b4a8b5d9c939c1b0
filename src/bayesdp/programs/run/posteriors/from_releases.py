"""Posteriors from released statistics: `plug_in` takes them as true, `noise_aware` does not.

What is exact: beta-bernoulli, dirichlet-categorical and gamma-poisson sum the true statistics out
(`numerics.hidden_counts`; the results are mixtures of conjugate posteriors), a rate with a private
total is integrated (`private_totals`), randomized response with two states integrates the law of an
answer, normal means with Laplace noise and priors that are not a single conjugate law are
integrated by quadrature. What is a choice of model: the clip of real rows is not modelled; where
the number of rows is private its prior is flat; randomized response with more states is sampled by
data augmentation; for regressions see `linear_regression` and `generalized_regression`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.programs.ir import Expr
from bayesdp.programs.run.numerics.hidden_counts import cells, require_pairs, window
from bayesdp.programs.run.numerics.observed import Answers, Noisy, Source
from bayesdp.programs.run.numerics.private_sizes import log_noisy_sum, log_over_sizes
from bayesdp.programs.run.numerics.quadrature import by_quadrature
from bayesdp.programs.run.posteriors import (
    chains,
    generalized_regression,
    hypotheses,
    mixtures,
    normal_records,
    partial_pooling,
    perturbed_answers,
)
from bayesdp.programs.run.posteriors.exposures import with_exposures
from bayesdp.programs.run.posteriors.linear_regression import closed_form, unmoved
from bayesdp.programs.run.posteriors.private_totals import log_likelihood, require_scale
from bayesdp.programs.run.posteriors.waiting_times import exponential_time
from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.run.values.public import PublicValues

if TYPE_CHECKING:
    from bayesdp.arrays import Floats, Ints

FLAT_SIZE = "The number of records is private; its prior is flat."
CLIP = "The clip of the records is not part of the model."
TRUE_ANSWERS = "Answers are taken as true, though they lean to the middle of the candidates."
MOST_PARTS = 256
"""The most parts of a prior that are taken one by one where the number of records is private."""
MATCHED = "The prior is a mixture: it was replaced by the single law with its means and spread."


def prior_of(expr: Expr, values: PublicValues) -> d.Distribution:
    """The distribution of a prior, whether written out or a released posterior."""
    if expr.op == "public":
        prior = values.names[str(expr.data[0])]
        assert isinstance(prior, d.Distribution)
        return prior
    family = str(expr.data[0])
    parameters = [float(values.number(parameter)) for parameter in expr.args]
    if family == "normal_inverse_gamma":
        return normal_records.prior_of(parameters)
    if family == "partial_pooling":
        return partial_pooling.prior_of(parameters)
    if family == "hypotheses":
        return hypotheses.prior_of(parameters)
    if family == "dirichlet":
        names = tuple(str(i) for i in range(len(parameters)))
        return d.dirichlet(np.asarray(parameters), names)
    return d.single(family, parameters[0], parameters[1])


def derived(
    op: str, source: Source, likelihood: Expr, prior: d.Distribution, values: PublicValues
) -> d.Distribution:
    """The posterior of a model given what was released."""
    family = str(likelihood.data[0])
    about = [float(values.number(parameter)) for parameter in likelihood.args]
    if family == "chances":
        assert isinstance(prior, hypotheses.PosteriorOfHypotheses)
        return hypotheses.posterior(op, source, about, prior)
    if isinstance(source, Answers):
        return _from_answers(op, source, family, about, prior)
    aware = op != "plug-in"
    if family in ("logistic", "poisson_regression"):
        return generalized_regression.posterior(source, family, about, prior, aware)
    if family == "normal_unknown":
        return normal_records.posterior(source, about, prior, aware)
    if family == "mixture":
        return mixtures.posterior(source, about, _univariate(prior), aware)
    if family == "markov_chain":
        return chains.posterior(source, alpha_of(prior)[0], aware)
    if family.startswith("pooled_"):
        assert isinstance(prior, d.Joint)
        assert prior.parameters is not None
        return partial_pooling.posterior(source, family, about, prior.parameters, aware)
    if family == "categorical_exposed" and source.size != 0:
        equal = derived(op, source, Expr("likelihood", (), ("categorical",)), prior, values)
        assert isinstance(equal, d.Joint)
        return with_exposures(equal, about, alpha_of(prior)[0])
    if source.size == 0 or (family == "poisson" and not about[0]):
        return _unmoved(source, family, prior)
    if family == "exponential_time":
        rate = _univariate(prior)
        return exponential_time(source, about[0], rate, _space(rate), aware)
    if not aware:
        return _plug_in(source, family, about, prior)
    if family == "negative_binomial":
        return _negative_binomial(source, about[0], _univariate(prior))
    if family == "bernoulli":
        return _bernoulli(source, _univariate(prior))
    if family == "categorical":
        return _categorical(source, prior)
    if family == "poisson":
        return _poisson(source, about[0], _univariate(prior))
    if family == "normal":
        return _normal(source, about[0], _univariate(prior))
    return closed_form(source, about[0], prior)


def _unmoved(source: Noisy, family: str, prior: d.Distribution) -> d.Distribution:
    """The posterior where it is public that no record is observed: the release is noise alone."""
    if family in ("categorical", "categorical_exposed"):
        return _dirichlet_with(np.zeros(1), prior, source.labels)
    if family == "linear_model":
        return unmoved(source, prior)
    return prior


def _univariate(prior: d.Distribution) -> d.Univariate:
    assert isinstance(prior, d.Univariate)
    return prior


def alpha_of(prior: d.Distribution) -> tuple[Floats, tuple[str, ...]]:
    """The parameters of a Dirichlet prior; for a mixture those of the law with its moments."""
    assert isinstance(prior, d.Joint | d.Samples)
    if isinstance(prior, d.Joint) and prior.parameters is not None:
        return np.asarray(prior.parameters), ()
    means, variances = np.asarray(prior.mean), np.asarray(prior.sd) ** 2
    total = float(np.median(means * (1 - means) / variances)) - 1.0
    return means * max(total, 1e-3), (MATCHED,)


# -- plug in -----------------------------------------------------------------------------------


def _plug_in(
    source: Noisy, family: str, about: list[float], prior: d.Distribution
) -> d.Distribution:
    y = source.floats
    if family == "categorical":
        return _dirichlet_with(np.maximum(np.asarray(y), 0.0), prior, source.labels)
    if family == "linear_model":
        return closed_form(source, about[0], prior, aware=False)
    if family == "bernoulli":
        if source.size is None:
            good, bad = max(y[0], 0.0), max(y[1], 0.0)
        else:
            good = min(max(y[0], 0.0), float(source.size))
            bad = source.size - good
        return _updated("beta", _univariate(prior), good, bad)
    if family == "poisson":
        return _updated("gamma", _univariate(prior), max(y[0], 0.0), about[0])
    if family == "negative_binomial":
        successes = float(source.size or 0) * about[0]
        return _updated("beta", _univariate(prior), successes, max(y[0], 0.0))
    n, total = (source.size, y[0]) if source.size is not None else (max(y[0], 0.0), y[1])
    return _updated("normal", _univariate(prior), total, float(n or 0), about[0])


def _dirichlet_with(
    counts: Floats | Ints, prior: d.Distribution, labels: tuple[str, ...]
) -> d.Joint:
    alpha, notes = alpha_of(prior)
    return d.dirichlet(alpha + counts, labels or tuple(map(str, range(len(alpha)))), notes)


def _updated(
    family: str, prior: d.Univariate, first: float, second: float, sd: float = 0.0
) -> d.Univariate:
    """The posterior for known statistics: conjugate for each part of a mixture, else quadrature."""
    logs = _likelihood(family, first, second, sd)
    if not isinstance(prior, d.Mixture):
        return by_quadrature(family, lambda x: prior.log_density(x) + logs(x), *_space(prior))
    return _conjugate(prior, np.asarray([first]), np.asarray([0.0]), second, sd)


def _likelihood(family: str, first: float, second: float, sd: float) -> Callable[[Floats], Floats]:
    def logs(x: Floats) -> Floats:
        if family == "beta":
            return np.asarray(first * np.log(x) + second * np.log1p(-x))
        if family == "gamma":
            return np.asarray(first * np.log(x) - second * x)
        return np.asarray((first * x - second * x * x / 2) / sd**2)

    return logs


def _space(prior: d.Univariate) -> tuple[str, d.CredibleInterval]:
    if prior.family == "beta":
        return "logit", (-40.0, 40.0)
    low, high = prior.quantile(1e-9), prior.quantile(1 - 1e-9)
    assert isinstance(low, float)
    assert isinstance(high, float)
    if prior.family == "gamma":
        low, high = max(low, high * 1e-12, 1e-290), max(high, 1e-290)
        return "log", (float(np.log(low)) - 12.0, float(np.log(high)) + 12.0)
    reach = 6.0 * (high - low)
    return "identity", (low - reach, high + reach)


def _conjugate(
    prior: d.Mixture,
    statistic: Floats | Ints,
    log_weights: Floats,
    second: Any,
    sd: float = 0.0,
    notes: tuple[str, ...] = (),
) -> d.Mixture:
    """The mixture over a prior's parts and over weighted values of the true statistic.

    beta: successes, `second` the failures or (an array) failures for each value; gamma: the sum,
    `second` the exposure; normal: the sum, `second` the number of records. The log-weights hold
    everything but the marginal likelihood of the statistic under each part.
    """
    from scipy.special import betaln, gammaln

    a, b = prior.first[:, None], prior.second[:, None]
    s = statistic[None, :].astype(np.float64)
    with np.errstate(divide="ignore"):
        base = log_weights[None, :] + np.log(prior.weights)[:, None]
    if prior.family == "beta":
        first, last = a + s, b + second
        logs = base + betaln(first, last) - betaln(a, b)
    elif prior.family == "gamma":
        first, last = a + s, b + second
        logs = base + gammaln(first) - first * np.log(last) - gammaln(a) + a * np.log(b)
    else:
        precision = 1 / b**2 + second / sd**2
        first = (a / b**2 + s / sd**2) / precision
        last = 1 / np.sqrt(precision)
        logs = base + np.log(last / b) + first**2 * precision / 2 - a**2 / (2 * b**2)
    shape = np.broadcast_shapes(first.shape, last.shape, logs.shape)
    flat = [np.broadcast_to(values, shape).ravel() for values in (first, last, logs)]
    return d.mixture(prior.family, flat[0], flat[1], flat[2], notes)


# -- noise aware -----------------------------------------------------------------------------------


def _bernoulli(source: Noisy, prior: d.Univariate) -> d.Univariate:
    from scipy.special import gammaln

    y, n = source.floats, source.size
    if n is None:
        return _private_size(source, prior)
    if isinstance(prior, d.Mixture):

        def weight(s: Ints) -> Floats:
            return np.asarray(source.noise.log(y[0] - s) - gammaln(s + 1.0) - gammaln(n - s + 1.0))

        wide = _merged(prior, weight, y[0], n)
        return _conjugate(prior, wide, weight(wide), n - wide[None, :])
    s, logs = window(
        lambda s: source.noise.log(y[0] - s) - gammaln(s + 1.0) - gammaln(n - s + 1.0), y[0], 0, n
    )
    return _summed("beta", prior, s, logs, lambda x, c: c * np.log(x) + (n - c) * np.log1p(-x))


def _merged(prior: d.Mixture, weight: Callable[[Ints], Floats], y: float, n: int) -> Ints:
    """The true counts that weigh anything under some part of the prior."""
    from scipy.special import betaln

    pairs = sorted(set(zip(prior.first.tolist(), prior.second.tolist(), strict=True)))
    ends = [pairs[0], pairs[-1], pairs[len(pairs) // 2]]
    reached = []
    for a, b in ends:

        def under(s: Ints, a: float = a, b: float = b) -> Floats:
            return np.asarray(weight(s) + betaln(a + s, b + n - s))

        s, _ = window(under, y, 0, n)
        reached += [int(s[0]), int(s[-1])]
    return np.arange(min(reached), max(reached) + 1, dtype=np.int64)


def _private_size(source: Noisy, prior: d.Univariate) -> d.Univariate:
    """Noisy successes and failures, of a total with a flat prior."""
    require_scale(source.noise)
    notes: tuple[str, ...] = (FLAT_SIZE,)
    if isinstance(prior, d.Mixture) and len(prior.weights) > MOST_PARTS:
        prior = _matched_beta(prior)
        notes = (MATCHED, FLAT_SIZE)
    logs, off = log_likelihood(source.floats, source.noise)
    law = by_quadrature(
        "beta", lambda x: logs(x) + prior.log_density(x), *_space(prior), notes=notes
    )
    return replace(law, error=law.error + off)


def _matched_beta(prior: d.Univariate) -> d.Mixture:
    mean, sd = prior.mean, prior.sd
    assert isinstance(mean, float)
    assert isinstance(sd, float)
    total = max(mean * (1 - mean) / sd**2 - 1.0, 1e-3)
    return d.single("beta", mean * total, (1 - mean) * total)


def _summed(
    family: str,
    prior: d.Univariate,
    s: Ints,
    log_weights: Floats,
    log_each: Callable[[Floats, Floats], Floats],
) -> d.Density:
    """A prior that is not a mixture: the sum over true counts at every point of a grid."""
    from scipy.special import logsumexp

    counts = s[None, :].astype(np.float64)

    def logs(x: Floats) -> Floats:
        sums = np.empty(len(x))
        for start in range(0, len(x), 256):
            part = x[start : start + 256, None]
            sums[start : start + 256] = logsumexp(
                log_weights[None, :] + log_each(part, counts), axis=1
            )
        return np.asarray(sums + prior.log_density(x))

    return by_quadrature(family, logs, *_space(prior))


def _categorical(source: Noisy, prior: d.Distribution) -> d.Joint:
    alpha, notes = alpha_of(prior)
    if source.size is None:
        require_pairs(source.noise, len(alpha))
    table = cells(source.floats, source.noise, alpha, source.size)
    total = float(alpha.sum())
    marginals = []
    for j, (c, weight) in enumerate(zip(table.values, table.weights, strict=True)):
        with np.errstate(divide="ignore"):
            logs = np.log(weight)
        first, rest = alpha[j] + c, total - alpha[j]
        if source.size is not None:
            marginals.append(d.mixture("beta", first, rest + source.size - c, logs))
            continue
        # The private total is summed out: every pair of this cell and of the others together.
        others, pairs = table.pairs(j)
        shape = pairs.shape
        flat = np.broadcast_to(first[:, None], shape), np.broadcast_to(rest + others, shape)
        marginals.append(d.mixture("beta", flat[0].ravel(), flat[1].ravel(), pairs.ravel()))
    names = source.labels or tuple(str(i) for i in range(len(alpha)))
    if source.size is None:
        notes = (*notes, FLAT_SIZE)

    def draw(k: int, rng: np.random.Generator) -> Floats:
        counts = table.draw(k, rng)
        gammas = rng.gamma(alpha[None, :] + counts)
        return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))

    return d.Joint("dirichlet", names, tuple(marginals), draw, notes)


def _poisson(source: Noisy, exposure: float, prior: d.Univariate) -> d.Univariate:
    """`exposure` is above 0 (without any the sum is 0 for sure, whatever was released)."""
    from scipy.special import gammaln

    y = source.floats[0]

    def weight(s: Ints) -> Floats:
        return np.asarray(source.noise.log(y - s) + s * np.log(exposure) - gammaln(s + 1.0))

    if not isinstance(prior, d.Mixture):
        s, logs = window(weight, y, 0, None)
        return _summed("gamma", prior, s, logs, lambda x, c: c * np.log(x) - exposure * x)
    ends = []
    for i in (0, -1):
        a, b = float(prior.first[i]), float(prior.second[i])

        def under(s: Ints, a: float = a, b: float = b) -> Floats:
            return np.asarray(weight(s) + gammaln(a + s) - s * np.log(b + exposure))

        s, _ = window(under, y, 0, None)
        ends += [int(s[0]), int(s[-1])]
    wide = np.arange(min(ends), max(ends) + 1, dtype=np.int64)
    return _conjugate(prior, wide, weight(wide), exposure)


def _negative_binomial(source: Noisy, r: float, prior: d.Univariate) -> d.Univariate:
    """The failures s before n r successes are summed out; s may be any number."""
    from scipy.special import betaln, gammaln

    y, successes = source.floats[0], float(source.size or 0) * r

    def weight(s: Ints) -> Floats:
        logs = gammaln(s + successes) - gammaln(s + 1.0)
        return np.asarray(source.noise.log(y - s) + logs)

    if not isinstance(prior, d.Mixture):
        s, logs = window(weight, y, 0, None)
        return _summed(
            "beta", prior, s, logs, lambda x, c: successes * np.log(x) + c * np.log1p(-x)
        )
    ends = []
    for i in (0, -1):
        a, b = float(prior.first[i]), float(prior.second[i])

        def under(s: Ints, a: float = a, b: float = b) -> Floats:
            return np.asarray(weight(s) + betaln(a + successes, b + s))

        s, _ = window(under, y, 0, None)
        ends += [int(s[0]), int(s[-1])]
    wide = np.arange(min(ends), max(ends) + 1, dtype=np.int64)
    return _conjugate(
        prior, np.full(len(wide), successes), weight(wide), wide[None, :], notes=(CLIP,)
    )


def _normal(source: Noisy, sd: float, prior: d.Univariate) -> d.Univariate:
    """The true sum given the mean is normal(n mean, n sd^2); noise is added to that.

    With Gaussian noise and a public n all is normal. Else the law of the noisy sum is a normal law
    convolved with Laplace's, in closed form, and the mean is integrated on a grid.
    """
    y, noise, n = source.floats, source.noise, source.size
    if n is None:
        over_sizes, notes = log_over_sizes((y[0], y[1]), sd, noise), (CLIP, FLAT_SIZE)
        return by_quadrature(
            "normal", lambda x: over_sizes(x) + prior.log_density(x), *_space(prior), notes
        )
    if noise.kind == "gaussian" and isinstance(prior, d.Mixture):
        # y = n mean + noise of variance v: as n records of variance v / n.
        each = np.hypot(sd, noise.scale / np.sqrt(n))
        return _conjugate(prior, np.asarray([y[0]]), np.zeros(1), float(n), float(each), (CLIP,))

    def logs(x: Floats) -> Floats:
        return np.asarray(log_noisy_sum(y[0] - n * x, n * sd**2, noise) + prior.log_density(x))

    return by_quadrature("normal", logs, *_space(prior), (CLIP,))


# -- answers of records ----------------------------------------------------------------------


def _from_answers(
    op: str, source: Answers, family: str, about: list[float], prior: d.Distribution
) -> d.Distribution:
    values = source.values
    if not source.labels:
        if family == "poisson" and not about[0]:
            return prior
        if op != "plug-in":
            law = _univariate(prior)
            return perturbed_answers.posterior(source, family, about, law, _space(law))
        total, n = float(values.sum()), float(len(values))
        if family == "poisson":
            plugged = _updated("gamma", _univariate(prior), max(total, 0.0), about[0])
        else:
            plugged = _updated("normal", _univariate(prior), total, n, about[0])
        return replace(plugged, notes=(*plugged.notes, TRUE_ANSWERS))  # type: ignore[type-var]  # all are dataclasses
    counts = source.counts
    if family == "categorical":
        if op == "plug-in":
            return _dirichlet_with(counts, prior, source.labels)
        return perturbed_answers.categorical(source, *alpha_of(prior))
    good, bad = float(counts[1]), float(counts[0])
    if op == "plug-in":
        return _updated("beta", _univariate(prior), good, bad)
    true_chance, other_chance, base = source.kept, source.other, _univariate(prior)

    def logs(x: Floats) -> Floats:
        true = x * true_chance + (1 - x) * other_chance
        return np.asarray(good * np.log(true) + bad * np.log1p(-true) + base.log_density(x))

    return by_quadrature("beta", logs, *_space(base))


def through_answers(
    feature: Source, response: Source, model: Expr, values: PublicValues
) -> d.Distribution:
    """A line through answers of the same records. `model` is that of the response."""
    assert isinstance(feature, Answers)
    assert isinstance(response, Answers)
    about = [float(values.number(parameter)) for parameter in model.args[1].args]
    return perturbed_answers.line(
        feature, response, about, _univariate(prior_of(model.args[2], values))
    )
