# REJECT division: a solver may choose what x / 0 is: the assertion is proved of nothing
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(sum(obs) / (obs.size - 3), epsilon=1, sensitivity=1 / (obs.size - 3))
