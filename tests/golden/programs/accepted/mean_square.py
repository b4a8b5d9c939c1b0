# ACCEPT (0.5, 0): a mean square around a public value: (200 - 170) ** 2 / n.
from bayesdp.programs import Database, Private, Real, clip, laplace, program, record


@record
class Person:
    height: Real[50, 250]


@program
def f(people: Database[Person]) -> Private[Real]:
    n = people.size
    total = sum((clip(p.height, 140, 200) - 170) ** 2 for p in people)
    return laplace(total / n, epsilon=0.5, sensitivity=900 / n)
