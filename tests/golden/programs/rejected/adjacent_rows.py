# REJECT construct: each record is used twice: once as the next of its neighbour
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(a * b for a, b in zip(obs, obs)), epsilon=1)
