# ACCEPT (0.5, 0): sum(1 for ... if ...) is a count.
from bayesdp.programs import Bool, Category, Database, Int, Private, laplace, program, record


@record
class Person:
    sex: Category["f", "m", "missing"]
    ill: Bool
    smokes: Bool


@program
def f(people: Database[Person]) -> Private[Int]:
    return laplace(sum(1 for p in people if not (p.ill or p.smokes) and p.sex != "missing"), epsilon=0.5)
