# REJECT attribute: attributes of Python's own
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    leak = obs.__class__.__name__
    return laplace(sum(obs), epsilon=1)
