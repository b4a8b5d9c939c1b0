# REJECT private-control: a score that compares private values; -abs(c - s) is the same
from bayesdp.programs import Database, Private, Real, exponential, linspace, program


@program
def near(db: Database[Real[0, 1]]) -> Private[Real]:
    s = sum(x for x in db) / db.size
    return exponential(score=lambda c: -(c - s) if c > s else -(s - c), candidates=linspace(0, 1, 11), epsilon=1)
