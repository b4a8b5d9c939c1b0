# REJECT nonlinear: dividing by a private count may fail on data
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Real]:
    ill = count(p for p in people if p.ill)
    return laplace(sum(p.age for p in people if p.ill) / ill, epsilon=1)
