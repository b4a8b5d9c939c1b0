# REJECT name: the same through a helper
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, count, helper, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@helper
def neighbours(p, people):
    return count(q for q in people if q.region == p.region)


@program
def f(people: Database[Person]) -> Private[Real]:
    return laplace(sum(neighbours(p, people) for p in people), epsilon=1)
