# REJECT name: pairs of records by a generator inside a generator
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(sum(sum(abs(x - y) for y in xs) for x in xs), epsilon=1)
