# REJECT bounds: the fault is in the product, not where its factor got a name
from bayesdp.programs import Database, Private, Real, count, laplace, program
@program
def f(db: Database[Real[0, 1]]) -> Private[Real]:
    c = laplace(count(x for x in db if x > 0.5), epsilon=1)
    d = 2 * c
    s = sum(db)
    t = d * s
    return laplace(t, epsilon=1)
