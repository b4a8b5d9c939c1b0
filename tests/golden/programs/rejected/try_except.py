# REJECT exception: an exception as a channel
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    try:
        found = 1 / sum(obs)
    except ZeroDivisionError:
        found = 0
    return laplace(found, epsilon=1)
