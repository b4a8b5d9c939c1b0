# REJECT name: __import__ inside a program
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    os = __import__("os")
    return laplace(sum(obs), epsilon=1)
