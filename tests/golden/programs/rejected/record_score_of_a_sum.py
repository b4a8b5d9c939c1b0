# REJECT nonlinear: a record's score that reads all records
from bayesdp.programs import Database, Int, Private, Vector, per_record_exponential, program


@program
def f(xs: Database[Int[0, 9]]) -> Private[Vector]:
    return per_record_exponential(xs, score=lambda x, c: -abs(x - c) * sum(xs), candidates=range(10), epsilon=1)
