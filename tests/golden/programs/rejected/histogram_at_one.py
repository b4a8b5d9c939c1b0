# REJECT sensitivity: a replaced record leaves one cell and enters another: mixed adjacencies
from bayesdp.programs import Category, Database, Private, Vector, laplace, onehot, program


@program
def f(votes: Database[Category["a", "b", "c"]]) -> Private[Vector]:
    return laplace(sum(onehot(v) for v in votes), epsilon=1, sensitivity=1)
