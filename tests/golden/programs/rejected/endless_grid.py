# REJECT size: more points than can be listed
from bayesdp.programs import Bool, Database, Private, Real, count, exponential, linspace, program
@program
def f(db: Database[Bool]) -> Private[Real]:
    return exponential(score=lambda t: t * count(db), candidates=linspace(0, 1, 10000000000), epsilon=1)
