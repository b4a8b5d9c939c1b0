# ACCEPT (0.4, 0): require(n > 1) keeps n - 1 away from 0.
from bayesdp.programs import Database, Private, Real, clip, laplace, program, record, require


@record
class Person:
    height: Real[50, 250]


@program(epsilon=0.4)
def f(people: Database[Person]) -> Private[Real]:
    n = people.size
    require(n > 1)
    s2 = sum(clip(p.height - 170, -30, 30) ** 2 for p in people) / (n - 1)
    return laplace(s2, epsilon=0.4)
