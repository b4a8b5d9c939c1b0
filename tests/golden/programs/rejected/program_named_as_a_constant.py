# REJECT name: one name for a constant and a program
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


f = 1


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
