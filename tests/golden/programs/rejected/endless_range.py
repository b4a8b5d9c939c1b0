# REJECT size: a loop of a billion steps
from bayesdp.programs import Bool, Database, Private, Real, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Real]:
    total = 0
    for k in range(10**30):
        total = total + k
    return laplace(sum(obs), epsilon=1) + total
