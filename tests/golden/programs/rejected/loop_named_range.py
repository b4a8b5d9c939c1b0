# REJECT name: a loop variable that hides a builtin
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    total = 0
    for range in (1, 2):
        total = total + range
    return laplace(sum(obs), epsilon=1) + total
