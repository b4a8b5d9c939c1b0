# REJECT bounds: six values and five cells
from bayesdp.programs import Database, Int, Private, Vector, laplace, onehot, program


@program
def f(db: Database[Int[1, 6]]) -> Private[Vector]:
    return laplace(sum(onehot(a - 1, 5) for a in db), epsilon=1)
