# REJECT budget: pieces in parallel, and each reads the whole table
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, count, laplace, partition, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program(epsilon=0.5)
def f(people: Database[Person]) -> Private[Int]:
    total = 0
    for region, piece in partition(people, by="region"):
        total = total + laplace(count(p for p in people if p.ill), epsilon=0.5)
    return total
