# ACCEPT (0.5, 0): a fold of maxima never widens a gap, and one record moves it by the range.
from bayesdp.programs import Database, Int, Private, Real, fold, helper, laplace, program, record


@record
class Person:
    age: Int[0, 120]


@helper
def step(most, x):
    return max(most, x)


@program
def f(people: Database[Person]) -> Private[Real]:
    return laplace(fold((p.age for p in people), 0, step), epsilon=0.5)
