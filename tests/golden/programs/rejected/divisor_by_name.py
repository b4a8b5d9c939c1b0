# REJECT division: the fault is in the quotient, not where its divisor got a name
from bayesdp.programs import Database, Private, Real, laplace, program
@program
def f(db: Database[Real[0, 1]]) -> Private[Real]:
    n = db.size
    m = n - 1
    s = sum(db)
    return laplace(s / m, epsilon=1)
