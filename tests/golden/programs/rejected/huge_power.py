# REJECT static: a power with more digits than the checker takes
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(sum(obs), epsilon=1) * 10**64 * (10**64) ** 64
