# ACCEPT (1, 0): a normal posterior of a public number of records: at least 20 of them.
from bayesdp.programs import Database, Normal, Private, Real, clip, exponential, grid_of, hellinger, infer, linspace, normal, observe, program, record, require


@record
class Person:
    height: Real[50, 250]


@program
def f(people: Database[Person]) -> Private[Normal]:
    require(people.size >= 20)
    post = infer(observe((clip(p.height, 140, 200) for p in people), normal(sd=7), prior=normal(170, sd=15)))
    return exponential(score=hellinger(post), candidates=grid_of(normal, a=linspace(140, 200, 601), b=linspace(0.1, 2, 20)), epsilon=1)
