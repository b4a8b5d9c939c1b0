# REJECT bounds: the largest value has no bound of its own
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    top = max(xs)
    return laplace(sum(clip(x, 0, top) for x in xs), epsilon=1)
