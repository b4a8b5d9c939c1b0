# ACCEPT (0.5, 0): a truth value of released values.
from bayesdp.programs import Bool, Database, Private, count, laplace, program, record


@record
class Person:
    ill: Bool


@program
def f(people: Database[Person]) -> Private[Bool]:
    n = laplace(count(p for p in people if p.ill), epsilon=0.5)
    return n > 0.1 * people.size and not n > 0.9 * people.size
