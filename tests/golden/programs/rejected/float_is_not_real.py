# REJECT sensitivity: 0.1 + 0.2 is three tenths here, and the asserted double is below it
from bayesdp.programs import Database, Private, Real, clip, laplace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(sum(clip(x, 0, 0.1 + 0.2) for x in xs), epsilon=1, sensitivity=0.29999999999999999)
