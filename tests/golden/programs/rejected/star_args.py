# REJECT construct: starred arguments
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    given = (sum(obs),)
    return laplace(*given, epsilon=1)
