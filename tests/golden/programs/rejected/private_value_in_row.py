# REJECT nonlinear: centring by a private mean: every record's value moves
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
    mean = sum(p.height for p in people) / people.size
    return laplace(sum((p.height - mean) ** 2 for p in people), epsilon=1)
