# ACCEPT (0.5, 0): a sum as a fold; a solver proves that one record moves it by at most 5.
from bayesdp.programs import Database, Int, Private, Real, clip, fold, helper, laplace, program


@helper
def step(total, value):
    return total + clip(value, 0, 5)


@program
def folded(values: Database[Int[0, 100]]) -> Private[Real]:
    return laplace(fold(values, 0, step), epsilon=0.5, sensitivity=5)
