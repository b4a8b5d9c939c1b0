# UNKNOWN unproved: a normal posterior of a private number of records
from bayesdp.programs import Bool, Category, Database, Int, Normal, Private, Public, Real, clip, exponential, grid_of, hellinger, infer, linspace, normal, observe, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Normal]:
    heights = (clip(p.height, 140, 200) for p in people if p.ill)
    posterior = infer(observe(heights, normal(sd=7), prior=normal(170, sd=15)))
    return exponential(
        score=hellinger(posterior),
        candidates=grid_of(normal, a=linspace(140, 200, 61), b=linspace(1, 15, 15)),
        epsilon=1,
    )
