"""The programs that `programs.py` measures: read, never imported. Costs are parameters."""

from bayesdp.programs import (
    Beta,
    Bool,
    Category,
    Database,
    Int,
    Normal,
    Private,
    Public,
    Real,
    Samples,
    bernoulli,
    beta,
    clip,
    dirichlet,
    exponential,
    gaussian,
    hellinger,
    infer,
    laplace,
    linear_model,
    logistic,
    markov_chain,
    mixture,
    noise_aware,
    normal,
    nuts,
    observe,
    partial_pooling,
    plug_in,
    poisson_regression,
    posteriors_of,
    program,
    randomized_response,
    record,
    statistics,
    transition_counts,
)


@record
class Pair:
    x: Real[-1, 1]
    y: Real[-3, 3]


@record
class Step:
    t: Public[Int[1, 100000]]
    on: Bool


@record
class Case:
    x: Real[-1, 1]
    ill: Bool


@record
class Visits:
    x: Real[-1, 1]
    events: Int[0, 20]


Site = Category["large", "middle", "small"]


@record
class Visitor:
    site: Public[Site]
    ill: Bool


@program
def coin_candidates(tosses: Database[Bool], *, level: Public[Real[0.01, 100]] = 1) -> Private[Beta]:
    prior = beta(1, 1)
    posterior = infer(observe(tosses, bernoulli, prior=prior))
    return exponential(
        score=hellinger(posterior), candidates=posteriors_of(prior, n=tosses.size), epsilon=level
    )


@program
def coin_answers(tosses: Database[Bool], *, level: Public[Real[0.01, 100]] = 1) -> Private[Beta]:
    noisy = randomized_response(tosses, epsilon=level)
    return noise_aware(observe(noisy, bernoulli, prior=beta(1, 1)))


@program
def coin_count(tosses: Database[Bool], *, level: Public[Real[0.01, 100]] = 1) -> Private[Beta]:
    model = observe(tosses, bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=level))


@program
def coin_plain(tosses: Database[Bool], *, level: Public[Real[0.01, 100]] = 1) -> Private[Beta]:
    model = observe(tosses, bernoulli, prior=beta(1, 1))
    return plug_in(laplace(statistics(model), epsilon=level))


@program
def mean_aware(
    values: Database[Real[-7, 7]], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Normal]:
    model = observe((clip(v, -6, 6) for v in values), normal(sd=1), prior=normal(0, sd=1 / 2))
    return noise_aware(laplace(statistics(model), epsilon=level))


@program
def mean_plain(
    values: Database[Real[-7, 7]], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Normal]:
    model = observe((clip(v, -6, 6) for v in values), normal(sd=1), prior=normal(0, sd=1 / 2))
    return plug_in(laplace(statistics(model), epsilon=level))


@program
def clusters_aware(
    values: Database[Real[-7, 7]], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Normal]:
    held = (clip(v, -6, 6) for v in values)
    model = observe(held, normal(sd=1), prior=normal(0, sd=1 / 2), dependence="declared")
    return noise_aware(laplace(statistics(model), epsilon=level))


@program
def clusters_plain(
    values: Database[Real[-7, 7]], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Normal]:
    held = (clip(v, -6, 6) for v in values)
    model = observe(held, normal(sd=1), prior=normal(0, sd=1 / 2), dependence="declared")
    return plug_in(laplace(statistics(model), epsilon=level))


@program
def chain_aware(steps: Database[Step], *, level: Public[Real[0.01, 100]] = 1) -> Private[Samples]:
    n = laplace(transition_counts(steps.on, order="t"), epsilon=level)
    return noise_aware(observe(n, markov_chain, prior=dirichlet(1, 1)))


@program
def chain_plain(steps: Database[Step], *, level: Public[Real[0.01, 100]] = 1) -> Private[Samples]:
    n = laplace(transition_counts(steps.on, order="t"), epsilon=level)
    return plug_in(observe(n, markov_chain, prior=dirichlet(1, 1)))


@program
def share_aware(steps: Database[Step], *, level: Public[Real[0.01, 100]] = 1) -> Private[Beta]:
    model = observe(steps.on, bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=level))


