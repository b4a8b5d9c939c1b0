# REJECT type: a helper that releases each row
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, helper, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@helper
def noisy(p):
    return laplace(p.age, epsilon=1)


@program
def f(people: Database[Person]) -> Private[Real]:
    return sum(noisy(p) for p in people)
