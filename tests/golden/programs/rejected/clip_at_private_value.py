# REJECT private-parameter: bounds from the data
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    mean = sum(xs) / xs.size
    return laplace(sum(clip(x, 0, mean) for x in xs), epsilon=1)
