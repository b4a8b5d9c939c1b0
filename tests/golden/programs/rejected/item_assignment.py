# REJECT effect: changing an entry of a list
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Vector]:
    found = [0, 0]
    found[0] = laplace(sum(obs), epsilon=1)
    return found
