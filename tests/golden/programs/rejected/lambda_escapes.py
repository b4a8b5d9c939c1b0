# REJECT construct: a function as a value, closing over data
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    total = lambda: sum(obs)
    return laplace(total(), epsilon=1)
