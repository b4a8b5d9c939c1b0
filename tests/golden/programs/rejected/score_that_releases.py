# REJECT construct: a score that releases something for each candidate
from bayesdp.programs import Bool, Database, Int, Private, exponential, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda k: -abs(laplace(sum(obs), epsilon=1) - k), candidates=range(10), epsilon=1)
