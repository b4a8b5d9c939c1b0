# ACCEPT (1, 0): noted, of two comparisons only one need hold.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    n = laplace(count(obs), epsilon=0.5)
    yes = laplace(sum(obs), epsilon=0.5)
    return yes / n if n > 0 or yes > 0 else 0
