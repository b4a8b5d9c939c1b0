# REJECT nonlinear: the square of a private sum
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    return laplace(sum(obs) ** 2, epsilon=1)
