# REJECT bounds: a clip whose lower end lies above the upper one
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    return laplace(sum(clip(x, 10, 0) for x in xs), epsilon=1)
