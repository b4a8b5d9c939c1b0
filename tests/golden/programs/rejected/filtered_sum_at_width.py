# REJECT sensitivity: a filtered sum counts as add-remove inside: 200, not 60
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, clip, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Real]:
    tall = (clip(p.height, 140, 200) for p in people if p.ill)
    return laplace(sum(tall), epsilon=1, sensitivity=60)
