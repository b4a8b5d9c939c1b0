# REJECT static: a decorator's argument that is computed
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(epsilon=max(1, 2))
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
