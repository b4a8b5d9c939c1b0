# REJECT sensitivity: an alias that sounds like shares and is percent
from bayesdp.programs import Database, Private, Real, laplace, program


Share = Real[0, 100]


@program
def f(xs: Database[Share]) -> Private[Real]:
    return laplace(sum(xs), epsilon=1, sensitivity=1)
