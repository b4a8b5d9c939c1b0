# REJECT name: a private value that a branch chooses
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, laplace, program, record


@record
class Person:
    age: Int[0, 120]
    height: Real[50, 250]
    sex: Category["f", "m"]
    ill: Bool
    region: Public[Category["north", "south"]]


@program
def f(people: Database[Person]) -> Private[Real]:
    noisy = laplace(sum(p.ill for p in people), epsilon=1)
    if noisy > 3:
        chosen = sum(p.age for p in people)
    else:
        chosen = sum(p.height for p in people)
    return laplace(chosen, epsilon=1, sensitivity=120)
