# REJECT bounds: a column without bounds
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real]) -> Private[Real]:
    return laplace(sum(xs), epsilon=1)
