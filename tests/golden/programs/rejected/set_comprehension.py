# REJECT construct: the values that occur
from bayesdp.programs import Database, Int, Private, laplace, program


@program
def f(xs: Database[Int[0, 9]]) -> Private[Int]:
    return laplace(len({x for x in xs}), epsilon=1)
