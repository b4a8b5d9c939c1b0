# ACCEPT (1, 0): noted, a count of at most 5 may be 0.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    n = laplace(count(obs), epsilon=0.5)
    yes = laplace(sum(obs), epsilon=0.5)
    if n <= 5:
        share = yes / n
    else:
        share = 0
    return share
