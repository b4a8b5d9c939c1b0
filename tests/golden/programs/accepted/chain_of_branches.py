# ACCEPT (0.7, 0): 0.5 for the count, 0.2 for the dearest of three branches.
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program, record


@record
class Person:
    ill: Bool
    smokes: Bool


@program(epsilon=0.7)
def f(people: Database[Person]) -> Private[tuple[Int, Bool]]:
    n = laplace(count(p for p in people if p.ill), epsilon=0.5)
    if n > 100:
        m = laplace(count(p for p in people if p.smokes), epsilon=0.2)
        many = True
    elif n > 50:
        m = laplace(count(p for p in people if p.smokes), epsilon=0.1)
        many = True
    else:
        m = 0
        many = False
    return m, many
