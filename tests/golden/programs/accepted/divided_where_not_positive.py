# ACCEPT (1, 0): noted, where a count is not above 0.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    n = laplace(count(obs), epsilon=0.5)
    yes = laplace(sum(obs), epsilon=0.5)
    if n > 0:
        share = 0
    else:
        share = yes / n
    return share
