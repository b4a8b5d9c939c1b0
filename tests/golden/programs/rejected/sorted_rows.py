# REJECT name: the order of private records
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    ordered = sorted(xs)
    return laplace(ordered[0], epsilon=1)
