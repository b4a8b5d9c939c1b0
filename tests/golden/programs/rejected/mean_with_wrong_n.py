# REJECT sensitivity: a sensitivity that holds for large n only
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def f(heights: Database[Real[50, 250]]) -> Private[Real]:
    total = sum(clip(h, 140, 200) for h in heights)
    return laplace(total / heights.size, epsilon=1, sensitivity=6)
