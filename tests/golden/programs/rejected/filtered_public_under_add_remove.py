# REJECT private-output: a public column's sum is private under add-remove
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    years: Public[Real[0, 1]]


@program(adjacency="add-remove")
def f(people: Database[Person]) -> Private[Real]:
    return sum(p.years for p in people)
