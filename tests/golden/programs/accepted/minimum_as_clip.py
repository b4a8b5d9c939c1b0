# ACCEPT (0.5, 0): min(income, cap) with a public cap is a clip from above.
from bayesdp.programs import Database, Int, Private, Public, Real, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    income: Real[0, 100000]


@program
def f(people: Database[Person], *, adult: Public[Int[0, 120]] = 18, cap: Public[Real[1, 100000]] = 50000.0) -> Private[Real]:
    """Total income of adults."""
    return laplace(sum(min(p.income, cap) for p in people if p.age >= adult), epsilon=0.5)
