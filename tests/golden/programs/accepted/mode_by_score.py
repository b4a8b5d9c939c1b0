# ACCEPT (0.5, 0): the most frequent value: the count of a candidate is its score, and moves by 1.
from bayesdp.programs import Database, Int, Private, count, exponential, program


@program
def mode(answers: Database[Int[0, 9]]) -> Private[Int]:
    return exponential(score=lambda k: count(a for a in answers if a == k), candidates=range(10), epsilon=0.5)
