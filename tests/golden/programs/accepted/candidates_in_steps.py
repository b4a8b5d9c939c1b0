# ACCEPT (1, 0): candidates from tuple(range(...)).
from bayesdp.programs import Database, Int, Private, count, exponential, program, record


@record
class Person:
    age: Int[0, 120]


@program
def f(people: Database[Person]) -> Private[Int]:
    best = exponential(score=lambda k: -abs(count(p for p in people if p.age <= k) - people.size / 2), candidates=tuple(range(0, 121, 5)), epsilon=1)
    return best
