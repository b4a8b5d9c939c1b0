# ACCEPT (0.5, 0.000001): an asserted sigma that is more than enough.
from bayesdp.programs import Database, Int, Private, count, gaussian, program, record


@record
class Person:
    age: Int[0, 120]


@program
def f(people: Database[Person]) -> Private[Int]:
    return gaussian(count(p for p in people if p.age > 60), epsilon=0.5, delta=1e-6, sigma=20)
