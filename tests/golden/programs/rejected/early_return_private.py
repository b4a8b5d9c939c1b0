# REJECT private-control: the same on private data
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    if sum(obs) < 3:
        return 0
    return laplace(sum(obs), epsilon=1)
