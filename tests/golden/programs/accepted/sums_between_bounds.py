# ACCEPT (0.6, 0): a list of releases; zip of two lists.
from bayesdp.programs import Database, Int, Private, Real, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    income: Real[0, 100000]

LOWS = [0, 30, 60]
HIGHS = [30, 60, 121]


@program
def f(people: Database[Person]) -> Private[tuple[Real, ...]]:
    return [laplace(sum(p.income for p in people if p.age >= lo and p.age < hi), epsilon=0.2) for lo, hi in zip(LOWS, HIGHS)]
