# REJECT signature: two private inputs
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool], more: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs) + sum(more), epsilon=1)
