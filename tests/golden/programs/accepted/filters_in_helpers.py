# ACCEPT (0.5, 0): filters that helpers give.
from bayesdp.programs import Category, Database, Int, Private, count, helper, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    sex: Category["f", "m", "missing"]


@helper
def adults(people):
    return (p for p in people if p.age >= 18)


@helper
def women(people):
    return (p for p in people if p.sex == "f")


@program
def f(people: Database[Person]) -> Private[Int]:
    return laplace(count(women(adults(people))), epsilon=0.5)
