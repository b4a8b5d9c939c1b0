# ACCEPT (0.3, 0): a column chosen by a public argument, a static branch.
from bayesdp.programs import Bool, Category, Database, Private, Public, Real, count, field, laplace, program, record


@record
class Person:
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person], *, column: Public[Category["ill", "smokes"]] = "ill", scale: Public[Bool] = False) -> Private[Real]:
    n = laplace(count(p for p in people if field(p, column)), epsilon=0.3)
    if scale:
        n = n / people.size
    return n
