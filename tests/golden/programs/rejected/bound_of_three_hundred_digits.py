# REJECT static: a bound whose square the kernel does not read
from bayesdp.programs import Database, Private, Real, laplace, program
@program
def f(db: Database[Real[0, 1e300]]) -> Private[Real]:
    return laplace(sum(x * x for x in db), epsilon=1)
