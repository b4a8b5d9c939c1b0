# REJECT construct: a release for each record
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(sum(x * laplace(sum(xs), epsilon=0.1) for x in xs), epsilon=1)
