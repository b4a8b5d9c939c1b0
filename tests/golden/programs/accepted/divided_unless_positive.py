# ACCEPT (1, 0): noted, what a branch knows is not known after it.
from bayesdp.programs import Bool, Database, Private, Real, count, laplace, program


@program
def f(obs: Database[Bool]) -> Private[tuple[Real, Real]]:
    n = laplace(count(obs), epsilon=0.5)
    yes = laplace(sum(obs), epsilon=0.5)
    if n > 0:
        share = yes / n
    else:
        share = 0
    return share, yes / n
