# REJECT precondition: a precondition that nothing satisfies would prove anything
from bayesdp.programs import Bool, Database, Private, Real, laplace, program, require


@program
def f(obs: Database[Bool]) -> Private[Real]:
    require(obs.size > 100 and obs.size < 50)
    return laplace(sum(obs) / obs.size, epsilon=1, sensitivity=0)
