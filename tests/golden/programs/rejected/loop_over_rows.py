# REJECT private-control: a loop over records
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    total = 0
    for x in obs:
        total = total + x
    return laplace(total, epsilon=1)
