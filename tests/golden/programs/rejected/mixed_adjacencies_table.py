# REJECT sensitivity: a filtered table at the price of add-remove
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, Vector, laplace, onehot, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Vector]:
    return laplace(sum(onehot(p.sex) for p in people if p.age >= 18), epsilon=1, sensitivity=1)
