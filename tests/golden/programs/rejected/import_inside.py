# REJECT import: an import inside a program
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    from os import system

    return laplace(sum(obs), epsilon=1)
