# ACCEPT (0.2, 0): a static sum of weighted columns inside a row.
from bayesdp.programs import Bool, Database, Private, Public, Real, field, laplace, program, record


@record
class Person:
    ill: Bool
    smokes: Bool
    cohort: Public[Bool]


@program
def f(people: Database[Person]) -> Private[Real]:
    weights = (0.5, 0.3, 0.2)
    columns = ("ill", "smokes", "cohort")
    total = sum(sum(w * field(p, c) for w, c in zip(weights, columns)) for p in people)
    return laplace(total, epsilon=0.2)
