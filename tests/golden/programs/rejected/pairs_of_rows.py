# REJECT construct: all pairs of records
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(sum(abs(x - y) for x in xs for y in xs), epsilon=1)
