# REJECT bounds: a row scaled by a released value without bounds
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    factor = laplace(sum(xs), epsilon=0.5)
    return laplace(sum(factor * x for x in xs), epsilon=0.5)
