# REJECT division: a divisor that noise can make zero
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    noisy = laplace(sum(obs), epsilon=0.5)
    return laplace(sum(obs) / noisy, epsilon=0.5)
