"""Programs that certificates are made of."""

from __future__ import annotations

NAMES = (
    "above_threshold group_by Beta Bool Category Database Gamma Int Private Public Real Vector "
    "bernoulli beta categorical "
    "clip count cross dirichlet exponential fold gamma gaussian grid_of hellinger helper infer "
    "laplace linspace observe partition per_record_exponential poisson posterior_sample "
    "Normal Samples exponential_time geometric logistic noise_aware normal normal_inverse_gamma "
    "partial_pooling sqrt "
    "posteriors_of program randomized_response record require statistics transition_counts"
)
HEAD = f"from bayesdp.programs import {', '.join(NAMES.split())}\n\n"
SUMS = """
@record
class Person:
    age: Real[0, 100]
    smokes: Bool
    region: Public[Category["n", "s"]]
    arm: Category["a", "b", "c"]

@program(epsilon=5, delta=0.001)
def sums(people: Database[Person]) -> Private[tuple[Real, Vector, Real, Real]]:
    require(people.size >= 10)
    total = laplace(sum(clip(p.age, 18, 90) for p in people if p.smokes), epsilon=1)
    cells = laplace(statistics(observe((cross(p.arm, p.smokes) for p in people), categorical,
        prior=dirichlet(1, 1, 1, 1, 1, 1))), epsilon=1, sensitivity=2)
    mean = laplace(sum(p.age for p in people) / people.size, epsilon=1,
        sensitivity=100 / people.size)
    noisy = gaussian(count(p for p in people if p.smokes), epsilon=1, delta=0.0001, sigma=4)
    return total, cells, mean, noisy
"""
POSTERIORS = """
@program
def coin(obs: Database[Bool]) -> Private[tuple[Beta, Real, Real]]:
    prior = beta(1, 1)
    model = observe(obs, bernoulli, prior=prior)
    drawn = exponential(score=hellinger(infer(model)), candidates=posteriors_of(prior, n=obs.size),
        epsilon=1)
    grid = linspace(0.05, 0.95, 19)
    one = posterior_sample(model, grid=grid, log_likelihood=(-3, 0), power=1 / 6)
    near = exponential(score=lambda c: -abs(count(o for o in obs if o) - c),
        candidates=linspace(0, 10, 11), epsilon=1)
    return drawn, one, near
"""
PARTS = """
@record
class Person:
    age: Real[0, 100]
    region: Public[Category["n", "s"]]
    arm: Category["a", "b", "c"]

@program
def parts(people: Database[Person]) -> Private[Real]:
    for piece in partition(people, by="arm"):
        a = laplace(sum(p.age for p in piece), epsilon=1)
    for piece in partition(people, by="region"):
        b = laplace(sum(p.age for p in piece), epsilon=1)
    first = laplace(count(p for p in people if p.age > 50), epsilon=1)
    second = 0
    if first > 10:
        second = laplace(sum(p.age for p in people), epsilon=2)
    return second
"""
FOLDED = """
@record
class Person:
    dose: Real[0, 4]
    region: Public[Category["n", "s"]]

@helper
def step(so_far, row):
    return so_far * 0.5 + row.dose

@program
def folded(people: Database[Person]) -> Private[Real]:
    return laplace(fold(people, 0, step), epsilon=1)
"""
ANSWERS = """
@record
class Person:
    smokes: Bool
    age: Int[0, 10]

@program
def answers(people: Database[Person]) -> Private[tuple[Vector, Vector]]:
    noisy = randomized_response((p.smokes for p in people), epsilon=1)
    ages = per_record_exponential((p.age for p in people), score=lambda x, c: -abs(x - c),
        candidates=linspace(0, 10, 11), epsilon=1)
    return noisy, ages
"""
ENTERS = """
@record
class Person:
    age: Real[0, 100]
    arm: Category["a", "b", "c"]

@program(adjacency="add-remove")
def enters(people: Database[Person]) -> Private[tuple[Real, Vector]]:
    total = laplace(sum(p.age for p in people), epsilon=1)
    model = observe((p.arm for p in people), categorical, prior=dirichlet(1, 1, 1))
    cells = laplace(statistics(model), epsilon=1)
    return total, cells
"""
FILTERED = """
@record
class Person:
    arm: Category["a", "b", "c"]
    visits: Int[2, 6]
    years: Public[Real[0, 1]]
    ill: Bool

@program
def filtered(people: Database[Person]) -> Private[tuple[Beta, Gamma, Real]]:
    share = observe((p.visits > 4 for p in people if p.ill), bernoulli, prior=beta(1, 1))
    visits = observe((p.visits for p in people if p.ill), poisson(exposure=5),
        prior=gamma(1, rate=1))
    betas = grid_of(beta, a=linspace(1, 9, 9), b=linspace(1, 9, 9))
    gammas = grid_of(gamma, a=linspace(1, 9, 9), b=linspace(1, 9, 9))
    first = exponential(score=hellinger(infer(share)), candidates=betas, epsilon=1)
    second = exponential(score=hellinger(infer(visits)), candidates=gammas, epsilon=1)
    for piece in partition(people, by="arm"):
        a = laplace(count(p for p in piece), epsilon=1, sensitivity=4)
    years = laplace(people.size, epsilon=1)
    return first, second, years
"""
HALVES = """
@record
class Person:
    age: Real[2, 8]
    region: Public[Category["n", "s"]]
    ill: Bool
    arm: Category["a", "b", "c"]

@program
def halves(people: Database[Person]) -> Private[Real]:
    both = laplace((sum(p.age for p in people if p.region == "n"),
        sum(p.age for p in people if p.region == "s")), epsilon=1)
    signed = laplace(sum(p.age if p.ill else -p.age for p in people), epsilon=1)
    cut = gaussian((count(p for p in people if p.age > 5), count(p for p in people if p.age <= 5)),
        epsilon=1, delta=0.0001)
    for piece in partition(people, by="arm"):
        model = observe((p.ill for p in piece), bernoulli, prior=beta(1, 1))
        one = posterior_sample(model, grid=linspace(0.05, 0.95, 19), log_likelihood=(-4, -1))
    return signed
"""
QUERIES = """
@record
class Person:
    age: Int[20, 90]
    arm: Category["a", "b", "c"]

@program(epsilon=5)
def queries(people: Database[Person]) -> Private[tuple[Int, Int]]:
    first = above_threshold((count(p for p in people if p.age > 50), sum(p.age for p in people),
        5), threshold=100, epsilon=1)
    for piece in partition(people, by="arm"):
        second = above_threshold((count(piece), sum(p.age for p in piece) / 10), threshold=7,
            epsilon=2, sensitivity=12)
    return first, 3
"""
VISITS = """
@record
class Visit:
    day: Int[0, 9]
    cost: Real[0, 100]
    ill: Bool
    site: Public[Category["n", "s"]]

@program(epsilon=4)
def visits(rows: Database[Visit]) -> Private[tuple[Real, Int]]:
    people = group_by(rows, by="person", most=3)
    for site, group in partition(people, by="site"):
        total = laplace(sum(sum(v.cost for v in p) for p in group), epsilon=1)
    ever = laplace(count(p for p in people if any(v.ill and v.day > 2 for v in p)), epsilon=1)
    last = laplace(sum(p.last(by="day").cost for p in people), epsilon=1)
    return last, ever
"""
FOLLOWED = """
@record
class Month:
    site: Public[Category["n", "s"]]
    month: Public[Int[1, 12]]
    share: Public[Real[0, 1]]
    state: Category["u", "v", "w"]
    ill: Bool
    count: Int[1, 12]

@program(epsilon=4, delta=0.0001)
def followed(months: Database[Month]) -> Private[tuple[Vector, Vector, Int, Int]]:
    counts = transition_counts((m.state for m in months if m.site == "n"), order="month")
    each = laplace(transition_counts(months.state, order="month", by="site"), epsilon=1)
    some = gaussian(counts, epsilon=1, delta=0.0001)
    return each, some, laplace(counts[4], epsilon=1), laplace(counts[5], epsilon=1)
"""
MODELLED = """
@record
class Patient:
    age: Int[20, 80]
    months: Real[0, 60]
    cost: Real[1, 4]
    weight: Real[1, 4]
    days: Real[0, 60]
    visits: Int[0, 9]
    died: Bool
    site: Public[Category["a", "b"]]

@program(epsilon=12, delta=0.001)
def modelled(rows: Database[Patient]) -> Private[tuple[Normal, Gamma, Normal, Beta, Samples, Real]]:
    ages = observe(((1, p.age, p.died) for p in rows), logistic, prior=normal(0, sd=2))
    risk = noise_aware(gaussian(statistics(ages), epsilon=1, delta=0.0001))
    times = observe(((p.months, p.died) for p in rows), exponential_time, prior=gamma(1, rate=30))
    rate = noise_aware(laplace(statistics(times), epsilon=1))
    spread = observe((p.cost for p in rows), normal, prior=normal_inverse_gamma(2, 1, 2, 2))
    costs = noise_aware(laplace(statistics(spread), epsilon=1))
    tries = observe((p.visits for p in rows), geometric, prior=beta(1, 1))
    chance = noise_aware(laplace(statistics(tries), epsilon=1))
    pooled = observe((p.died for p in rows), bernoulli,
        prior=partial_pooling(normal(0, sd=2), spread=1, by="site"))
    sites = noise_aware(laplace(statistics(pooled), epsilon=1))
    share = laplace(sum(p.visits / p.weight + p.cost ** 3 for p in rows), epsilon=1)
    tall = laplace(sum(sqrt(p.days) for p in rows) * sqrt(clip(share, 0, 4)), epsilon=1)
    for k in range(3):
        last = laplace(count(p for p in rows if p.age > 30 * k), epsilon=1)
        if last < 10:
            break
    return risk, rate, costs, chance, sites, chance.quantile(0.9)
"""
TEXTS = {
    "sums": SUMS, "posteriors": POSTERIORS, "parts": PARTS, "folded": FOLDED, "answers": ANSWERS,
    "enters": ENTERS, "filtered": FILTERED, "halves": HALVES, "queries": QUERIES,
    "visits": VISITS, "followed": FOLLOWED, "modelled": MODELLED,
}  # fmt: skip
