# REJECT bounds: a score without bounds: the largest record
from bayesdp.programs import Database, Private, Real, exponential, linspace, program


@program
def f(xs: Database[Real[0, 100]]) -> Private[Real]:
    return exponential(score=lambda t: -abs(max(xs) - t), candidates=linspace(0, 100, 101), epsilon=1)
