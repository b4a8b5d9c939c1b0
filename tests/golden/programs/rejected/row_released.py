# REJECT type: the value of one record is no value to release
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, Vector, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Vector]:
    return [laplace(p.age, epsilon=1) for p in people]
