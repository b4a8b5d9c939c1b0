# REJECT static: a cost that depends on a released value
from bayesdp.programs import Bool, Database, Int, Private, clip, laplace, program


@program(epsilon=2)
def f(obs: Database[Bool]) -> Private[Int]:
    first = laplace(sum(obs), epsilon=1)
    return laplace(sum(obs), epsilon=clip(first / 100, 0.1, 1))
