# REJECT signature: an argument that is not declared public
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool], *, cutoff: Int[0, 10] = 3) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
