# REJECT sensitivity: the same row used twice in one sum
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs) + sum(obs), epsilon=1, sensitivity=1)
