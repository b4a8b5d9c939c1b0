# REJECT arguments: a noisy number of points may be anything
from bayesdp.programs import Database, Private, Real, count, exponential, laplace, linspace, program
@program
def f(db: Database[Real[0, 1]]) -> Private[Real]:
    k = laplace(count(x for x in db if x > 0.5), epsilon=1)
    return exponential(score=lambda t: t * sum(db), candidates=linspace(0, 1, k), epsilon=1)
