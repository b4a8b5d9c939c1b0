# ACCEPT (2, 0): two thousand releases of 0.001 each, exactly.
from bayesdp.programs import Bool, Database, Private, Vector, laplace, program


@program(epsilon=2)
def many(obs: Database[Bool]) -> Private[Vector]:
    return tuple(laplace(sum(obs), epsilon=0.001) for _ in range(2000))
