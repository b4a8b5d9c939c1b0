# REJECT arguments: no candidate at all
from bayesdp.programs import Bool, Database, Int, Private, count, exponential, program
@program
def f(db: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda t: t * count(db), candidates=range(5, 5), epsilon=1)
