# REJECT type: a partition by a number has no declared pieces
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
    total = 0
    for piece in partition(people, by="height"):
        total = total + laplace(count(piece), epsilon=0.1)
    return total
