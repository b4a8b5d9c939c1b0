# REJECT module: a function that is neither program nor helper
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


def total(obs):
    return sum(obs)


@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(total(obs), epsilon=1)