@program
def share_plain(steps: Database[Step], *, level: Public[Real[0.01, 100]] = 1) -> Private[Beta]:
    model = observe(steps.on, bernoulli, prior=beta(1, 1))
    return plug_in(laplace(statistics(model), epsilon=level))


@program(delta=1e-6)
def line_nuts(pairs: Database[Pair], *, level: Public[Real[0.01, 100]] = 1) -> Private[Samples]:
    rows = ((1, p.x, clip(p.y, -1, 1)) for p in pairs)
    model = observe(rows, linear_model(noise_sd=0.1), prior=normal(0, sd=0.1))
    return nuts(gaussian(statistics(model), epsilon=level, delta=1e-6), draws=1000)


@program(delta=1e-6)
def line_held(pairs: Database[Pair], *, level: Public[Real[0.01, 100]] = 1) -> Private[Normal]:
    rows = ((1, p.x, clip(p.y, -1, 1)) for p in pairs)
    model = observe(rows, linear_model(noise_sd=0.1), prior=normal(0, sd=0.1))
    return noise_aware(gaussian(statistics(model), epsilon=level, delta=1e-6))


@program(delta=1e-6)
def line_plain(pairs: Database[Pair], *, level: Public[Real[0.01, 100]] = 1) -> Private[Normal]:
    rows = ((1, p.x, clip(p.y, -1, 1)) for p in pairs)
    model = observe(rows, linear_model(noise_sd=0.1), prior=normal(0, sd=0.1))
    return plug_in(gaussian(statistics(model), epsilon=level, delta=1e-6))


@program(delta=1e-6)
def odds_aware(cases: Database[Case], *, level: Public[Real[0.01, 100]] = 1) -> Private[Normal]:
    model = observe(((1, c.x, c.ill) for c in cases), logistic, prior=normal(0, sd=1))
    return noise_aware(gaussian(statistics(model), epsilon=level, delta=1e-6))


@program(delta=1e-6)
def odds_plain(cases: Database[Case], *, level: Public[Real[0.01, 100]] = 1) -> Private[Normal]:
    model = observe(((1, c.x, c.ill) for c in cases), logistic, prior=normal(0, sd=1))
    return plug_in(gaussian(statistics(model), epsilon=level, delta=1e-6))


@program
def sites_aware(
    visitors: Database[Visitor], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Samples]:
    prior = partial_pooling(normal(-1, sd=1), spread=1 / 2, by="site")
    model = observe((v.ill for v in visitors), bernoulli, prior=prior)
    return noise_aware(laplace(statistics(model), epsilon=level))


@program
def sites_plain(
    visitors: Database[Visitor], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Samples]:
    prior = partial_pooling(normal(-1, sd=1), spread=1 / 2, by="site")
    model = observe((v.ill for v in visitors), bernoulli, prior=prior)
    return plug_in(laplace(statistics(model), epsilon=level))


@program(delta=1e-6)
def rates_aware(visits: Database[Visits], *, level: Public[Real[0.01, 100]] = 1) -> Private[Normal]:
    rows = ((1, v.x, v.events) for v in visits)
    model = observe(rows, poisson_regression, prior=normal(0, sd=1))
    return noise_aware(gaussian(statistics(model), epsilon=level, delta=1e-6))


@program(delta=1e-6)
def rates_plain(visits: Database[Visits], *, level: Public[Real[0.01, 100]] = 1) -> Private[Normal]:
    rows = ((1, v.x, v.events) for v in visits)
    model = observe(rows, poisson_regression, prior=normal(0, sd=1))
    return plug_in(gaussian(statistics(model), epsilon=level, delta=1e-6))


@program
def parts_aware(
    values: Database[Real[0, 10]], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Normal]:
    likelihood = mixture(normal(sd=1 / 2), normal(sd=3 / 2))
    model = observe(values, likelihood, prior=normal(5, sd=2))
    return noise_aware(laplace(statistics(model), epsilon=level))


@program
def parts_plain(
    values: Database[Real[0, 10]], *, level: Public[Real[0.01, 100]] = 1
) -> Private[Normal]:
    likelihood = mixture(normal(sd=1 / 2), normal(sd=3 / 2))
    model = observe(values, likelihood, prior=normal(5, sd=2))
    return plug_in(laplace(statistics(model), epsilon=level))
