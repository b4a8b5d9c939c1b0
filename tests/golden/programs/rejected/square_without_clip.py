# REJECT sensitivity: squares of values in [-10, 10] move by 100
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[-10, 10]]) -> Private[Real]:
    return laplace(sum(x * x for x in xs), epsilon=1, sensitivity=20)
