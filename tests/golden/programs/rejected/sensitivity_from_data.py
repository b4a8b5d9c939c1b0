# REJECT private-parameter: a noise scale from the data
from bayesdp.programs import Database, Private, Real, laplace, program


@program
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    return laplace(sum(xs), epsilon=1, sensitivity=sum(xs) / xs.size)
