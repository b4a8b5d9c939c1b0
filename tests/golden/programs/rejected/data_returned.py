# REJECT private-output: the data themselves
from bayesdp.programs import Bool, Database, Private, Vector, program


@program
def f(obs: Database[Bool]) -> Private[Vector]:
    return tuple(x for x in obs)
