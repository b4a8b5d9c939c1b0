# REJECT private-parameter: a grid whose end is a private sum
from bayesdp.programs import Database, Private, Real, exponential, linspace, program


@program
def f(xs: Database[Real[0, 1]]) -> Private[Real]:
    total = sum(xs)
    return exponential(score=lambda t: -abs(total - t), candidates=linspace(0, total, 11), epsilon=1)
