# REJECT effect: writing private values to a file
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    out = open("leak.txt", "w")
    return laplace(sum(obs), epsilon=1)
