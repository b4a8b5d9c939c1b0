# REJECT annotation: an annotation on a helper's result clamps nothing
from bayesdp.programs import Database, Private, Real, helper, laplace, program


@program
def f(xs: Database[Real[0, 1000]]) -> Private[Real]:
    mean: Real[0, 1] = sum(xs) / xs.size
    return laplace(mean, epsilon=1)
