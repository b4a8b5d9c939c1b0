# ACCEPT (1, 0): moments with a truth value as a feature, in a public filter.
from bayesdp.programs import Bool, Database, Private, Public, Real, Samples, clip, laplace, linear_model, normal, nuts, observe, program, record, statistics


@record
class Person:
    height: Real[50, 250]
    income: Real[0, 100000]
    ill: Bool
    cohort: Public[Bool]


@program(epsilon=1)
def f(people: Database[Person]) -> Private[Samples]:
    rows = ((1, clip(p.height / 250, -1, 1), p.ill, clip(p.income / 100000, -1, 1)) for p in people if p.cohort)
    model = observe(rows, linear_model(noise_sd=0.3), prior=normal(0, sd=2))
    return nuts(laplace(statistics(model), epsilon=1), draws=500)
