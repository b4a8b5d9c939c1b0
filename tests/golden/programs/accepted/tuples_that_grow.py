# ACCEPT (1, 0): found += (x,) of a tuple; public pieces.
from bayesdp.programs import Category, Database, Normal, Private, Public, Real, clip, laplace, noise_aware, normal, observe, partition, program, record, statistics


@record
class Person:
    height: Real[50, 250]
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[tuple[Normal, Normal]]:
    found = ()
    for region, group in partition(people, by="region"):
        heights = (clip(p.height, 140, 200) for p in group)
        model = observe(heights, normal(sd=7), prior=normal(170, sd=15))
        found += (noise_aware(laplace(statistics(model), epsilon=1)),)
    return found
