# REJECT construct: a value that goes nowhere
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    laplace(sum(obs), epsilon=1)
    return 0
