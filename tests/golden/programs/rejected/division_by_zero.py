# REJECT division: a divisor that may be zero
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
    return laplace(sum(p.age for p in people) / (people.size - 1), epsilon=1)
