# REJECT bounds: a clip at a released value that may lie below its lower end
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    top = laplace(sum(xs), epsilon=0.5)
    return laplace(sum(clip(x, 0, top) for x in xs), epsilon=0.5)
