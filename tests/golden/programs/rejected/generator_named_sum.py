# REJECT name: a generator's variable that hides a builtin
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(sum for sum in obs), epsilon=1)
