# ACCEPT (0.5, 0): a list comprehension over column names, released jointly.
from bayesdp.programs import Bool, Database, Private, Vector, field, laplace, program, record


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Vector]:
    return laplace([sum(field(p, c) for p in people) for c in ("ill", "smokes")], epsilon=0.5, sensitivity=2)
