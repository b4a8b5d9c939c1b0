# REJECT private-control: the size of a filter is private
from bayesdp.programs import Bool, Category, Database, Int, Private, Public, Real, laplace, program, record


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
    if ill.size == 0:
        answer = 0
    else:
        answer = laplace(ill.size, epsilon=1)
    return answer
