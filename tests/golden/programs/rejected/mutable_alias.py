# REJECT effect: a list that changes under its other name
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Vector]:
    first = [laplace(sum(obs), epsilon=1)]
    second = first
    second += [laplace(sum(obs), epsilon=1)]
    return first
