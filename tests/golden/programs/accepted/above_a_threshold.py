# ACCEPT (0.4, 0): a conditional on a released mean.
from bayesdp.programs import Database, Private, Real, clip, laplace, program, record


@record
class Person:
    height: Real[50, 250]


@program
def f(people: Database[Person]) -> Private[Real]:
    total = sum(clip(p.height, 140, 200) for p in people)
    mean = laplace(total / people.size, epsilon=0.4)
    above = mean if mean > 170 else 170
    return above - 170
