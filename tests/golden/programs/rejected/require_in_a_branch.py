# REJECT construct: a precondition in a branch
from bayesdp.programs import Bool, Database, Int, Private, Public, laplace, program, require


@program
def f(obs: Database[Bool]) -> Private[Int]:
    if obs.size > 10:
        require(obs.size < 5)
    return laplace(sum(obs), epsilon=1)
