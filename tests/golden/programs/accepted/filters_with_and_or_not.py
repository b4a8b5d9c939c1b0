# ACCEPT (0.3, 0): one count over a filter with and, or, not and a chained comparison.
from bayesdp.programs import Bool, Category, Database, Int, Private, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    sex: Category["f", "m", "missing"]
    smokes: Bool


@program
def at_risk(people: Database[Person]) -> Private[Int]:
    chosen = (p for p in people if (18 <= p.age < 65 or p.sex == "missing") and not p.smokes)
    return laplace(count(chosen), epsilon=0.3)
