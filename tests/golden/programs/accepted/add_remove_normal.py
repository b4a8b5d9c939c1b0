# ACCEPT (0.5, 0): under add-remove the number of heights is a statistic too.
from bayesdp.programs import Database, Normal, Private, Real, clip, laplace, noise_aware, normal, observe, program, record, statistics


@record
class Person:
    height: Real[50, 250]


@program(adjacency="add-remove")
def f(people: Database[Person]) -> Private[Normal]:
    model = observe((clip(p.height, 140, 200) for p in people), normal(sd=7), prior=normal(170, sd=15))
    return noise_aware(laplace(statistics(model), epsilon=0.5))
