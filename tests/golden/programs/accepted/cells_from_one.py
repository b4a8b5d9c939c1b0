# ACCEPT (1, 0): whole numbers that start at 1, counted
from bayesdp.programs import Database, Int, Private, Vector, clip, laplace, onehot, program


@program
def f(db: Database[Int[1, 5]]) -> Private[Vector]:
    return laplace(sum(onehot(clip(a - 1, 0, 4), 5) for a in db), epsilon=1, sensitivity=2)
