# REJECT name: released tuples of two lengths; nothing is private
from bayesdp.programs import Bool, Database, Int, Private, count, laplace, program


@program(epsilon=1)
def f(db: Database[Bool]) -> Private[Int]:
    k = laplace(count(db), epsilon=1)
    if k > 3:
        both = (k, k)
    else:
        both = (k,)
    return both[0]
