# ACCEPT (1, 0): noted, the count may be 0 just where it is divided by.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    n = laplace(count(obs), epsilon=0.5)
    yes = laplace(sum(obs), epsilon=0.5)
    return yes / n if n >= 0 else 0
