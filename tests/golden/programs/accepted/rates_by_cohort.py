# ACCEPT (0.5, 0): Poisson rates in pieces of a public truth value.
from bayesdp.programs import Bool, Database, Gamma, Int, Private, Public, Real, clip, gamma, laplace, noise_aware, observe, partition, poisson, program, record, statistics


@record
class Person:
    age: Int[0, 120]
    years: Public[Real[0.1, 2]]
    cohort: Public[Bool]


@program
def f(people: Database[Person]) -> Private[tuple[Gamma, ...]]:
    found = ()
    for label, group in partition(people, by="cohort"):
        exposure = sum(p.years for p in group)
        model = observe((clip(p.age, 0, 10) for p in group), poisson(exposure), prior=gamma(shape=2, rate=1))
        found = found + (noise_aware(laplace(statistics(model), epsilon=0.5)),)
    return found
