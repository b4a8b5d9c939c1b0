# REJECT private-control: a filter whose threshold is a private mean
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
    mean = sum(p.age for p in people) / people.size
    return laplace(count(p for p in people if p.age > mean), epsilon=1)
