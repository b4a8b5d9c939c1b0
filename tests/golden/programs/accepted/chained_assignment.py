# ACCEPT (0.4, 0): a = b = sum: the sum of both moves by twice the range.
from bayesdp.programs import Database, Private, Real, laplace, program, record


@record
class Person:
    income: Real[0, 100000]


@program
def f(people: Database[Person]) -> Private[Real]:
    a = b = sum(p.income for p in people)
    return laplace(a + b, epsilon=0.4)
