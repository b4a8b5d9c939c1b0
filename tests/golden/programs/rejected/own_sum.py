# REJECT name: another meaning for a builtin
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


sum = 3


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum, epsilon=1)
