# ACCEPT (0.5, 0): pieces by a public column cost the dearest of them, not the sum.
from bayesdp.programs import Category, Database, Private, Public, Real, clip, laplace, partition, program, record


@record
class Person:
    height: Real[50, 250]
    region: Public[Category["north", "south", "east"]]


@program(epsilon=0.5)
def means(people: Database[Person]) -> Private[tuple[Real, ...]]:
    found = ()
    for region, group in partition(people, by="region"):
        total = laplace(sum(clip(p.height, 140, 200) for p in group), epsilon=0.5)
        found = found + (total,)
    return found
