# ACCEPT (0.5, 0): a mean as a score: moves by 120 / n.
from bayesdp.programs import Database, Int, Private, exponential, program, record


@record
class Person:
    age: Int[0, 120]


@program
def f(people: Database[Person]) -> Private[Int]:
    return exponential(score=lambda a: -abs(sum(p.age for p in people) / people.size - a), candidates=range(0, 121), epsilon=0.5)
