# ACCEPT (1, 0): noted, noise can bring the released count to 0.
from bayesdp.programs import Database, Private, Real, clip, count, laplace, program, record


@record
class Person:
    height: Real[100, 230]
    ill: Real[0, 1]


@program
def f(people: Database[Person]) -> Private[Real]:
    total = laplace(sum(clip(p.height, 140, 200) for p in people if p.ill > 0.5), epsilon=0.5)
    n = laplace(count(p for p in people if p.ill > 0.5), epsilon=0.5)
    return total / n
