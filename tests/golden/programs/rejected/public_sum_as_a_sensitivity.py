# UNKNOWN unproved: a sum of public columns is held against nothing
from bayesdp.programs import Database, Private, Public, Real, laplace, program, record
@record
class P:
    x: Real[0, 1]
    y: Public[Real[0, 2]]
@program
def f(db: Database[P]) -> Private[Real]:
    return laplace(sum(p.x for p in db), epsilon=1, sensitivity=sum(p.y for p in db))
