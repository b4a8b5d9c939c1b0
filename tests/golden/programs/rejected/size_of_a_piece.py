# REJECT private-output: the size of a piece by a private column
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, Vector, partition, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Vector]:
    return tuple(piece.size for piece in partition(people, by="sex"))
