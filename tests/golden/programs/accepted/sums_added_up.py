# ACCEPT (0.5, 0): sums of two columns added up in a loop.
from bayesdp.programs import Bool, Database, Private, Real, field, laplace, program, record


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Real]:
    total = 0
    for name in ("ill", "smokes"):
        total = total + sum(field(p, name) for p in people)
    return laplace(total, epsilon=0.5, sensitivity=2)
