# REJECT name: a name that has a value on one side of a branch
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    noisy = laplace(sum(obs), epsilon=1)
    if noisy > 3:
        answer = noisy
    return answer
