# REJECT construct: counts by the values that occur
from bayesdp.programs import Database, Int, Private, Vector, laplace, program


@program
def f(xs: Database[Int[0, 9]]) -> Private[Vector]:
    found = {x: 1 for x in xs}
    return laplace(sum(xs), epsilon=1)
