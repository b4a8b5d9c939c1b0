# REJECT effect: type(...) reaches Python's workings
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    kind = type(obs)
    return laplace(sum(obs), epsilon=1)
