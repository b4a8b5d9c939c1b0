# REJECT effect: code from a text
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(eval("sum(obs)"), epsilon=1)
