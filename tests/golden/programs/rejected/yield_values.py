# REJECT construct: a program that returns several times
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    yield laplace(sum(obs), epsilon=1)
