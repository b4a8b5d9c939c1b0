# REJECT arguments: as many points as records, of which there may be one
from bayesdp.programs import Database, Private, Real, exponential, linspace, program
@program
def f(db: Database[Real[0, 1]]) -> Private[Real]:
    return exponential(score=lambda t: t * sum(db), candidates=linspace(0, 1, db.size), epsilon=1)
