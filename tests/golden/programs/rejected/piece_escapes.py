# REJECT name: a piece of a partition after its loop
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, count, laplace, partition, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Int]:
    for region, piece in partition(people, by="region"):
        last = count(p for p in piece if p.ill)
    return laplace(last, epsilon=1)
