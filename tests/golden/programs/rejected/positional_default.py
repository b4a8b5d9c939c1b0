# REJECT signature: a second, positional argument with a default
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool], extra=3) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
