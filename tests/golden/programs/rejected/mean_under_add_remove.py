# REJECT nonlinear: under add-remove the number of records is private, and so no divisor
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program(adjacency="add-remove")
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    return laplace(sum(clip(x, 0, 50) for x in xs) / xs.size, epsilon=1)
