# ACCEPT (0.5, 0): branches without an else on released values.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program, record


@record
class Person:
    ill: Bool


@program
def f(people: Database[Person]) -> Private[Real]:
    """A released mean, printed as percent."""
    k = laplace(count(p for p in people if p.ill), epsilon=0.5)
    percent = 100 * k / people.size
    if percent < 0:
        percent = 0
    if percent > 100:
        percent = 100
    return percent
