# ACCEPT (1, 0): a histogram of counts, the large ones in one cell
from bayesdp.programs import Database, Int, Private, Vector, clip, laplace, onehot, program


@program
def f(xs: Database[Int[0, 100]]) -> Private[Vector]:
    return laplace(sum(onehot(clip(x, 0, 5), 6) for x in xs), epsilon=1, sensitivity=2)
