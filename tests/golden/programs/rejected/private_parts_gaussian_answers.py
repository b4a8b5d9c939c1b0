# REJECT private-output: answers of each record tell how many records a private piece has
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, Vector, partition, program, randomized_response, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[tuple[Vector, Vector]]:
    return tuple(randomized_response((p.ill for p in piece), epsilon=1) for piece in partition(people, by="sex"))
