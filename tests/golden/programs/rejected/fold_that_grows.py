# UNKNOWN unproved: a fold that doubles what came before
from bayesdp.programs import Database, Private, Real, clip, fold, helper, laplace, program


@helper
def step(total, x):
    return 2 * total + x


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(fold(xs, 0, step), epsilon=1)
