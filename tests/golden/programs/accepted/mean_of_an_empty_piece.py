# ACCEPT (0.5, 0): noted, a public piece may hold no record.
from bayesdp.programs import Category, Database, Private, Public, Real, clip, laplace, partition, program, record


@record
class Person:
    height: Real[100, 230]
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[tuple[Real, ...]]:
    means = ()
    for _, piece in partition(people, by="region"):
        means = means + (laplace(sum(clip(p.height, 140, 200) for p in piece), epsilon=0.5) / piece.size,)
    return means
