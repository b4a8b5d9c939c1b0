# REJECT attribute: a method that changes a list
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Vector]:
    found = []
    found.append(laplace(sum(obs), epsilon=1))
    return found
