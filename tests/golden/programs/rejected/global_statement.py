# REJECT effect: changing a name outside the program
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


SEEN = 0


@program
def f(obs: Database[Bool]) -> Private[Int]:
    global SEEN
    SEEN = sum(obs)
    return laplace(sum(obs), epsilon=1)
