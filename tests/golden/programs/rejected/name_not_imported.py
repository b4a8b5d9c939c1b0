# REJECT name: a function that was not imported
from bayesdp.programs import Bool, Database, Int, Private, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1)
