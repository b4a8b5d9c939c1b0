# REJECT type: noisy answers are observed or returned
from bayesdp.programs import Database, Int, Private, Real, per_record_exponential, program


@program
def f(db: Database[Int[0, 10]]) -> Private[Real]:
    noisy = per_record_exponential(db, score=lambda x, c: -abs(x - c), candidates=range(11), epsilon=1)
    return sum(noisy) / db.size
