# ACCEPT (1.5, 0): candidates that are divided by a released count, where it is above 0.
from bayesdp.programs import Bool, Database, Private, Real, count, exponential, laplace, linspace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    n = laplace(count(obs), epsilon=0.5)
    if n > 0:
        chosen = exponential(score=lambda c: -abs(c - sum(obs)), candidates=linspace(0, 1 + 1 / n, 11), epsilon=1)
    else:
        chosen = 0
    return chosen
