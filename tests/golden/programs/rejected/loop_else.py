# REJECT construct: a loop with an else
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    total = 0
    for k in (1, 2):
        total = total + k
    else:
        total = 0
    return laplace(sum(obs), epsilon=1) + total
