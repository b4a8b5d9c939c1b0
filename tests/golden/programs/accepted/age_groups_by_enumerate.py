# ACCEPT (0.6, 0): three counts of age groups; enumerate over a literal tuple.
from bayesdp.programs import Database, Int, Private, Vector, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]

BOUNDS = ((0, 30), (30, 60), (60, 121))


@program
def f(people: Database[Person]) -> Private[Vector]:
    found = ()
    for i, (lo, hi) in enumerate(BOUNDS):
        n = laplace(count(p for p in people if lo <= p.age < hi), epsilon=0.2)
        found = found + (n,)
    return found
