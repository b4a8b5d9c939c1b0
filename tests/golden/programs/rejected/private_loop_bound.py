# REJECT private-control: a range of a private length
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, count, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Int]:
    total = 0
    for _ in range(count(p for p in people if p.ill)):
        total = total + 1
    return laplace(total, epsilon=1)
