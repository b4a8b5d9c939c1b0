# REJECT annotation: the lower bound above the upper one
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[1, 0]]) -> Private[Real]:
    return laplace(sum(xs), epsilon=1)
