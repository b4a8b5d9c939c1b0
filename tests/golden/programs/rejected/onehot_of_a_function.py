# REJECT type: a number of cells that is no number
from bayesdp.programs import Database, Int, Private, Vector, laplace, onehot, program


@program
def f(xs: Database[Int[0, 5]]) -> Private[Vector]:
    return laplace(sum(onehot(x, range) for x in xs), epsilon=1, sensitivity=2)
