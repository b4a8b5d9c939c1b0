# REJECT sensitivity: a helper's annotation is not a clip
from bayesdp.programs import Database, Private, Real, helper, laplace, program


@helper
def share(x: Real[0, 1]) -> Real[0, 1]:
    return x


@program
def f(xs: Database[Real[0, 1000]]) -> Private[Real]:
    return laplace(sum(share(x) for x in xs), epsilon=1, sensitivity=1)
