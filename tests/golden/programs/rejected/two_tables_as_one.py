# REJECT sensitivity: two tables of one table's sensitivity
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
    sexes = sum(onehot(p.sex) for p in people)
    ill = sum(onehot(p.ill) for p in people)
    return laplace((sexes[0], sexes[1], ill[0], ill[1]), epsilon=1, sensitivity=2)
