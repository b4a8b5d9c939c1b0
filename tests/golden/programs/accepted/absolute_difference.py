# ACCEPT (0.5, 0): the absolute difference of two counts.
from bayesdp.programs import Database, Int, Private, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]


@program
def f(people: Database[Person]) -> Private[Int]:
    older = count(p for p in people if p.age > 60)
    younger = count(p for p in people if p.age < 20)
    return laplace(abs(older - younger), epsilon=0.5)
