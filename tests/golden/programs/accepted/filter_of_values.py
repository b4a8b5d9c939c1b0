# ACCEPT (0.5, 0): a filter of a generator's values.
from bayesdp.programs import Database, Int, Private, Real, laplace, program, record


@record
class Person:
    age: Int[0, 120]


@program
def f(people: Database[Person]) -> Private[Real]:
    ages = (p.age for p in people)
    older = (a for a in ages if a > 50)
    return laplace(sum(a - 50 for a in older), epsilon=0.5, sensitivity=70)
