# REJECT size: an expression that doubles sixty times
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    x = sum(obs)
    for _ in range(60):
        x = x + x
    return laplace(x, epsilon=1)
