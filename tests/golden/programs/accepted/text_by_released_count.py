# ACCEPT (0.5, 0): a text chosen by a released count is free.
from bayesdp.programs import Bool, Category, Database, Private, count, laplace, program, record


@record
class Person:
    ill: Bool


@program
def f(people: Database[Person]) -> Private[Category]:
    n = laplace(count(p for p in people if p.ill), epsilon=0.5)
    return "many" if n > 100 else "few"
