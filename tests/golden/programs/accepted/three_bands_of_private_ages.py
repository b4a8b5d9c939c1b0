# ACCEPT (1, 0): a replaced record leaves one band of a private age and enters another: two of three sums move, by 5 each.
from bayesdp.programs import Database, Private, Real, Vector, laplace, program, record


@record
class Visit:
    age: Real[0, 90]
    score: Real[0, 5]


@program
def bands(visits: Database[Visit]) -> Private[Vector]:
    young = sum(v.score for v in visits if v.age < 18)
    middle = sum(v.score for v in visits if v.age >= 18 and v.age < 65)
    old = sum(v.score for v in visits if v.age >= 18 and not v.age < 65)
    return laplace((young, middle, old), epsilon=1, sensitivity=10)
