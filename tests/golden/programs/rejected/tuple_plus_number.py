# REJECT type: a tuple and a number are not added
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Vector]:
    found = ()
    for k in (1, 2):
        found = found + laplace(sum(obs), epsilon=k)
    return found
