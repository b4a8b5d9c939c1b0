# REJECT type: a program that returns nothing at all
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[tuple[Int, ...]]:
    found = ()
    noisy = laplace(sum(obs), epsilon=1)
    return found
