# REJECT size: a range that can not be listed
from bayesdp.programs import Bool, Database, Int, Private, count, exponential, program
@program
def f(db: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda t: t * count(db), candidates=range(0, 100000000000), epsilon=1)
