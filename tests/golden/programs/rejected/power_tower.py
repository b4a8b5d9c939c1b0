# REJECT static: a power that nobody could write out
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program
K = 10 ** 10 ** 10
@program
def f(db: Database[Bool]) -> Private[Int]:
    return laplace(count(db), epsilon=K)
