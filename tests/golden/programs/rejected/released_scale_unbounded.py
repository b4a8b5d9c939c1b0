# REJECT bounds: a private value scaled by a released one without bounds
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    factor = laplace(sum(obs), epsilon=1)
    return laplace(factor * sum(obs), epsilon=1)
