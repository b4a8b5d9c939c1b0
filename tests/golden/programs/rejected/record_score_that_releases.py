# REJECT construct: a record's score that releases something
from bayesdp.programs import Database, Int, Private, Vector, laplace, per_record_exponential, program


@program
def f(xs: Database[Int[0, 9]]) -> Private[Vector]:
    return per_record_exponential(
        xs, score=lambda x, c: -abs(x - c) * laplace(sum(xs), epsilon=1), candidates=range(10), epsilon=1
    )
