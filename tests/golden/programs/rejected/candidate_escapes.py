# REJECT name: a score's candidate outside of it
from bayesdp.programs import Bool, Database, Int, Private, exponential, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    best = exponential(score=lambda k: -abs(sum(obs) - k), candidates=range(10), epsilon=1)
    return best + k
