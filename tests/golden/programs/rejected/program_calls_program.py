# REJECT name: a program is checked by itself, and called by none
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return g(obs)
