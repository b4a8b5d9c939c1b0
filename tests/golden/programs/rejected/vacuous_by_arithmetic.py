# REJECT precondition: the same in disguise: a square below zero
from bayesdp.programs import Bool, Database, Private, Real, laplace, program, require


@program
def f(obs: Database[Bool]) -> Private[Real]:
    require(obs.size * obs.size < 0)
    return laplace(sum(obs) / obs.size, epsilon=1, sensitivity=0)
