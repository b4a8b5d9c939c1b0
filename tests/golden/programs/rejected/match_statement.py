# REJECT construct: a match on data
from bayesdp.programs import Bool, Database, Int, Private, laplace, program


@program
def f(obs: Database[Bool]) -> Private[Int]:
    match sum(obs):
        case 0:
            answer = 0
        case _:
            answer = 1
    return laplace(answer, epsilon=1)
