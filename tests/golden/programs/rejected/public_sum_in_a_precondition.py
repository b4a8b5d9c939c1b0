# REJECT static: a sum of public columns is known with the table only
from bayesdp.programs import Database, Private, Public, Real, laplace, program, record, require
@record
class P:
    x: Real[0, 1]
    y: Public[Real[1, 2]]
@program
def f(db: Database[P]) -> Private[Real]:
    require(sum(p.y for p in db) > 1000)
    return laplace(sum(p.x for p in db) / sum(p.y for p in db), epsilon=1, sensitivity=0.001)
