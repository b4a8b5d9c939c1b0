# REJECT signature: a program that says it returns a plain number
from bayesdp.programs import Bool, Database, Int, laplace, program


@program
def f(obs: Database[Bool]) -> Int:
    return laplace(sum(obs), epsilon=1)
