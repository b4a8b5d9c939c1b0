# REJECT static: an index that a released value decides
from bayesdp.programs import Database, Int, Private, laplace, program
@program(epsilon=1)
def f(db: Database[Int[0, 1]]) -> Private[Int]:
    a = laplace(sum(db), epsilon=1)
    t = (a, sum(db))
    if a > 3:
        i = 0
    else:
        i = 1
    return t[i]
