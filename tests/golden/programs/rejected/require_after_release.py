# REJECT private-control: a precondition on a released value
from bayesdp.programs import Bool, Database, Int, Private, laplace, program, require


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=1)
    require(noisy > 0)
    return noisy
