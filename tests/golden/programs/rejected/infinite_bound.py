# REJECT static: a bound beyond all numbers
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1e500]]) -> Private[Real]:
    return laplace(sum(xs), epsilon=1)
