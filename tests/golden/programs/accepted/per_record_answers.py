# ACCEPT (0.5, 0): every record answers by the exponential mechanism; records are separate, so the cost is one record's.
from bayesdp.programs import Database, Int, Private, Vector, per_record_exponential, program


@program
def answers(scores: Database[Int[0, 10]]) -> Private[Vector]:
    return per_record_exponential(scores, score=lambda x, c: -abs(x - c), candidates=range(0, 11), epsilon=0.5)
