# REJECT private-parameter: one of the candidates is a private count
from bayesdp.programs import Database, Int, Private, count, exponential, program


@program
def f(obs: Database[Int[0, 9]]) -> Private[Int]:
    return exponential(score=lambda c: count(x for x in obs if x == c), candidates=(1, 2, max(count(x for x in obs if x > 4), 3)), epsilon=1)
