# REJECT budget: a release that is not used costs all the same
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(epsilon=0.5)
def f(obs: Database[Bool]) -> Private[Int]:
    unused = laplace(sum(obs), epsilon=0.1)
    return laplace(sum(obs), epsilon=0.5)
