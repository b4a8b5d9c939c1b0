# REJECT private-control: whether something is released depends on a record
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Real]:
    return laplace(sum(laplace(sum(q.age for q in people), epsilon=1) if p.ill else 0 for p in people), epsilon=1)
