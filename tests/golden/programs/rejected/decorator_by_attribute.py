# REJECT module: a decorator reached through another name
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program.check
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
