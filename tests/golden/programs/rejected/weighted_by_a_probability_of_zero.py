# REJECT division: the public probability may be 0
from bayesdp.programs import Database, Private, Public, Real, laplace, program, record


@record
class P:
    y: Real[0, 10]
    prob: Public[Real[0, 1]]

@program
def f(db: Database[P]) -> Private[Real]:
    return laplace(sum(p.y / p.prob for p in db), epsilon=1, sensitivity=100)
