# REJECT private-output: the size of a filter is private
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Int]:
    ill = (p for p in people if p.ill)
    return ill.size
