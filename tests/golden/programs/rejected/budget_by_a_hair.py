# REJECT budget: a third, rounded down, is declared
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program(epsilon=0.3333333333)
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(sum(obs), epsilon=1 / 3)
