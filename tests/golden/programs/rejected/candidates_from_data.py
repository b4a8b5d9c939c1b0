# REJECT private-parameter: candidates from the data
from bayesdp.programs import Bool, Database, Int, Private, exponential, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda k: -abs(sum(obs) - k), candidates=(x for x in obs), epsilon=1)
