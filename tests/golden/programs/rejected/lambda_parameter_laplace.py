# REJECT name: a score's parameter that hides a release
from bayesdp.programs import Bool, Database, Int, Private, exponential, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda laplace: -abs(sum(obs) - laplace), candidates=range(9), epsilon=1)
