# REJECT budget: a piece compared with the whole table in every part
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, Vector, count, laplace, partition, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program(epsilon=0.5)
def f(people: Database[Person]) -> Private[Vector]:
    return tuple(
        laplace(count(p for p in piece if p.ill) - count(p for p in people if p.ill), epsilon=0.5)
        for piece in partition(people, by="region")
    )
