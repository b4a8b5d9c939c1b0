# REJECT attribute: methods of the data
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(xs.mean(), epsilon=1)
